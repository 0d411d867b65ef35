exports.helper = helper;
function helper(x) { return x; }

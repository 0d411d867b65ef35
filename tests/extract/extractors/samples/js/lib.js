const { helper } = require("./helper");
const path = require("path");
function outer(callback) {
  function inner() { return helper(1); }
  callback();
  return inner() || path.join("a");
}
class Old { method() { return outer(() => this.other()); } other() {} }
module.exports = { outer, Old };

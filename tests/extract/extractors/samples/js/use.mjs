import { outer } from "./lib.js";
const lib = require("./lib");
outer(handler);
new lib.Old().method();
function handler() {}

// "debug" for @secretlint: it would write to the terminal where a variable of the environment says so.
module.exports = () => () => {};

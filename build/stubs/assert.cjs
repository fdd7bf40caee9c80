function assert(condition, message) {
  if (!condition) throw new Error(message ?? "Assertion failed");
}

assert.strictEqual = (actual, expected, message) => assert(Object.is(actual, expected), message);

module.exports = assert;

module.exports = { Buffer };

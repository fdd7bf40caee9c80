// A package that is never used: dbus-next falls back when it cannot be had.
module.exports = {};

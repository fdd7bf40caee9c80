// A package that is never used: dbus-next has a fallback when it is unavailable.
module.exports = {};

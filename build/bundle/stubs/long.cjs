// The part of `long` that dbus-next uses: a 64-bit integer as two halves, from and to decimal text.
class Long {
  constructor(low, high, isUnsigned) {
    this.low = low | 0;
    this.high = high | 0;
    this.isUnsigned = isUnsigned;
  }

  static fromString(text) {
    const value = BigInt.asUintN(64, BigInt(text));
    return new Long(Number(value & 0xffffffffn), Number(value >> 32n), true);
  }

  toString() {
    const value = (BigInt(this.high >>> 0) << 32n) | BigInt(this.low >>> 0);
    return String(this.isUnsigned ? value : BigInt.asIntN(64, value));
  }
}

module.exports = Long;

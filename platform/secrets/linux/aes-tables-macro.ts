// Runs in the bundler, for aes-cbc.ts: what AES looks up, as base64, because making it takes a process longer than to decrypt
// what it reads. Known to everybody; the names of the sections are those of FIPS 197.

/** The S-box (5.1.1), its inverse (5.3.2), and for each byte the column that both inverse steps make of it, as a word. */
export function makeTables(): string {
  const [substitute, restore] = substitutionBoxes();
  const columns = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    const restored = restore[byte]!;
    columns[byte] =
      (times(restored, 14) << 24) |
      (times(restored, 9) << 16) |
      (times(restored, 13) << 8) |
      times(restored, 11);
  }
  const words = new Uint8Array(columns.buffer);
  return Buffer.concat([substitute, restore, words]).toString("base64");
}

/** Of the field of 256 elements (4.2). */
function times(a: number, factor: number): number {
  let product = 0;
  for (let power = a, left = factor; left > 0; left >>= 1, power = double(power))
    if (left & 1) product ^= power;
  return product;
}

function double(a: number): number {
  return ((a << 1) ^ (a & 0x80 ? 0x11b : 0)) & 0xff;
}

/** The multiplicative inverse, found by powers of 3, then an affine map. */
function substitutionBoxes(): [Uint8Array, Uint8Array] {
  const substitute = new Uint8Array(256);
  const restore = new Uint8Array(256);
  let power = 1; // of 3
  let inverse = 1; // of that power
  do {
    power ^= double(power);
    for (const shift of [1, 2, 4]) inverse ^= (inverse << shift) & 0xff;
    if (inverse & 0x80) inverse ^= 0x09;
    const mapped =
      inverse ^ rotate(inverse, 1) ^ rotate(inverse, 2) ^ rotate(inverse, 3) ^ rotate(inverse, 4) ^ 0x63;
    substitute[power] = mapped;
  } while (power !== 1);
  substitute[0] = 0x63;
  for (let byte = 0; byte < 256; byte++) restore[substitute[byte]!] = byte;
  return [substitute, restore];
}

function rotate(byte: number, by: number): number {
  return ((byte << by) | (byte >> (8 - by))) & 0xff;
}

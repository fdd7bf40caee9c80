// AES-128-CBC with PKCS #7 padding for the values of an encrypted session.
//
// node:crypto does it, but takes 2 to 3 ms to load, a fifth of what a process that reads one credential takes.
// So the first few short values are decrypted by the code below (FIPS 197, section 5.3), in a tenth of that.
// Web Crypto is no third way: it costs a thread and leaves copies of values in memory that nobody zeroes.

type NodeCrypto = typeof import("node:crypto");

const ALGORITHM = "aes-128-cbc";
const BLOCK = 16;
const ROUNDS = 10;
/** Values to decrypt before node:crypto is worth its loading, and the longest of them in bytes. */
const FEW = 8;
const SHORT = 1024;

let nodeCrypto: NodeCrypto | undefined;
let decrypted = 0;
/** Known to everybody. */
let boxes: [Uint8Array, Uint8Array] | undefined;

export async function encrypt(key: Uint8Array, iv: Uint8Array, value: Uint8Array): Promise<Uint8Array> {
  nodeCrypto ??= await import("node:crypto");
  const cipher = nodeCrypto.createCipheriv(ALGORITHM, key, iv);
  return Buffer.concat([cipher.update(value), cipher.final()]);
}

/** The value in a buffer of its own. Rejects when the padding does not fit, as with another key. */
export async function decrypt(key: Uint8Array, iv: Uint8Array, content: Uint8Array): Promise<Uint8Array> {
  if (!nodeCrypto && content.length <= SHORT && ++decrypted <= FEW) return decryptShort(key, iv, content);
  nodeCrypto ??= await import("node:crypto");
  const decipher = nodeCrypto.createDecipheriv(ALGORITHM, key, iv);
  const start = decipher.update(content);
  const end = decipher.final();
  const value = new Uint8Array(start.length + end.length);
  value.set(start);
  value.set(end, start.length);
  start.fill(0);
  end.fill(0);
  return value;
}

/** As `decrypt`, at once. Zeroes what it derives from the key and the value. */
export function decryptShort(key: Uint8Array, iv: Uint8Array, content: Uint8Array): Uint8Array {
  if (iv.length !== BLOCK || content.length === 0 || content.length % BLOCK !== 0)
    throw new Error("wrong length");
  const [substitute, restore] = (boxes ??= substitutionBoxes());
  const schedule = expandKey(key, substitute);
  const padded = new Uint8Array(content.length);
  let previous = iv;
  for (let at = 0; at < content.length; at += BLOCK) {
    const block = content.subarray(at, at + BLOCK);
    const plain = padded.subarray(at, at + BLOCK);
    plain.set(block);
    decryptBlock(plain, schedule, restore);
    for (let index = 0; index < BLOCK; index++) plain[index]! ^= previous[index]!;
    previous = block;
  }
  const padding = padded.at(-1)!;
  const isPadded =
    padding >= 1 && padding <= BLOCK && padded.subarray(-padding).every((byte) => byte === padding);
  const value = isPadded ? padded.slice(0, -padding) : undefined;
  padded.fill(0);
  schedule.fill(0);
  if (!value) throw new Error("wrong padding");
  return value;
}

/** InvCipher of FIPS 197, in place; a state's column is four bytes in a row. */
function decryptBlock(state: Uint8Array, schedule: Uint8Array, restore: Uint8Array): void {
  const moved = new Uint8Array(BLOCK);
  addRoundKey(state, schedule, ROUNDS);
  for (let round = ROUNDS - 1; round >= 0; round--) {
    for (let index = 0; index < BLOCK; index++) {
      const row = index % 4;
      moved[(index + 4 * row) % BLOCK] = restore[state[index]!]!;
    }
    state.set(moved);
    addRoundKey(state, schedule, round);
    if (round > 0) for (let column = 0; column < BLOCK; column += 4) unmixColumn(state, column);
  }
  moved.fill(0);
}

function addRoundKey(state: Uint8Array, schedule: Uint8Array, round: number): void {
  for (let index = 0; index < BLOCK; index++) state[index]! ^= schedule[round * BLOCK + index]!;
}

/** Multiplies a column by the inverse matrix, whose first row is 14 11 13 9 and the others that row, rotated. */
function unmixColumn(state: Uint8Array, at: number): void {
  const a = state[at]!;
  const b = state[at + 1]!;
  const c = state[at + 2]!;
  const d = state[at + 3]!;
  // Every factor has 9, the halves of a column share 12 - 8, and 2 distinguishes within a half.
  const all = double(double(double(a ^ b ^ c ^ d))) ^ a ^ b ^ c ^ d;
  const even = all ^ double(double(a ^ c));
  const odd = all ^ double(double(b ^ d));
  state[at] = a ^ even ^ double(a ^ b);
  state[at + 1] = b ^ odd ^ double(b ^ c);
  state[at + 2] = c ^ even ^ double(c ^ d);
  state[at + 3] = d ^ odd ^ double(d ^ a);
}

/** Times 2 in the field of 256 elements of section 4.2. */
function double(a: number): number {
  return ((a << 1) ^ (a & 0x80 ? 0x11b : 0)) & 0xff;
}

/** The S-box and its inverse, section 5.1.1: the multiplicative inverse, found by powers of 3, then an affine map. */
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

/** KeyExpansion, section 5.2, for keys of 128 bits. */
function expandKey(key: Uint8Array, substitute: Uint8Array): Uint8Array {
  const schedule = new Uint8Array(BLOCK * (ROUNDS + 1));
  schedule.set(key);
  let constant = 1;
  for (let at = BLOCK; at < schedule.length; at += 4) {
    const isFirst = at % BLOCK === 0;
    for (let index = 0; index < 4; index++) {
      let byte = isFirst ? substitute[schedule[at - 4 + ((index + 1) % 4)]!]! : schedule[at - 4 + index]!;
      if (isFirst && index === 0) byte ^= constant;
      schedule[at + index] = schedule[at - BLOCK + index]! ^ byte;
    }
    if (isFirst) constant = double(constant);
  }
  return schedule;
}

// AES-128-CBC with PKCS #7 padding for the values of an encrypted session.
//
// node:crypto does it, but takes 2 to 3 ms to load, a fifth of what a process that reads one credential takes.
// So the first few short values are decrypted by the code below (FIPS 197, section 5.3.5), in a tenth of that.
// Web Crypto is no third way: it costs a thread and leaves copies of values in memory that nobody zeroes.
//
// Surprising: it is a few loops, without a function in them. What is called some thirty times the engine compiles, in other
// threads that have to be woken, and that took longer than to decrypt five values.
import { makeTables } from "./aes-tables-macro.ts" with { type: "macro" };

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
interface AesTables {
  readonly substitute: Uint8Array;
  readonly restore: Uint8Array;
  /** What both inverse steps make of a byte: a column, whose rows turn with the row that the byte comes from. */
  readonly columns: readonly [Int32Array, Int32Array, Int32Array, Int32Array];
}

const MADE = makeTables();
let tables: AesTables | undefined;

function openTables(): AesTables {
  const { buffer } = new Uint8Array(Buffer.from(MADE, "base64"));
  const first = new Int32Array(buffer, 512);
  const columns = [first, new Int32Array(256), new Int32Array(256), new Int32Array(256)] as const;
  const [, second, third, fourth] = columns;
  for (let byte = 0; byte < 256; byte++) {
    const column = first[byte]!;
    second[byte] = (column >>> 8) | (column << 24);
    third[byte] = (column >>> 16) | (column << 16);
    fourth[byte] = (column >>> 24) | (column << 8);
  }
  return { substitute: new Uint8Array(buffer, 0, 256), restore: new Uint8Array(buffer, 256, 256), columns };
}

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
  tables ??= openTables();
  const schedule = expandKey(key, tables);
  const padded = new Uint8Array(content.length);
  decryptBlocks(content, schedule, padded, tables);
  for (let at = 0; at < BLOCK; at++) padded[at]! ^= iv[at]!;
  for (let at = BLOCK; at < padded.length; at++) padded[at]! ^= content[at - BLOCK]!;
  const padding = padded.at(-1)!;
  let isPadded = padding >= 1 && padding <= BLOCK;
  for (let left = padding; isPadded && left > 0; left--) isPadded = padded[padded.length - left] === padding;
  const value = isPadded ? padded.slice(0, -padding) : undefined;
  padded.fill(0);
  schedule.fill(0);
  if (!value) throw new Error("wrong padding");
  return value;
}

/** EqInvCipher of 5.3.5 for each block. A word is a column of the state, with its first row in the highest byte. */
function decryptBlocks(
  content: Uint8Array,
  schedule: Int32Array,
  plain: Uint8Array,
  { restore, columns }: AesTables,
): void {
  const [first, second, third, fourth] = columns;
  const from = new DataView(content.buffer, content.byteOffset, content.length);
  const to = new DataView(plain.buffer);
  for (let at = 0; at < content.length; at += BLOCK) {
    let a = from.getInt32(at) ^ schedule[4 * ROUNDS]!;
    let b = from.getInt32(at + 4) ^ schedule[4 * ROUNDS + 1]!;
    let c = from.getInt32(at + 8) ^ schedule[4 * ROUNDS + 2]!;
    let d = from.getInt32(at + 12) ^ schedule[4 * ROUNDS + 3]!;
    for (let word = 4 * (ROUNDS - 1); word > 0; word -= 4) {
      // Row by row from the columns that InvShiftRows takes them from.
      const e = first[a >>> 24]! ^ second[(d >> 16) & 255]! ^ third[(c >> 8) & 255]! ^ fourth[b & 255]!;
      const f = first[b >>> 24]! ^ second[(a >> 16) & 255]! ^ third[(d >> 8) & 255]! ^ fourth[c & 255]!;
      const g = first[c >>> 24]! ^ second[(b >> 16) & 255]! ^ third[(a >> 8) & 255]! ^ fourth[d & 255]!;
      const h = first[d >>> 24]! ^ second[(c >> 16) & 255]! ^ third[(b >> 8) & 255]! ^ fourth[a & 255]!;
      a = e ^ schedule[word]!;
      b = f ^ schedule[word + 1]!;
      c = g ^ schedule[word + 2]!;
      d = h ^ schedule[word + 3]!;
    }
    for (let column = 0; column < 4; column++) {
      const highest = restore[a >>> 24]! << 24;
      const state = highest | (restore[(d >> 16) & 255]! << 16) | (restore[(c >> 8) & 255]! << 8);
      to.setInt32(at + 4 * column, (state | restore[b & 255]!) ^ schedule[column]!);
      [a, b, c, d] = [b, c, d, a];
    }
  }
}

/** KeyExpansion (5.2) for keys of 128 bits, its rounds in the middle as EqInvCipher wants them. */
function expandKey(key: Uint8Array, { substitute, columns }: AesTables): Int32Array {
  const schedule = new Int32Array(new Uint8Array(BLOCK * (ROUNDS + 1)).buffer);
  const bytes = new DataView(key.buffer, key.byteOffset, BLOCK);
  for (let word = 0; word < 4; word++) schedule[word] = bytes.getInt32(4 * word);
  let constant = 1;
  for (let word = 4; word < schedule.length; word += 4) {
    const last = schedule[word - 1]!;
    const high = (substitute[(last >> 16) & 255]! ^ constant) << 24;
    const middle = (substitute[(last >> 8) & 255]! << 16) | (substitute[last & 255]! << 8);
    schedule[word] = schedule[word - 4]! ^ (high | middle | substitute[last >>> 24]!);
    schedule[word + 1] = schedule[word - 3]! ^ schedule[word]!;
    schedule[word + 2] = schedule[word - 2]! ^ schedule[word + 1]!;
    schedule[word + 3] = schedule[word - 1]! ^ schedule[word + 2]!;
    constant = (constant << 1) ^ (constant & 0x80 ? 0x11b : 0);
  }
  const [first, second, third, fourth] = columns;
  for (let word = 4; word < 4 * ROUNDS; word++) {
    const column = schedule[word]!;
    // The table restores first, which the S-box makes undone.
    const half = first[substitute[column >>> 24]!]! ^ second[substitute[(column >> 16) & 255]!]!;
    schedule[word] = half ^ third[substitute[(column >> 8) & 255]!]! ^ fourth[substitute[column & 255]!]!;
  }
  return schedule;
}

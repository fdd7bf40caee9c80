// Decodes received D-Bus messages ("Message Format" and "Marshaling" of the specification). The sender may be hostile.
//
// Invariants:
// - Any violation of the format throws a MalformedMessage. The decoder guesses no value, reads no byte past the end, and leaves
//   no byte unread.
// - Work and memory are bounded by the message's size and by MAX_VALUES.
//
// Non-obvious:
// - dbus-next's decoder is not used: it returns "" and undefined past the end, loops on an array of empty structures, and takes 2
//   ms to load.
// - Usual headers are decoded by one loop, others by the general decoder: the engine would compile that before the first secret
//   is read.

export class MalformedMessage extends Error {}

export const METHOD_RETURN = 2;
export const ERROR = 3;
export const SIGNAL = 4;

/** Bytes before the header's fields. */
export const FIXED_SIZE = 16;
/** Maximum message size in bytes, 16 MiB: enough for a keyring of a hundred thousand items. */
export const MAX_MESSAGE = 2 ** 24;
/** The format's own limit. */
const MAX_SENT = 2 ** 27;
/** Maximum size of the header's fields in bytes; usual are a few hundred. */
const MAX_FIELDS = 2 ** 16;
/** Nesting of arrays, structures and variants, as in the specification. */
const MAX_DEPTH = 64;
/** Values in one message: bounds the memory of a message with many small values. */
const MAX_VALUES = 2 ** 19;
const LITTLE_ENDIAN = 108; // "l"
const BIG_ENDIAN = 66; // "B"
const VERSION = 1;

export interface DBusHeader {
  readonly type: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly errorName?: string;
  readonly replySerial?: number;
  readonly sender?: string;
  readonly signature: string;
  readonly bodyAt: number;
}

/** A variant: a value with its type. */
export class TypedValue {
  readonly signature: string;
  readonly value: unknown;

  constructor(signature: string, value: unknown) {
    this.signature = signature;
    this.value = value;
  }
}

export interface MessageSize {
  readonly header: number;
  readonly whole: number;
}

/** Returns the sizes of the message and its header; `bytes` contains at least the fixed part. */
export function measureMessage(bytes: Buffer): MessageSize {
  if (bytes[0] !== LITTLE_ENDIAN && bytes[0] !== BIG_ENDIAN) throw new MalformedMessage("no byte order");
  if (bytes[3] !== VERSION) throw new MalformedMessage(`version ${bytes[3]}`);
  const isLittle = bytes[0] === LITTLE_ENDIAN;
  const body = isLittle ? bytes.readUInt32LE(4) : bytes.readUInt32BE(4);
  const fields = isLittle ? bytes.readUInt32LE(12) : bytes.readUInt32BE(12);
  if (fields > MAX_FIELDS) throw new MalformedMessage(`a header of ${fields} bytes`);
  const header = FIXED_SIZE + Math.ceil(fields / 8) * 8;
  if (header + body > MAX_SENT) throw new MalformedMessage(`a message of ${header + body} bytes`);
  return { header, whole: header + body };
}

/** The used header fields with their required types. */
const FIELDS: Readonly<Record<number, readonly [keyof DBusHeader, string]>> = {
  1: ["path", "o"],
  2: ["interface", "s"],
  3: ["member", "s"],
  4: ["errorName", "s"],
  5: ["replySerial", "u"],
  7: ["sender", "s"],
  8: ["signature", "g"],
};

const REQUIRED: Readonly<Record<number, readonly (keyof DBusHeader)[]>> = {
  [METHOD_RETURN]: ["replySerial"],
  [ERROR]: ["replySerial", "errorName"],
  [SIGNAL]: ["path", "interface", "member"],
};

/** Decodes the header; `bytes` contains at least the header. */
export function readHeader(bytes: Buffer, size = measureMessage(bytes)): DBusHeader {
  const header = readPlainHeader(bytes, size.header) ?? readAnyHeader(bytes, size.header);
  for (const name of REQUIRED[bytes[1]!] ?? []) if (!header[name]) throw new MalformedMessage(`no ${name}`);
  return header as unknown as DBusHeader;
}

const LETTER_G = 0x67;
const LETTER_O = 0x6f;
const LETTER_S = 0x73;
const LETTER_U = 0x75;
const IS_PLAIN = /^[ -~]*$/;

/** As `readAnyHeader`; returns undefined for an unusual header. */
export function readPlainHeader(bytes: Buffer, bodyAt: number): Record<string, unknown> | undefined {
  if (bytes[0] !== LITTLE_ENDIAN || bytes.length < bodyAt) return undefined;
  const header: Record<string, unknown> = { type: bytes[1]!, signature: "", bodyAt };
  const end = FIXED_SIZE + (bytes[12]! | (bytes[13]! << 8)); // at most MAX_FIELDS, checked before
  for (let at = FIXED_SIZE; at < end;) {
    const letter = bytes[at + 2]!;
    if (bytes[at + 1] !== 1 || bytes[at + 3] !== 0) return undefined;
    const [name, type] = FIELDS[bytes[at]!] ?? [];
    if (name && type!.charCodeAt(0) !== letter) return undefined;
    at += 4;
    const number = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    let value: unknown = number >>> 0;
    if (letter === LETTER_U) at += 4;
    else {
      const isSignature = letter === LETTER_G;
      if (!isSignature && letter !== LETTER_O && letter !== LETTER_S) return undefined;
      const start = isSignature ? at + 1 : at + 4;
      const stop = start + (isSignature ? number & 255 : number);
      if (stop < start || stop >= end || bytes[stop] !== 0) return undefined;
      const text = bytes.toString("latin1", start, stop);
      if (!IS_PLAIN.test(text) || (letter === LETTER_O && !IS_PATH.test(text))) return undefined;
      value = text;
      at = stop + 1;
    }
    if (name) header[name] = value;
    const isLast = at === end;
    for (; at % 8 !== 0; at++) if (bytes[at] !== 0) return undefined;
    if (at >= end && !isLast) return undefined;
  }
  return header;
}

/** Does not check that required fields are present. */
export function readAnyHeader(bytes: Buffer, bodyAt: number): Record<string, unknown> {
  const reader = new DBusDecoder(bytes, FIXED_SIZE - 4, bodyAt);
  const header: Record<string, unknown> = { type: bytes[1]!, signature: "", bodyAt };
  for (const [code, { signature, value }] of reader.read("a(yv)")[0] as [number, TypedValue][]) {
    const [name, type] = FIELDS[code] ?? [];
    if (!name) continue;
    if (signature !== type) throw new MalformedMessage(`${name} of type ${signature}`);
    header[name] = value;
  }
  reader.align(8);
  return header;
}

/**
 * Decodes the body: numbers, bigints for 64 bits, booleans, strings, arrays (also for structures), Maps for dictionaries, TypedValues
 * for variants. Byte arrays are views of `bytes`.
 */
export function readBody(bytes: Buffer, { signature, bodyAt }: DBusHeader): unknown[] {
  const reader = new DBusDecoder(bytes, bodyAt, bytes.length);
  const body = reader.read(signature);
  if (reader.at !== bytes.length) throw new MalformedMessage("bytes that belong to nothing");
  return body;
}

interface Type {
  readonly code: string;
  readonly inner: readonly Type[];
}

/** Alignment in bytes by type code. */
const ALIGNMENT: Readonly<Record<string, number>> = {
  ...{ y: 1, b: 4, n: 2, q: 2, i: 4, u: 4, x: 8, t: 8, d: 8 },
  ...{ s: 4, o: 4, g: 1, v: 1, a: 4, "(": 8, "{": 8 },
};
const BASIC = "ybnqiuxtdsog";

/** Returns the types of a signature. Rejects file descriptors, which cannot be received. */
function parseSignature(signature: string): Type[] {
  let at = 0;
  const parseType = (depth: number, isElement = false): Type => {
    const code = signature[at++] ?? "";
    const inner: Type[] = [];
    if (depth > MAX_DEPTH) throw new MalformedMessage("a signature that is too deep");
    if (code === "a") inner.push(parseType(depth + 1, true));
    else if (code === "(") {
      while (signature[at] !== ")") inner.push(parseType(depth + 1));
      at += 1;
      if (inner.length === 0) throw new MalformedMessage("an empty structure");
    } else if (code === "{" && isElement) {
      const [key, value] = [parseType(depth + 1), parseType(depth + 1)];
      if (!BASIC.includes(key.code) || signature[at++] !== "}")
        throw new MalformedMessage("a wrong dictionary");
      inner.push(key, value);
    } else if (code === "" || !(code === "v" || BASIC.includes(code)))
      throw new MalformedMessage("a wrong type");
    return { code, inner };
  };
  const types: Type[] = [];
  while (at < signature.length) types.push(parseType(0));
  return types;
}

const IS_PATH = /^(?:\/|(?:\/[A-Za-z0-9_]+)+)$/;
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

class DBusDecoder {
  at: number;
  readonly #bytes: Buffer;
  readonly #view: DataView;
  readonly #end: number;
  readonly #isLittle: boolean;
  #left = MAX_VALUES;

  constructor(bytes: Buffer, at: number, end: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = at;
    this.#end = Math.min(end, bytes.length);
    this.#isLittle = bytes[0] === LITTLE_ENDIAN;
  }

  read(signature: string, depth = 0): unknown[] {
    return parseSignature(signature).map((type) => this.#readValue(type, depth));
  }

  align(size: number): void {
    for (const end = Math.ceil(this.at / size) * size; this.at < end;)
      if (this.#bytes[this.#take(1)] !== 0) throw new MalformedMessage("padding that is not zero");
  }

  /** Returns the current offset and advances by `size`. */
  #take(size: number): number {
    if (size > this.#end - this.at) throw new MalformedMessage("an end before its time");
    this.at += size;
    return this.at - size;
  }

  #readValue(type: Type, depth: number): unknown {
    if (--this.#left < 0) throw new MalformedMessage(`more than ${MAX_VALUES} values`);
    if (depth > MAX_DEPTH) throw new MalformedMessage("values that are nested too deep");
    this.align(ALIGNMENT[type.code]!);
    const [view, isLittle] = [this.#view, this.#isLittle];
    switch (type.code) {
      case "y":
        return view.getUint8(this.#take(1));
      case "n":
        return view.getInt16(this.#take(2), isLittle);
      case "q":
        return view.getUint16(this.#take(2), isLittle);
      case "i":
        return view.getInt32(this.#take(4), isLittle);
      case "u":
        return this.#readLength();
      case "b":
        return this.#readBoolean();
      case "x":
        return view.getBigInt64(this.#take(8), isLittle);
      case "t":
        return view.getBigUint64(this.#take(8), isLittle);
      case "d":
        return view.getFloat64(this.#take(8), isLittle);
      case "g":
        return this.#readText(view.getUint8(this.#take(1)));
      case "s":
        return this.#readText(this.#readLength());
      case "o": {
        const path = this.#readText(this.#readLength());
        if (!IS_PATH.test(path)) throw new MalformedMessage("a path that is none");
        return path;
      }
      case "v": {
        const signature = this.#readText(view.getUint8(this.#take(1)));
        const values = this.read(signature, depth + 1);
        if (values.length !== 1) throw new MalformedMessage("a variant that is not one value");
        return new TypedValue(signature, values[0]);
      }
      case "a":
        return this.#readArray(type.inner[0]!, depth + 1);
      default:
        return type.inner.map((inner) => this.#readValue(inner, depth + 1));
    }
  }

  #readLength(): number {
    return this.#view.getUint32(this.#take(4), this.#isLittle);
  }

  #readBoolean(): boolean {
    const value = this.#readLength();
    if (value > 1) throw new MalformedMessage("a boolean that is neither");
    return value === 1;
  }

  #readText(length: number): string {
    const start = this.#take(length + 1);
    const bytes = this.#bytes.subarray(start, start + length);
    if (this.#bytes[start + length] !== 0 || bytes.includes(0))
      throw new MalformedMessage("a text without its end");
    try {
      return text.decode(bytes);
    } catch {
      throw new MalformedMessage("a text that is not UTF-8");
    }
  }

  #readArray(type: Type, depth: number): unknown {
    const size = this.#readLength();
    this.align(ALIGNMENT[type.code]!);
    const end = this.at + size;
    if (type.code === "y") return this.#bytes.subarray(this.#take(size), end);
    if (end > this.#end) throw new MalformedMessage("an end before its time");
    const values: unknown[] = [];
    while (this.at < end) values.push(this.#readValue(type, depth));
    if (this.at !== end) throw new MalformedMessage("an array that ends within a value");
    return type.code === "{" ? new Map(values as [unknown, unknown][]) : values;
  }
}

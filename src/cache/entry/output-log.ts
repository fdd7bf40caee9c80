// Records the output of a script as chunks in order. A chunk has a step, a stream and its bytes.

export interface OutputChunk {
  readonly step: number;
  readonly isError: boolean;
  readonly bytes: Uint8Array;
}

const HEADER = 6;
/** Bytes. A larger output prevents caching. */
const MAX_LOG_SIZE = 64 << 20;

export class OutputLog {
  readonly #chunks: OutputChunk[] = [];
  #size = 0;

  add(step: number, isError: boolean, bytes: Uint8Array): void {
    this.#size += bytes.length + HEADER;
    if (this.#size <= MAX_LOG_SIZE) this.#chunks.push({ step, isError, bytes: bytes.slice() });
  }

  get isTooLarge(): boolean {
    return this.#size > MAX_LOG_SIZE;
  }

  /** Returns the output of both streams. */
  text(): string {
    return this.bytes().toString();
  }

  get chunks(): readonly OutputChunk[] {
    return this.#chunks;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks.map(({ bytes }) => bytes));
  }

  toBytes(): Uint8Array {
    const all = new Uint8Array(this.#size);
    const view = new DataView(all.buffer);
    let at = 0;
    for (const { step, isError, bytes } of this.#chunks) {
      view.setUint8(at, step);
      view.setUint8(at + 1, isError ? 1 : 0);
      view.setUint32(at + 2, bytes.length, true);
      all.set(bytes, at + HEADER);
      at += HEADER + bytes.length;
    }
    return all;
  }
}

const COLOR = /\x1b\[[\d;:]*m/g;
const CUT_COLOR = /\x1b(?:\[[\d;:]{0,64})?$/;

/** Removes colours. A sequence may be cut by the end of a chunk; its stream has the rest. */
export function withoutColors(chunks: readonly OutputChunk[]): OutputChunk[] {
  const cut = new Map<string, string>();
  const streamOf = ({ step, isError }: OutputChunk) => `${step} ${isError}`;
  const ends = new Map(chunks.map((chunk, index) => [streamOf(chunk), index]));
  return chunks.map((chunk, index) => {
    const stream = streamOf(chunk);
    const bytes = Buffer.from(chunk.bytes).toString("latin1");
    const text = ((cut.get(stream) ?? "") + bytes).replaceAll(COLOR, "");
    const rest = ends.get(stream) === index ? "" : (CUT_COLOR.exec(text)?.[0] ?? "");
    cut.set(stream, rest);
    if (text === bytes && rest === "") return chunk;
    return { ...chunk, bytes: Buffer.from(text.slice(0, text.length - rest.length), "latin1") };
  });
}

/**
 * Replaces a path where it begins and ends, as a script prints it: `in /home/me/shop`, `file:///home/me/shop/a`. Not where a
 * chunk ends in it, and not in `/mnt/home/me/shop` or `/home/me/shop-2`.
 */
export function replacePath(chunks: readonly OutputChunk[], from: string, to: string): OutputChunk[] {
  const [path, other] = [from, to].map((text) => Buffer.from(text).toString("latin1"));
  const begin = String.raw`(?:(?<![\w.@+/\x80-\xff-])|(?<=:\/\/)|(?<=\x1b\[[\d;:]*m))`;
  const pattern = new RegExp(`${begin}${RegExp.escape(path!)}(?![\\w.\\x80-\\xff-])`, "g");
  return chunks.map((chunk) => {
    const { buffer, byteOffset, byteLength } = chunk.bytes;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    if (from === "" || !bytes.includes(from)) return chunk;
    const text = bytes.toString("latin1").replaceAll(pattern, () => other!);
    return { ...chunk, bytes: Buffer.from(text, "latin1") };
  });
}

export function parseOutputLog(all: Uint8Array): OutputChunk[] {
  const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
  const chunks: OutputChunk[] = [];
  for (let at = 0; at + HEADER <= all.length;) {
    const length = view.getUint32(at + 2, true);
    const bytes = all.subarray(at + HEADER, at + HEADER + length);
    chunks.push({ step: view.getUint8(at), isError: view.getUint8(at + 1) === 1, bytes });
    at += HEADER + length;
  }
  return chunks;
}

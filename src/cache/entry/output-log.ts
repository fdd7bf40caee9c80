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

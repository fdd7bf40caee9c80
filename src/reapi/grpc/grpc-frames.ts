// Encodes and decodes gRPC message frames: a compression flag, a length and the message.
//
// Invariants: pure. The length is checked against `maxSize` before the message is buffered. Compressed messages are
// rejected, because rt does not announce compression.
import { Code } from "./grpc-status.ts";
import { RemoteError } from "./retry.ts";

const HEAD = 5;

export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEAD + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, HEAD);
  return framed;
}

export class FrameReader {
  readonly #maxSize: number;
  /** Received bytes that have not been decoded. */
  #chunks: Buffer[] = [];
  #size = 0;

  /** @param maxSize bytes of one message */
  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /** Whether a message has been received partially. */
  get isPartial(): boolean {
    return this.#size > 0;
  }

  /** The next complete message. @throws RemoteError */
  next(): Buffer | undefined {
    if (this.#size < HEAD) return undefined;
    const head = this.#chunks[0]!.length >= HEAD ? this.#chunks[0]! : this.#join();
    const length = head.readUInt32BE(1);
    if (head[0] !== 0) throw new RemoteError("it sent a compressed message", Code.INTERNAL);
    if (length > this.#maxSize) throw new RemoteError(`it sent a message of ${length} bytes`, Code.INTERNAL);
    if (this.#size < HEAD + length) return undefined;
    const whole = this.#join();
    const rest = whole.subarray(HEAD + length);
    this.#chunks = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    return whole.subarray(HEAD, HEAD + length);
  }

  #join(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks, this.#size)];
    return this.#chunks[0]!;
  }
}

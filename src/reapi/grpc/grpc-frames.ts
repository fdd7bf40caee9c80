// Messages of gRPC as they go over a stream: five bytes in front of each, whether it is compressed, and its length.
//
// Contract: pure. A message is as long as it says and no longer than `most`, which is looked at before any of it is kept.
// None is compressed, since nobody was asked for that.
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
  readonly #most: number;
  /** What has come and is not read. */
  #chunks: Buffer[] = [];
  #size = 0;

  /** @param most bytes of one message */
  constructor(most: number) {
    this.#most = most;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
  }

  /** Whether there are bytes of a message that is not there as a whole. */
  get isMidway(): boolean {
    return this.#size > 0;
  }

  /** The next message, when all of it has come. Throws RemoteError. */
  next(): Buffer | undefined {
    if (this.#size < HEAD) return undefined;
    const head = this.#chunks[0]!.length >= HEAD ? this.#chunks[0]! : this.#join();
    const length = head.readUInt32BE(1);
    if (head[0] !== 0) throw new RemoteError("it sends what is compressed in no known way", Code.INTERNAL);
    if (length > this.#most) throw new RemoteError(`it sends a message of ${length} bytes`, Code.INTERNAL);
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

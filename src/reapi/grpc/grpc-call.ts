// One call of gRPC, on a connection: what is sent, what comes, and how it ended.
//
// Contract: it ends with its time limit, with its signal, with its connection, or as the server says, whichever is first, and
// what that was stays so: what a server has said counts, though it is gone a moment later. What comes faster than it is
// taken is held back at the server, and what is sent faster than the server takes it waits here. When it is over nothing of
// it is left: no timer, no listener, no stream.
//
// Surprising: who has taken the last message that it wants has still to hear the end, since a server counts what is broken off.
import type { ClientHttp2Stream } from "node:http2";
import type { Http2Connection, ConnectionListener } from "./connection.ts";
import { FrameReader, frame } from "./grpc-frames.ts";
import { Code, fromReset, type Headers, readStatus, refuseHeaders, type GrpcStatus } from "./grpc-status.ts";
import { codeOf, type Limits, RemoteError } from "./retry.ts";

/** Bytes. */
const LARGEST_MESSAGE = 64 << 20;
/** Of what has come and was not taken, before the server is held back. */
const MOST_WAITING = 1 << 20;
/** Milliseconds: what timers know. */
const LONGEST = 2 ** 31 - 1;
/** Milliseconds from the last message to the end of what the server sends. */
const GRACE = 1000;
/** HTTP/2's error for what nobody wants any more. */
const CANCEL = 8;

export class GrpcCall implements ConnectionListener {
  readonly #connection: Http2Connection;
  readonly #stream: ClientHttp2Stream;
  readonly #frames = new FrameReader(LARGEST_MESSAGE);
  readonly #signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isReleased = false;
  #wake: () => void = () => {};
  /** Gives up the turn to send. */
  #sent: () => void = () => {};
  /** What the server has said. */
  #status: GrpcStatus | undefined;
  #outcome: GrpcStatus | undefined;

  /** @param headers those that are configured, by lower-case names. Throws RemoteError. */
  constructor(
    connection: Http2Connection,
    path: string,
    headers: Readonly<Record<string, string>>,
    { timeout, signal }: Limits,
  ) {
    if (signal.aborted) throw new RemoteError("it was cancelled", Code.CANCELLED);
    const patience = timeout === undefined ? undefined : Math.min(Math.ceil(timeout), LONGEST);
    this.#connection = connection;
    this.#signal = signal;
    this.#stream = connection.open(
      {
        ...headers,
        ":method": "POST",
        ":path": path,
        te: "trailers",
        "content-type": "application/grpc",
        "user-agent": "rt",
        ...(patience !== undefined && { "grpc-timeout": describeTimeout(patience) }),
      },
      Object.keys(headers),
      this,
    );
    if (patience !== undefined)
      this.#timer = setTimeout(
        () => this.#end({ code: Code.DEADLINE_EXCEEDED, message: `no answer within ${patience / 1000} s` }),
        patience,
      );
    signal.addEventListener("abort", this.#abort, { once: true });
    this.#stream.on("response", (head: Headers) => {
      this.#status = readStatus(head);
      const refused = this.#status ? undefined : refuseHeaders(head);
      if (refused) this.#end(refused);
    });
    this.#stream.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#stream.on("trailers", (trailers: Headers) => (this.#status ??= readStatus(trailers)));
    this.#stream.on("end", () => {
      if (this.#status) this.#end(this.#status);
    });
    this.#stream.on("error", () => {}); // "close" comes after it
    this.#stream.on("close", () => this.#end(this.#status ?? this.#describeLoss()));
  }

  lose(status: GrpcStatus): void {
    this.#end(this.#status ?? status);
  }

  cancel(): void {
    this.#abort();
  }

  /** The last message. */
  end(message: Uint8Array): void {
    this.#connection.takeTurn((done) => {
      if (this.#outcome) return done();
      this.#sent = done;
      this.#stream.end(frame(message), done);
    });
  }

  /** Sends what `messages` yields, as fast as it is taken, and until there is an answer. */
  async send(messages: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const message of messages) {
      if (this.#outcome) return;
      await this.#write(message);
    }
    if (!this.#outcome) this.#stream.end();
  }

  /** Until it is sent, or the call is over. */
  async #write(message: Uint8Array): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#connection.takeTurn((done) => {
      this.#sent = () => {
        done();
        resolve();
      };
      if (this.#outcome) this.#sent();
      else this.#stream.write(frame(message), this.#sent);
    });
    await promise;
  }

  /** What comes, to its end. Throws RemoteError when that is no success. */
  async *messages(): AsyncGenerator<Buffer, void> {
    try {
      for (;;) {
        const message = this.#waiting.shift();
        if (message) {
          this.#waitingBytes -= message.length;
          if (this.#waitingBytes <= MOST_WAITING && this.#stream.isPaused()) this.#stream.resume();
          yield message;
        } else if (this.#outcome) break;
        else await new Promise<void>((wake) => (this.#wake = wake));
      }
      const { code, message } = this.#outcome;
      if (code !== Code.OK) throw new RemoteError(message, code);
      if (this.#frames.isMidway) throw new RemoteError("it sends half a message", Code.INTERNAL, true);
    } finally {
      this.#release();
    }
  }

  /** Nobody wants more. A server that has said all is given a moment to end it. */
  #release(): void {
    if (this.#outcome) return;
    this.#isReleased = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#abort, GRACE);
  }

  /** The one message that comes. Throws RemoteError. */
  async answer(): Promise<Buffer> {
    let answer: Buffer | undefined;
    for await (const message of this.messages()) {
      if (answer) throw new RemoteError("it sends more than one answer", Code.INTERNAL);
      answer = message;
    }
    if (!answer) throw new RemoteError("it sends no answer", Code.INTERNAL);
    return answer;
  }

  #take(chunk: Buffer): void {
    if (this.#outcome) return;
    if (this.#isReleased) return this.cancel();
    this.#frames.push(chunk);
    try {
      for (let message = this.#frames.next(); message; message = this.#frames.next()) {
        this.#waiting.push(message);
        this.#waitingBytes += message.length;
      }
    } catch (error) {
      this.#end({ code: codeOf(error) ?? Code.INTERNAL, message: (error as Error).message });
    }
    if (this.#waitingBytes > MOST_WAITING) this.#stream.pause();
    this.#wake();
  }

  /** Of what was broken off without a word. */
  #describeLoss(): GrpcStatus {
    const { lost } = this.#connection;
    return lost ?? fromReset(this.#stream.rstCode ?? 0);
  }

  readonly #abort = () => this.#end({ code: Code.CANCELLED, message: "it was cancelled" });

  /** The first that ends it. */
  #end(outcome: GrpcStatus): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#abort);
    this.#sent();
    this.#wake();
    // One that both have ended closes by itself. Servers leave those who break off many: that looks like an attack.
    const isWhole = this.#stream.readableEnded && this.#stream.writableFinished;
    if (!isWhole && !this.#stream.closed && !this.#stream.destroyed) this.#stream.close(CANCEL);
    this.#connection.leave(this);
  }
}

/** Of at most eight digits. */
function describeTimeout(milliseconds: number): string {
  return milliseconds < 1e8 ? `${milliseconds}m` : `${Math.ceil(milliseconds / 1000)}S`;
}

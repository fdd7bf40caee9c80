// One gRPC call on a connection: sends messages, receives messages, and ends with a status.
//
// Invariants:
// - The first of these ends the call: timeout, signal, loss of the connection, or the server's status. A received
//   status is never replaced.
// - Backpressure in both directions: unread messages pause the stream, and sending waits for the server.
// - After the end no timer, listener or stream remains.
//
// Non-obvious: after the last expected message, the call still waits for the server's end, because servers count
// aborted streams.
import type { ClientHttp2Stream } from "node:http2";
import type { Http2Connection, ConnectionListener } from "./connection.ts";
import { FrameReader, frame } from "./grpc-frames.ts";
import { Code, fromReset, type Headers, readStatus, checkHeaders, type GrpcStatus } from "./grpc-status.ts";
import { codeOf, type Limits, RemoteError } from "./retry.ts";

/** Bytes. */
const MAX_MESSAGE_SIZE = 64 << 20;
/** Received bytes that are buffered before the stream is paused. */
const MAX_BUFFERED = 1 << 20;
/** Maximum delay of a timer in milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;
/** Milliseconds from the last expected message until the call is aborted. */
const END_TIMEOUT = 1000;
/** HTTP/2 error code for a stream that is no longer needed. */
const CANCEL = 8;

export class GrpcCall implements ConnectionListener {
  readonly #connection: Http2Connection;
  readonly #stream: ClientHttp2Stream;
  readonly #frames = new FrameReader(MAX_MESSAGE_SIZE);
  readonly #signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #isReleased = false;
  #wake: () => void = () => {};
  /** Ends this call's turn to send. */
  #endTurn: () => void = () => {};
  /** The status that the server has sent. */
  #status: GrpcStatus | undefined;
  #outcome: GrpcStatus | undefined;

  /** @param headers configured headers, with lower-case names @throws RemoteError */
  constructor(
    connection: Http2Connection,
    path: string,
    headers: Readonly<Record<string, string>>,
    { timeout, signal }: Limits,
  ) {
    if (signal.aborted) throw new RemoteError("it was cancelled", Code.CANCELLED);
    const timeoutMs = timeout === undefined ? undefined : Math.min(Math.ceil(timeout), MAX_TIMER);
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
        ...(timeoutMs !== undefined && { "grpc-timeout": describeTimeout(timeoutMs) }),
      },
      Object.keys(headers),
      this,
    );
    if (timeoutMs !== undefined)
      this.#timer = setTimeout(
        () =>
          this.#end({ code: Code.DEADLINE_EXCEEDED, message: `no response within ${timeoutMs / 1000} s` }),
        timeoutMs,
      );
    signal.addEventListener("abort", this.#abort, { once: true });
    this.#stream.on("response", (head: Headers) => {
      this.#status = readStatus(head);
      const headerError = this.#status ? undefined : checkHeaders(head);
      if (headerError) this.#end(headerError);
    });
    this.#stream.on("data", (chunk: Buffer) => this.#receive(chunk));
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

  end(message: Uint8Array): void {
    this.#connection.takeTurn((done) => {
      if (this.#outcome) return done();
      this.#endTurn = done;
      this.#stream.end(frame(message), done);
    });
  }

  /** Sends what `messages` yields, with backpressure, until there is a response. */
  async send(messages: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const message of messages) {
      if (this.#outcome) return;
      await this.#write(message);
    }
    if (!this.#outcome) this.#stream.end();
  }

  /** Resolves when the message is sent or the call is over. */
  async #write(message: Uint8Array): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#connection.takeTurn((done) => {
      this.#endTurn = () => {
        done();
        resolve();
      };
      if (this.#outcome) this.#endTurn();
      else this.#stream.write(frame(message), this.#endTurn);
    });
    await promise;
  }

  /** The received messages, until the end. @throws RemoteError unless the call succeeded */
  async *messages(): AsyncGenerator<Buffer, void> {
    try {
      for (;;) {
        const message = this.#buffered.shift();
        if (message) {
          this.#bufferedBytes -= message.length;
          if (this.#bufferedBytes <= MAX_BUFFERED && this.#stream.isPaused()) this.#stream.resume();
          yield message;
        } else if (this.#outcome) break;
        else await new Promise<void>((wake) => (this.#wake = wake));
      }
      const { code, message } = this.#outcome;
      if (code !== Code.OK) throw new RemoteError(message, code);
      if (this.#frames.isPartial) throw new RemoteError("it sent an incomplete message", Code.INTERNAL, true);
    } finally {
      this.#release();
    }
  }

  /** No further message is needed. The server gets a short time to end the call. */
  #release(): void {
    if (this.#outcome) return;
    this.#isReleased = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#abort, END_TIMEOUT);
  }

  /** Returns the single response message. @throws RemoteError */
  async response(): Promise<Buffer> {
    let response: Buffer | undefined;
    for await (const message of this.messages()) {
      if (response) throw new RemoteError("it sent more than one response", Code.INTERNAL);
      response = message;
    }
    if (!response) throw new RemoteError("it sent no response", Code.INTERNAL);
    return response;
  }

  #receive(chunk: Buffer): void {
    if (this.#outcome) return;
    if (this.#isReleased) return this.cancel();
    this.#frames.push(chunk);
    try {
      for (let message = this.#frames.next(); message; message = this.#frames.next()) {
        this.#buffered.push(message);
        this.#bufferedBytes += message.length;
      }
    } catch (error) {
      this.#end({ code: codeOf(error) ?? Code.INTERNAL, message: (error as Error).message });
    }
    if (this.#bufferedBytes > MAX_BUFFERED) this.#stream.pause();
    this.#wake();
  }

  /** Status of a stream that was aborted without one. */
  #describeLoss(): GrpcStatus {
    const { lost } = this.#connection;
    return lost ?? fromReset(this.#stream.rstCode ?? 0);
  }

  readonly #abort = () => this.#end({ code: Code.CANCELLED, message: "it was cancelled" });

  /** The first outcome counts. */
  #end(outcome: GrpcStatus): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#abort);
    this.#endTurn();
    this.#wake();
    // A stream that both sides have ended closes without CANCEL. Servers disconnect clients that abort many
    // streams, because it resembles an attack (rapid reset).
    const isEnded = this.#stream.readableEnded && this.#stream.writableFinished;
    if (!isEnded && !this.#stream.closed && !this.#stream.destroyed) this.#stream.close(CANCEL);
    this.#connection.leave(this);
  }
}

/** At most eight digits, as gRPC requires. */
function describeTimeout(milliseconds: number): string {
  return milliseconds < 1e8 ? `${milliseconds}m` : `${Math.ceil(milliseconds / 1000)}S`;
}

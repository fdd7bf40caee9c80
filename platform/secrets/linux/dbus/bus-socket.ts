// The socket of a session bus connection: connects to the first responding endpoint, authenticates, and transfers messages.
//
// Invariants:
// - Bytes are zeroized once they are written or copied into a message: they may contain a secret.
//
// Non-obvious: nothing is awaited. Authentication is sent together with the data passed to `send` before the socket opened. Only
// the header of an oversized message is kept.
import { errorReason } from "../../../caught-error.ts";
import type { Endpoint } from "./address.ts";
import { BusFailure } from "./bus-failure.ts";
import { verifyPeer } from "./peer-credentials.ts";
import { FIXED_SIZE, MAX_MESSAGE, measureMessage, type MessageSize } from "./dbus-decoder.ts";

/** Maximum line length of the greeting in bytes. */
const MAX_GREETING = 4096;

export interface BusSocketEvents {
  /** A message, or the header of one longer than MAX_MESSAGE. The receiver zeroizes it. */
  received(message: Buffer, size: MessageSize): void;
  /** The socket is open, and pending data is being sent. */
  opened(): void;
  /** Called at most once, and not after `end`. */
  failed(failure: BusFailure): void;
}

export class BusSocket {
  readonly #label: string;
  readonly #uid: number;
  readonly #events: BusSocketEvents;
  #socket: Bun.Socket | undefined;
  #isAuthenticated = false;
  #isFlushing = false;
  #isOver = false;
  #keepsProcess = false;
  #outgoing: Uint8Array[] = [];
  /** The incoming message, or its fixed part until its size is known, and the number of received bytes. */
  #message: Buffer = Buffer.alloc(FIXED_SIZE);
  #filled = 0;
  #size: MessageSize | undefined;
  /** Remaining bytes of an oversized message. */
  #skipped = 0;
  #greeting = "";

  /** Starts to connect. `label` is the address in messages. */
  constructor(endpoints: readonly Endpoint[], label: string, uid: number, events: BusSocketEvents) {
    this.#label = label;
    this.#uid = uid;
    this.#events = events;
    const identity = Buffer.from(String(uid), "latin1").toString("hex");
    this.#outgoing.push(Buffer.from(`\0AUTH EXTERNAL ${identity}\r\nBEGIN\r\n`, "latin1"));
    queueMicrotask(() => void this.#connect(endpoints)); // no event before the caller has the object
  }

  /** Sends at the end of this turn of the event loop, in one write. */
  send(bytes: Uint8Array): void {
    this.#outgoing.push(bytes);
    if (this.#isFlushing || !this.#socket) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.flush());
  }

  flush(): void {
    this.#isFlushing = false;
    const socket = this.#socket;
    if (!socket || this.#outgoing.length === 0) return;
    const parts = this.#outgoing;
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    if (parts.length > 1) for (const part of parts) part.fill(0);
    const written = Math.max(0, socket.write(bytes));
    bytes.fill(0, 0, written);
    this.#outgoing = written < bytes.length ? [bytes.subarray(written)] : [];
  }

  /** Sets whether the open socket keeps the process alive. */
  keepProcess(keeps: boolean): void {
    this.#keepsProcess = keeps;
    if (keeps) this.#socket?.ref();
    else this.#socket?.unref();
  }

  end(): void {
    this.#isOver = true;
    for (const part of this.#outgoing) part.fill(0);
    this.#outgoing = [];
    this.#message.fill(0);
    this.#socket?.end();
  }

  async #connect(endpoints: readonly Endpoint[]): Promise<void> {
    let reason = "not an address that can be connected to";
    for (const { path } of endpoints) {
      if (this.#isOver) return;
      try {
        await Bun.connect({ unix: path, socket: this.#handlers() });
        return;
      } catch (error) {
        reason = errorReason(error);
      }
    }
    this.#fail(new BusFailure("unreachable", `No session bus answers at ${this.#label} (${reason})`, reason));
  }

  #handlers(): Bun.SocketHandler<undefined> {
    return {
      open: (socket) => {
        if (this.#isOver) return void socket.end();
        const doubt = verifyPeer((socket as unknown as { fd: number }).fd, this.#uid);
        if (doubt !== undefined) {
          this.#fail(new BusFailure("refused", `The D-Bus socket ${this.#label} ${doubt}`));
          return void socket.end();
        }
        this.#socket = socket;
        this.keepProcess(this.#keepsProcess);
        this.flush();
        this.#events.opened();
      },
      data: (_socket, chunk) => {
        const messages = this.#isAuthenticated ? chunk : this.#readGreeting(chunk);
        if (messages) this.#collect(messages);
      },
      drain: () => this.flush(),
      close: () => {
        const isKnown = this.#isAuthenticated;
        const text = isKnown
          ? "The session bus closed the connection"
          : `The session bus at ${this.#label} rejected the connection`;
        this.#fail(new BusFailure(isKnown ? "closed" : "refused", text));
      },
      error: (_socket, error) =>
        this.#fail(new BusFailure("closed", `The connection to the session bus failed (${error.message})`)),
      connectError: () => {}, // Bun.connect's promise rejects too
    };
  }

  #collect(chunk: Buffer): void {
    try {
      for (let rest = chunk; rest.length > 0 && !this.#isOver;) rest = rest.subarray(this.#take(rest));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const text = `The session bus at ${this.#label} sent an invalid D-Bus message (${reason})`;
      this.#fail(new BusFailure("malformed", text));
    }
    chunk.fill(0);
  }

  /** Adds bytes to the incoming message and returns their number. */
  #take(bytes: Buffer): number {
    if (this.#skipped > 0) {
      const size = Math.min(bytes.length, this.#skipped);
      this.#skipped -= size;
      return size;
    }
    const size = Math.min(bytes.length, this.#message.length - this.#filled);
    this.#message.set(bytes.subarray(0, size), this.#filled);
    this.#filled += size;
    if (this.#filled < this.#message.length) return size;
    const expected = (this.#size ??= measureMessage(this.#message));
    const { header, whole } = expected;
    const kept = whole > MAX_MESSAGE ? header : whole;
    if (this.#filled < kept) {
      const begun = this.#message;
      this.#message = Buffer.alloc(kept);
      this.#message.set(begun);
      return size;
    }
    const message = this.#message;
    this.#skipped = whole - kept;
    this.#message = Buffer.alloc(FIXED_SIZE);
    this.#filled = 0;
    this.#size = undefined;
    this.#events.received(message, expected);
    return size;
  }

  /** Returns the bytes after a complete greeting that accepts this client. */
  #readGreeting(chunk: Buffer): Buffer | undefined {
    const before = this.#greeting.length;
    this.#greeting += chunk.toString("latin1", 0, MAX_GREETING);
    const end = this.#greeting.indexOf("\r\n");
    if (end < 0 && this.#greeting.length < MAX_GREETING) return undefined;
    if (end < 0 || !this.#greeting.startsWith("OK ")) {
      const line = this.#greeting.slice(0, Math.min(80, end < 0 ? 80 : end));
      const text = `The session bus at ${this.#label} rejected this user (${line})`;
      this.#fail(new BusFailure("refused", text));
      return undefined;
    }
    this.#isAuthenticated = true;
    return chunk.subarray(end + 2 - before);
  }

  #fail(failure: BusFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.failed(failure);
  }
}

// The socket under a connection to the session bus: connecting to the first endpoint that answers, authentication,
// bytes out and whole messages in.
//
// What would surprise you: nothing is awaited. Authentication leaves with whatever was given to `send` until the
// socket is open. Outgoing bytes are zeroed once they are written; they may contain a secret.
import type { Endpoint } from "./address.ts";
import { BusFailure } from "./bus-failure.ts";
import { messageLength } from "./framing.ts";
import { distrustPeer } from "./peer.ts";

export interface BusSocketEvents {
  /** The first bytes have left. */
  opened(): void;
  /** More messages may be there. */
  received(): void;
  /** Called once, unless `end` was. */
  failed(failure: BusFailure): void;
}

export class BusSocket {
  readonly #label: string;
  readonly #uid: number;
  readonly #events: BusSocketEvents;
  #socket: Bun.Socket<undefined> | undefined;
  #isAuthenticated = false;
  #isFlushing = false;
  #isOver = false;
  #keepsProcess = false;
  #outgoing: Uint8Array[] = [];
  #received: Buffer = Buffer.alloc(0);

  /** Starts to connect. `label` names the address in messages. */
  constructor(endpoints: readonly Endpoint[], label: string, uid: number, events: BusSocketEvents) {
    this.#label = label;
    this.#uid = uid;
    this.#events = events;
    const identity = Buffer.from(String(uid), "latin1").toString("hex");
    this.#outgoing.push(Buffer.from(`\0AUTH EXTERNAL ${identity}\r\nBEGIN\r\n`, "latin1"));
    queueMicrotask(() => void this.#connect(endpoints)); // no event before there is somebody to hear it
  }

  /** Sends at the end of this turn of the event loop, together with what else is sent in it. */
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

  /** The messages that have come in, and perhaps the beginning of another one; nothing before we are accepted. */
  get received(): Buffer {
    return this.#isAuthenticated ? this.#received : this.#received.subarray(0, 0);
  }

  /** Takes the next whole message. Throws when there is something that can be none. */
  nextMessage(): Buffer | undefined {
    const length = messageLength(this.received);
    if (this.received.length < length) return undefined;
    const bytes = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return bytes;
  }

  /** Whether the open socket keeps the process alive. */
  keepProcess(keeps: boolean): void {
    this.#keepsProcess = keeps;
    if (keeps) this.#socket?.ref();
    else this.#socket?.unref();
  }

  end(): void {
    this.#isOver = true;
    for (const part of this.#outgoing) part.fill(0);
    this.#outgoing = [];
    this.#socket?.end();
  }

  async #connect(endpoints: readonly Endpoint[]): Promise<void> {
    let reason = "not an address that can be connected to";
    for (const { path } of endpoints) {
      if (this.#isOver) return;
      try {
        await Bun.connect<undefined>({ unix: path, socket: this.#handlers() });
        return;
      } catch (error) {
        reason = (error as { code?: string }).code ?? String(error);
      }
    }
    this.#fail(new BusFailure("unreachable", `No session bus answers at ${this.#label} (${reason})`, reason));
  }

  #handlers(): Bun.SocketHandler<undefined> {
    return {
      open: (socket) => {
        if (this.#isOver) return void socket.end();
        const doubt = distrustPeer((socket as unknown as { fd: number }).fd, this.#uid);
        if (doubt !== undefined) {
          this.#fail(new BusFailure("refused", `What listens at ${this.#label} ${doubt}`));
          return void socket.end();
        }
        this.#socket = socket;
        this.keepProcess(this.#keepsProcess);
        this.flush();
        this.#events.opened();
      },
      data: (_socket, chunk) => {
        this.#collect(chunk);
        if (this.#isAuthenticated || this.#readGreeting()) this.#events.received();
      },
      drain: () => this.flush(),
      close: () => {
        const isKnown = this.#isAuthenticated;
        const text = isKnown
          ? "The session bus closed the connection"
          : `The session bus at ${this.#label} did not accept the connection`;
        this.#fail(new BusFailure(isKnown ? "closed" : "refused", text));
      },
      error: (_socket, error) =>
        this.#fail(new BusFailure("closed", `The connection to the session bus broke (${error.message})`)),
      connectError: () => {}, // the promise of Bun.connect tells as well
    };
  }

  #collect(chunk: Buffer): void {
    if (this.#received.length === 0) this.#received = chunk;
    else {
      const joined = Buffer.concat([this.#received, chunk]);
      this.#received.fill(0);
      chunk.fill(0);
      this.#received = joined;
    }
  }

  #readGreeting(): boolean {
    const end = this.#received.indexOf("\r\n");
    if (end < 0) return false;
    const line = this.#received.toString("latin1", 0, end);
    this.#received = this.#received.subarray(end + 2);
    if (!line.startsWith("OK ")) {
      const text = `The session bus at ${this.#label} does not accept this user (${line.slice(0, 80)})`;
      this.#fail(new BusFailure("refused", text));
      return false;
    }
    this.#isAuthenticated = true;
    return true;
  }

  #fail(failure: BusFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.failed(failure);
  }
}

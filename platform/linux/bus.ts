// One connection to the session bus. dbus-next marshals and unmarshals (codec.ts); everything between the
// messages and the socket is here, because its own connection takes 5 ms to load, never settles a call when
// the bus dies or is mute, and knows neither address lists nor time-outs.
//
// What would surprise you:
// - Authentication, Hello and the other calls that lead leave in one write. Every other call waits for the answers
//   to these: when gnome-keyring is busy, it may come to the calls of a new client before it knows the client,
//   and an OpenSession among them ends it. dbus-next is loaded after the prepared calls have left: the service
//   works meanwhile. A bus that refuses us closes the connection, which fails all calls.
// - At most 64 calls are under way and the others wait their turn: a bus refuses a client with more than
//   128 pending replies.
// - The socket keeps the process alive only while somebody holds the connection, see `hold`.
// - Outgoing bytes are zeroed once they are written; they may contain a secret.
import type { Endpoint } from "./address.ts";
import type { Incoming } from "./codec.ts";
import { countReplies, messageLength } from "./framing.ts";
import { type PreparedCall, SERIAL_OFFSET } from "./prepared.ts";

const MAX_PENDING = 64;
const MAX_TIMER = 2 ** 31 - 1;
/** Milliseconds to wait for the answers to the calls that lead before dbus-next is loaded; a service may be starting. */
const LOAD_DELAY = 10;

/** The one module that knows messages; loaded with the first open connection. */
export type Codec = typeof import("./codec.ts");

/** Milliseconds for a call that a program answers by itself. */
export const MACHINE_TIMEOUT = 25_000;
/** Milliseconds for a call that may make the service ask a person. */
export const PERSON_TIMEOUT = 120_000;

export type BusFailureKind =
  /** No endpoint could be connected to. */
  | "unreachable"
  /** The bus did not accept us. */
  | "refused"
  /** The connection ended while the call was under way. */
  | "closed"
  | "timeout"
  /** The called service, or the bus on its behalf, answered with an error; `native` is its name. */
  | "answered";

export class BusFailure extends Error {
  readonly kind: BusFailureKind;
  readonly native: string | undefined;

  constructor(kind: BusFailureKind, text: string, native?: string) {
    super(text);
    this.kind = kind;
    this.native = native;
  }
}

export interface Call {
  destination: string;
  path: string;
  interface: string;
  member: string;
  signature?: string;
  /** Values for dbus-next, or a body that is already marshalled. */
  body?: unknown[] | Uint8Array;
}

export interface Signal {
  sender: string;
  path: string;
  interface: string;
  member: string;
  body: unknown[];
}

interface Pending {
  resolve(body: unknown[]): void;
  reject(failure: BusFailure): void;
  timer: ReturnType<typeof setTimeout>;
}

interface Waiting {
  readonly isPrepared: boolean;
  start(): void;
}

type BusSocket = Bun.Socket<undefined>;

export class Bus {
  #codec: Codec | undefined;
  #socket: BusSocket | undefined;
  #failure: BusFailure | undefined;
  #isAuthenticated = false;
  /** Whether the calls that lead have been answered. */
  #isLed = false;
  #loading: Promise<void> | undefined;
  #serial = 0;
  #holders = 0;
  #isFlushing = false;
  #isRetired = false;
  readonly #label: string;
  readonly #pending = new Map<number, Pending>();
  /** Calls that follow those that lead. */
  readonly #following: Waiting[] = [];
  /** Calls that cannot leave yet: dbus-next is not there or 64 others are under way. */
  readonly #waiting: (() => void)[] = [];
  #outgoing: Uint8Array[] = [];
  #received: Buffer = Buffer.alloc(0);
  /** Called for every signal that reaches this connection. */
  onSignal: (signal: Signal) => void = () => {};
  /** Called once, when the connection is over. */
  onClose: () => void = () => {};

  /** Starts to connect; calls may be made at once. `label` names the address in messages. */
  constructor(endpoints: readonly Endpoint[], label: string, uid: number) {
    this.#label = label;
    const identity = Buffer.from(String(uid), "latin1").toString("hex");
    this.#outgoing.push(Buffer.from(`\0AUTH EXTERNAL ${identity}\r\nBEGIN\r\n`, "latin1"));
    void this.#connect(endpoints);
  }

  /** Whether new calls can be made. */
  get isUsable(): boolean {
    return this.#failure === undefined;
  }

  /** Whether calls are under way. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** Calls a method and answers the reply's body. Rejects with a BusFailure, in `timeout` milliseconds at the latest. */
  call(call: Call | PreparedCall, timeout: number = MACHINE_TIMEOUT): Promise<unknown[]> {
    return new Promise((resolve, reject) => {
      const isPrepared = "message" in call;
      const start = () => {
        if (this.#failure) return reject(this.#failure);
        const serial = (this.#serial = (this.#serial + 1) >>> 0 || 1);
        try {
          const bytes = isPrepared ? numberCall(call, serial) : this.#codec!.encodeCall(call, serial);
          this.#start(bytes, serial, call.member, timeout, { resolve, reject });
        } catch (error) {
          reject(error);
          this.#startNext();
        }
      };
      if (this.#failure || (isPrepared && call.leads)) start();
      else if (this.#isLed) this.#submit({ start, isPrepared });
      else this.#following.push({ start, isPrepared });
    });
  }

  #submit({ start, isPrepared }: Waiting): void {
    if (this.#pending.size < MAX_PENDING && (isPrepared || this.#codec)) start();
    else this.#waiting.push(start);
  }

  #follow(): void {
    if (this.#isLed) return;
    this.#isLed = true;
    for (const waiting of this.#following.splice(0)) this.#submit(waiting);
    this.#flush();
    this.#load();
  }

  /** Keeps the process alive until the matching `release`. */
  hold(): void {
    if (this.#holders++ === 0) this.#socket?.ref();
  }

  release(): void {
    if (--this.#holders > 0) return;
    if (this.#isRetired) this.close();
    else this.#socket?.unref();
  }

  /** Ends the connection; what is under way rejects with `failure`. */
  close(
    failure: BusFailure = new BusFailure("closed", "The connection to the session bus was closed"),
  ): void {
    this.#fail(failure);
  }

  closeWhenReleased(): void {
    this.#isRetired = true;
    if (this.#holders === 0) this.close();
  }

  async #connect(endpoints: readonly Endpoint[]): Promise<void> {
    let reason = "not an address that can be connected to";
    for (const { path } of endpoints) {
      if (this.#failure) return;
      try {
        await Bun.connect<undefined>({ unix: path, socket: this.#handlers() });
        return;
      } catch (error) {
        reason = (error as { code?: string }).code ?? String(error);
      }
    }
    this.#fail(new BusFailure("unreachable", `No session bus answers at ${this.#label} (${reason})`, reason));
  }

  #load(): void {
    this.#loading ??= import("./codec.ts").then((codec) => {
      this.#codec = codec;
      while (this.#waiting.length > 0 && this.#pending.size < MAX_PENDING) this.#startNext();
      this.#readMessages();
    });
    this.#loading.catch((error) =>
      this.#fail(new BusFailure("closed", `The D-Bus client could not be loaded (${error})`)),
    );
  }

  #handlers(): Bun.SocketHandler<undefined> {
    return {
      open: (socket) => {
        if (this.#failure) return void socket.end();
        this.#socket = socket;
        if (this.#holders === 0) socket.unref();
        this.#flush();
        setTimeout(() => this.#load(), LOAD_DELAY).unref();
      },
      data: (_socket, chunk) => {
        this.#collect(chunk);
        this.#readMessages();
      },
      drain: () => this.#flush(),
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

  #start(
    bytes: Uint8Array,
    serial: number,
    member: string,
    timeout: number,
    outcome: Omit<Pending, "timer">,
  ): void {
    const expire = () => {
      this.#settle(serial)?.reject(
        new BusFailure("timeout", `${member} was not answered within ${timeout / 1000} seconds`),
      );
    };
    const timer = setTimeout(expire, Math.min(timeout, MAX_TIMER));
    timer.unref(); // the socket is what keeps the process
    this.#pending.set(serial, { ...outcome, timer });
    this.#send(bytes);
  }

  #send(bytes: Uint8Array): void {
    this.#outgoing.push(bytes);
    if (this.#isFlushing || !this.#socket) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
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

  #collect(chunk: Buffer): void {
    if (this.#received.length === 0) this.#received = chunk;
    else {
      const joined = Buffer.concat([this.#received, chunk]);
      this.#received.fill(0);
      chunk.fill(0);
      this.#received = joined;
    }
  }

  #readMessages(): void {
    if (this.#failure || (!this.#isAuthenticated && !this.#readGreeting())) return;
    try {
      if (!this.#codec) {
        if (countReplies(this.#received) >= this.#pending.size) this.#follow();
        return;
      }
      for (;;) {
        const length = messageLength(this.#received);
        if (this.#received.length < length) return;
        const bytes = this.#received.subarray(0, length);
        this.#received = this.#received.subarray(length);
        this.#dispatch(this.#codec.decodeMessage(bytes));
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#fail(
        new BusFailure("closed", `The session bus sent something that is no D-Bus message (${reason})`),
      );
    }
  }

  #readGreeting(): boolean {
    const end = this.#received.indexOf("\r\n");
    if (end < 0) return false;
    const line = this.#received.toString("latin1", 0, end);
    this.#received = this.#received.subarray(end + 2);
    if (!line.startsWith("OK ")) {
      this.#fail(
        new BusFailure(
          "refused",
          `The session bus at ${this.#label} does not accept this user (${line.slice(0, 80)})`,
        ),
      );
      return false;
    }
    this.#isAuthenticated = true;
    return true;
  }

  #dispatch(message: Incoming): void {
    const { METHOD_RETURN, ERROR, SIGNAL } = this.#codec!.MessageType;
    if (message.type === METHOD_RETURN) this.#settle(message.replySerial!)?.resolve(message.body);
    else if (message.type === ERROR) {
      const text = typeof message.body[0] === "string" ? message.body[0] : "";
      this.#settle(message.replySerial!)?.reject(new BusFailure("answered", text, message.errorName));
    } else if (message.type === SIGNAL) {
      const { sender = "", path = "", interface: from = "", member = "", body } = message;
      this.onSignal({ sender, path, interface: from, member, body });
    }
  }

  #settle(serial: number): Pending | undefined {
    const pending = this.#pending.get(serial);
    if (!pending) return undefined;
    this.#pending.delete(serial);
    clearTimeout(pending.timer);
    if (this.#pending.size === 0) this.#follow();
    this.#startNext();
    return pending;
  }

  #startNext(): void {
    this.#waiting.shift()?.();
  }

  #fail(failure: BusFailure): void {
    if (this.#failure) return;
    this.#failure = failure;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { timer, reject } of pending) {
      clearTimeout(timer);
      reject(failure);
    }
    for (const { start } of this.#following.splice(0)) start();
    for (const start of this.#waiting.splice(0)) start();
    for (const part of this.#outgoing) part.fill(0);
    this.#outgoing = [];
    this.#socket?.end();
    this.onClose();
  }
}

function numberCall({ message }: PreparedCall, serial: number): Buffer {
  message.writeUInt32LE(serial, SERIAL_OFFSET);
  return message;
}

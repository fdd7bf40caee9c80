// One connection to the session bus: calls, their answers and time-outs. dbus-next marshals and unmarshals
// (codec.ts); everything between the messages and the socket is ours (here and in bus-socket.ts), because its own
// connection takes 5 ms to load, never settles a call when the bus dies or is mute, and knows neither address lists
// nor time-outs.
//
// What would surprise you:
// - Authentication, Hello and the other calls that lead leave in one write. Every other call waits for the answers
//   to these: when gnome-keyring is busy, it may come to the calls of a new client before it knows the client,
//   and an OpenSession among them ends it. dbus-next is loaded after the prepared calls have left: the service
//   works meanwhile. A bus that refuses us closes the connection, which fails all calls.
// - At most 64 calls are under way and the others wait their turn: a bus refuses a client with more than
//   128 pending replies.
// - The socket keeps the process alive only while somebody holds the connection, see `hold`.
import type { Endpoint } from "./address.ts";
import { BusFailure } from "./bus-failure.ts";
import { BusSocket } from "./bus-socket.ts";
import type { Incoming } from "./codec.ts";
import { countReplies } from "./framing.ts";
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

export class Bus {
  readonly #socket: BusSocket;
  #codec: Codec | undefined;
  #failure: BusFailure | undefined;
  /** Whether the calls that lead have been answered. */
  #isLed = false;
  #loading: Promise<void> | undefined;
  #serial = 0;
  #holders = 0;
  #isRetired = false;
  readonly #pending = new Map<number, Pending>();
  /** Calls that follow those that lead. */
  readonly #following: Waiting[] = [];
  /** Calls that cannot leave yet: dbus-next is not there or 64 others are under way. */
  readonly #waiting: (() => void)[] = [];
  /** Called for every signal that reaches this connection. */
  onSignal: (signal: Signal) => void = () => {};
  /** Called once, when the connection is over. */
  onClose: () => void = () => {};

  /** Starts to connect; calls may be made at once. `label` names the address in messages. */
  constructor(endpoints: readonly Endpoint[], label: string, uid: number) {
    this.#socket = new BusSocket(endpoints, label, uid, {
      opened: () => void setTimeout(() => this.#load(), LOAD_DELAY).unref(),
      received: () => this.#readMessages(),
      failed: (failure) => this.#fail(failure),
    });
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
    this.#socket.flush();
    this.#load();
  }

  /** Keeps the process alive until the matching `release`. */
  hold(): void {
    if (this.#holders++ === 0) this.#socket.keepProcess(true);
  }

  release(): void {
    if (--this.#holders > 0) return;
    if (this.#isRetired) this.close();
    else this.#socket.keepProcess(false);
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
    this.#socket.send(bytes);
  }

  #readMessages(): void {
    if (this.#failure) return;
    try {
      if (!this.#codec) {
        if (countReplies(this.#socket.received) >= this.#pending.size) this.#follow();
        return;
      }
      for (let bytes = this.#socket.nextMessage(); bytes; bytes = this.#socket.nextMessage()) {
        this.#dispatch(this.#codec.decodeMessage(bytes));
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#fail(
        new BusFailure("closed", `The session bus sent something that is no D-Bus message (${reason})`),
      );
    }
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
    this.#socket.end();
    this.onClose();
  }
}

function numberCall({ message }: PreparedCall, serial: number): Buffer {
  message.writeUInt32LE(serial, SERIAL_OFFSET);
  return message;
}

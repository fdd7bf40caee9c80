// One connection to the session bus: calls, their answers and time-outs. Everything between the messages and the
// socket is ours (here and in bus-socket.ts), because dbus-next's own connection takes 5 ms to load, never settles
// a call when the bus dies or is mute, and knows neither address lists nor time-outs.
//
// What would surprise you:
// - Authentication, Hello and the other calls that lead leave in one write. Every other call waits for the answers
//   to these: when gnome-keyring is busy, it may come to the calls of a new client before it knows the client,
//   and an OpenSession among them ends it. A bus that refuses us closes the connection, which fails all calls.
// - Anybody on the bus may send what looks like an answer. The bus says who sent a message, so an answer counts if it
//   comes from whoever has had the name of the secret service since the call was made, or from the bus itself; all
//   else is dropped.
// - At most 64 calls are under way and the others wait their turn: a bus refuses a client with more than
//   128 pending replies. dbus-next is loaded with the first call that was not prepared.
// - The socket keeps the process alive only while somebody holds the connection, see `hold`.
import { errorMessage } from "../../../caught-error.ts";
import type { Endpoint } from "./address.ts";
import { BusFailure } from "./bus-failure.ts";
import { BusSocket } from "./bus-socket.ts";
import { BUS_NAME, BUS_PATH, PROMPT_INTERFACE, SERVICE_NAME } from "./dbus-names.ts";
import type { DBusCall } from "./dbus-encoder.ts";
import {
  type PreparedCall,
  prepareGetOwner,
  prepareHello,
  prepareWatchOwner,
  SERIAL_OFFSET,
} from "./prepared-messages.ts";
import {
  ERROR,
  type DBusHeader,
  MAX_MESSAGE,
  METHOD_RETURN,
  type MessageSize,
  readBody,
  readHeader,
  SIGNAL,
} from "./dbus-decoder.ts";
import { checkReply, malformed } from "./reply-signatures.ts";

const MAX_PENDING = 64;
const MAX_TIMER = 2 ** 31 - 1;
/** RequestName's answer to a connection that has to wait. */
const IN_QUEUE = 2;
/** Characters of what a service says about an error that are kept. */
const MAX_TEXT = 300;

/** Milliseconds for a call that a program answers by itself. */
export const MACHINE_TIMEOUT = 25_000;
/** Milliseconds for a call that may make the service ask a person. */
export const PERSON_TIMEOUT = 120_000;

interface Pending {
  readonly member: string;
  readonly destination: string;
  /** The unique names that may answer. */
  readonly senders: Set<string>;
  resolve(body: unknown[]): void;
  reject(failure: BusFailure): void;
  timer: ReturnType<typeof setTimeout>;
}

interface QueuedCall {
  readonly isPrepared: boolean;
  start(): void;
}

export class Bus {
  readonly #socket: BusSocket;
  #codec: typeof import("./dbus-encoder.ts") | undefined;
  // oxlint-disable-next-line no-unused-private-class-members -- `??=` reads it
  #loading: Promise<void> | undefined;
  #failure: BusFailure | undefined;
  /** Whether the calls that lead have been answered. */
  #isLed = false;
  #serial = 0;
  #holders = 0;
  #isRetired = false;
  /** Unique name of the secret service. */
  #owner: string | undefined;
  readonly #pending = new Map<number, Pending>();
  /** By the names that we have queued for. */
  readonly #queued = new Map<string, Pick<Pending, "reject"> & { resolve(): void }>();
  /** Calls that follow those that lead. */
  readonly #following: QueuedCall[] = [];
  /** Calls that cannot leave yet: dbus-next is not there or 64 others are under way. */
  readonly #waiting: QueuedCall[] = [];
  /** Called when the bus has something to answer, and there is time until it does. */
  onOpen: () => void = () => {};
  /** Called when a prompt of the secret service has ended. */
  onPromptCompleted: (path: string, isDismissed: boolean) => void = () => {};
  /** Called when the secret service has lost its name. */
  onServiceGone: () => void = () => {};
  /** Called once, when the connection is over. */
  onClose: (failure: BusFailure) => void = () => {};

  /** Starts to connect; calls may be made at once. `label` names the address in messages. */
  constructor(endpoints: readonly Endpoint[], label: string, uid: number) {
    this.#socket = new BusSocket(endpoints, label, uid, {
      received: (message, size) => this.#receive(message, size),
      opened: () => this.onOpen(),
      failed: (failure) => this.#fail(failure),
    });
  }

  /** Introduces us, and finds out who the secret service is. Rejects with a BusFailure, as `call`. */
  async greet(timeout: number): Promise<void> {
    const greeted = this.call(prepareHello(), timeout);
    this.call(prepareWatchOwner(), timeout).catch(() => {}); // then a service that is started later is not heard
    // At once, and not when a promise has settled: the next message may be the service's.
    const hear = ([owner]: unknown[]) => this.#meetOwner(owner as string);
    this.#makeCall(prepareGetOwner(), timeout, { resolve: hear, reject: () => {} });
    await greeted;
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
  call(call: DBusCall | PreparedCall, timeout: number = MACHINE_TIMEOUT): Promise<unknown[]> {
    return new Promise((resolve, reject) => this.#makeCall(call, timeout, { resolve, reject }));
  }

  #makeCall(
    call: DBusCall | PreparedCall,
    timeout: number,
    outcome: Pick<Pending, "resolve" | "reject">,
  ): void {
    const isPrepared = "message" in call;
    const start = () => {
      if (this.#failure) return outcome.reject(this.#failure);
      const serial = (this.#serial = (this.#serial + 1) >>> 0 || 1);
      try {
        const bytes = isPrepared ? numberCall(call, serial) : this.#codec!.encodeCall(call, serial);
        this.#start(bytes, serial, call, timeout, outcome);
      } catch (error) {
        outcome.reject(error as BusFailure);
      }
    };
    const waiting = { start, isPrepared };
    if (this.#failure || (isPrepared && call.leads)) return start();
    (this.#isLed ? this.#waiting : this.#following).push(waiting);
    this.#startNext();
  }

  #follow(): void {
    if (this.#isLed) return;
    this.#isLed = true;
    this.#waiting.push(...this.#following.splice(0));
    this.#startNext();
    this.#socket.flush();
  }

  #startNext(): void {
    while (this.#waiting.length > 0 && this.#pending.size < MAX_PENDING) {
      if (!this.#waiting[0]!.isPrepared && !this.#codec) return this.#load();
      this.#waiting.shift()!.start();
    }
  }

  /**
   * Acquires a name on the bus, in turn: the bus queues the connections that request it. The next one gets it when the
   * owner releases it or disconnects. Rejects with a BusFailure, after `timeout` milliseconds in the queue at the latest.
   */
  async acquireName(name: string, timeout: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // it may reject while RequestName is still being answered
    const expire = () => reject(new BusFailure("timeout", `${name} was not released in time`));
    const timer = setTimeout(expire, Math.min(timeout, MAX_TIMER));
    timer.unref();
    this.#queued.set(name, { resolve, reject });
    try {
      const [outcome] = await this.#callBus("RequestName", "su", [name, 0]);
      if (outcome === IN_QUEUE) await promise;
    } catch (error) {
      this.releaseName(name);
      throw error;
    } finally {
      clearTimeout(timer);
      this.#queued.delete(name);
    }
  }

  releaseName(name: string): void {
    this.#callBus("ReleaseName", "s", [name]).catch(() => {}); // then the connection is over, and the name is free
  }

  #callBus(member: string, signature: string, body: unknown[]): Promise<unknown[]> {
    const call = { destination: BUS_NAME, path: BUS_PATH, interface: BUS_NAME, member, signature, body };
    return this.call(call);
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
    this.#loading ??= import("./dbus-encoder.ts").then(
      (codec) => {
        this.#codec = codec;
        this.#startNext();
      },
      (error: unknown) =>
        this.#fail(new BusFailure("closed", `The D-Bus client could not be loaded (${String(error)})`)),
    );
  }

  #start(
    bytes: Uint8Array,
    serial: number,
    { member, destination }: DBusCall | PreparedCall,
    timeout: number,
    outcome: Pick<Pending, "resolve" | "reject">,
  ): void {
    const expire = () => {
      this.#settle(serial)?.reject(
        new BusFailure("timeout", `${member} was not answered within ${timeout / 1000} seconds`),
      );
    };
    const timer = setTimeout(expire, Math.min(timeout, MAX_TIMER));
    timer.unref(); // the socket is what keeps the process
    const sender = destination === SERVICE_NAME ? this.#owner : destination;
    const senders = new Set(sender === undefined ? [] : [sender]);
    this.#pending.set(serial, { ...outcome, member, destination, senders, timer });
    this.#socket.send(bytes);
  }

  #receive(message: Buffer, size: MessageSize): void {
    const header = readHeader(message, size);
    const isOfBus = header.sender === BUS_NAME || header.sender === undefined; // the bus signs what others send
    if (header.type === SIGNAL) this.#hear(message, header, isOfBus);
    const pending = this.#pending.get(header.replySerial ?? 0);
    const isAnswer = header.type === METHOD_RETURN || header.type === ERROR;
    const isExpected = isOfBus
      ? header.type === ERROR || pending?.destination === BUS_NAME
      : pending?.senders.has(header.sender);
    if (!pending || !isAnswer || !isExpected) return void message.fill(0);
    this.#settle(header.replySerial!);
    try {
      if (size.whole > MAX_MESSAGE) throw new Error(`${size.whole} bytes, more than ${MAX_MESSAGE}`);
      if (header.type === METHOD_RETURN) checkReply(pending.member, header.signature);
      const body = readBody(message, header);
      if (header.type === METHOD_RETURN) return pending.resolve(body);
      const text = typeof body[0] === "string" ? body[0].slice(0, MAX_TEXT) : "";
      pending.reject(new BusFailure("answered", text, header.errorName!.slice(0, MAX_TEXT)));
    } catch (error) {
      message.fill(0);
      const how = errorMessage(error);
      pending.reject(error instanceof BusFailure ? error : malformed(`an answer to ${pending.member}`, how));
    }
  }

  /** Signals count when they come from those who can know. */
  #hear(message: Buffer, header: DBusHeader, isOfBus: boolean): void {
    const { path = "", interface: from, member, signature, sender } = header;
    const isOwnerChange = path === BUS_PATH && from === BUS_NAME && member === "NameOwnerChanged";
    if (isOfBus && isOwnerChange && signature === "sss") {
      const [name, before, after] = readBody(message, header) as [string, string, string];
      if (name !== SERVICE_NAME) return;
      this.#owner = undefined;
      if (after !== "") this.#meetOwner(after);
      if (before !== "") this.onServiceGone();
    }
    const isAcquisition = path === BUS_PATH && from === BUS_NAME && member === "NameAcquired";
    if (isOfBus && isAcquisition && signature === "s")
      this.#queued.get(readBody(message, header)[0] as string)?.resolve();
    const isCompletion = from === PROMPT_INTERFACE && member === "Completed" && signature === "bv";
    if (sender !== undefined && sender === this.#owner && isCompletion)
      this.onPromptCompleted(path, readBody(message, header)[0] === true);
  }

  /** Whoever has the name may answer what was sent to it before. */
  #meetOwner(owner: string): void {
    this.#owner = owner;
    for (const { destination, senders } of this.#pending.values())
      if (destination === SERVICE_NAME) senders.add(owner);
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

  #fail(failure: BusFailure): void {
    if (this.#failure) return;
    this.#failure = failure;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { timer, reject } of pending) {
      clearTimeout(timer);
      reject(failure);
    }
    for (const { reject } of this.#queued.values()) reject(failure);
    for (const { start } of [...this.#following.splice(0), ...this.#waiting.splice(0)]) start();
    this.#socket.end();
    this.onClose(failure);
  }
}

function numberCall({ message }: PreparedCall, serial: number): Buffer {
  message.writeUInt32LE(serial, SERIAL_OFFSET);
  return message;
}

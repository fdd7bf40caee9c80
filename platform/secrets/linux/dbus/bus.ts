// One connection to the session bus: calls, replies and timeouts. The connection of dbus-next takes 5 ms to load and never
// settles a call when the bus dies. It supports neither address lists nor timeouts.
//
// Non-obvious:
// - Authentication, Hello and the leading calls are sent in one write; other calls wait for their replies. A busy gnome-keyring
//   exits if an OpenSession arrives before it knows the client. A bus that rejects rt closes the connection, which fails all
//   calls.
// - Replies are spoofable. A reply is accepted only if its sender has owned `org.freedesktop.secrets` since the call was sent, or
//   is the bus itself.
// - At most 64 calls are pending: a bus disconnects clients with more than 128. dbus-next is loaded by the first unprepared call.
// - The socket keeps the process alive only while an operation holds the connection, see `hold`.
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
/** RequestName's result for a connection in the queue. */
const IN_QUEUE = 2;
/** Maximum length of a service's error text in messages. */
const MAX_TEXT = 300;

/** Milliseconds for a call without a prompt. */
export const MACHINE_TIMEOUT = 25_000;
/** Milliseconds for a call that may show a prompt. */
export const PERSON_TIMEOUT = 120_000;

interface Pending {
  readonly member: string;
  readonly destination: string;
  /** Unique names of accepted senders. */
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
  /** Whether the leading calls have been answered. */
  #isLed = false;
  #serial = 0;
  #holders = 0;
  #isRetired = false;
  /** Unique name of the secret service. */
  #owner: string | undefined;
  readonly #pending = new Map<number, Pending>();
  /** By requested bus name. */
  readonly #queued = new Map<string, Pick<Pending, "reject"> & { resolve(): void }>();
  /** Calls that wait for the leading ones. */
  readonly #following: QueuedCall[] = [];
  /** Calls that wait for dbus-next or for one of 64 slots. */
  readonly #waiting: QueuedCall[] = [];
  /** Called when the socket is open and a reply is pending: time for computations. */
  onOpen: () => void = () => {};
  /** Called when a prompt of the secret service has completed. */
  onPromptCompleted: (path: string, isDismissed: boolean) => void = () => {};
  /** Called when the secret service has lost its name. */
  onServiceGone: () => void = () => {};
  /** Called once, when the connection is closed. */
  onClose: (failure: BusFailure) => void = () => {};

  /** Starts to connect; calls may be made at once. `label` is the address in messages. */
  constructor(endpoints: readonly Endpoint[], label: string, uid: number) {
    this.#socket = new BusSocket(endpoints, label, uid, {
      received: (message, size) => this.#receive(message, size),
      opened: () => this.onOpen(),
      failed: (failure) => this.#fail(failure),
    });
  }

  /** Sends Hello and finds the owner of the secret service's name. @throws BusFailure */
  async greet(timeout: number): Promise<void> {
    const greeted = this.call(prepareHello(), timeout);
    this.call(prepareWatchOwner(), timeout).catch(() => {}); // a later start of the service is then not noticed
    // Synchronously, not after a promise: the next message may be the service's.
    const hear = ([owner]: unknown[]) => this.#meetOwner(owner as string);
    this.#makeCall(prepareGetOwner(), timeout, { resolve: hear, reject: () => {} });
    await greeted;
  }

  get isUsable(): boolean {
    return this.#failure === undefined;
  }

  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** Calls a method and returns the reply's body. @throws BusFailure, after `timeout` milliseconds at the latest */
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
    promise.catch(() => {}); // it may reject before RequestName has returned
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
    this.#callBus("ReleaseName", "s", [name]).catch(() => {}); // the connection is closed, so the name is free
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

  /** Closes the connection; pending calls reject with `failure`. */
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
        new BusFailure("timeout", `${member} received no reply within ${timeout / 1000} seconds`),
      );
    };
    const timer = setTimeout(expire, Math.min(timeout, MAX_TIMER));
    timer.unref(); // the socket keeps the process alive
    const sender = destination === SERVICE_NAME ? this.#owner : destination;
    const senders = new Set(sender === undefined ? [] : [sender]);
    this.#pending.set(serial, { ...outcome, member, destination, senders, timer });
    this.#socket.send(bytes);
  }

  #receive(message: Buffer, size: MessageSize): void {
    const header = readHeader(message, size);
    const isOfBus = header.sender === BUS_NAME || header.sender === undefined; // the bus sets the sender of forwarded messages
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
      pending.reject(error instanceof BusFailure ? error : malformed(`a reply to ${pending.member}`, how));
    }
  }

  /** Accepts a signal only from the bus or the secret service. */
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

  /** A new owner of the name may answer calls that were sent before. */
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

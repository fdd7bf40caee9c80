// Redis connections of a shared run: one for commands and one for pub/sub messages, with reconnect and exponential
// backoff.
//
// Invariants:
// - A command waits for a reconnect and is sent again, so commands have to be idempotent.
// - After `retryTimeout` without a connection, every command rejects with ConnectionLostError at once.
// - A server that does not respond in time is treated like a closed connection.
//
// Non-obvious: the engine's client reports every failure as a closed connection; redis-diagnosis.ts finds the
// reason.
import { UserError } from "../user-error.ts";
import { diagnoseRedis } from "./redis-diagnosis.ts";

export interface RedisServer {
  /** Without user and password. */
  readonly url: string;
  readonly user: string;
  /** "" for none. */
  readonly password: string;
}

export interface RedisConnectionOptions {
  readonly server: RedisServer;
  readonly channel: string;
  /** Milliseconds without a connection after which every command fails. */
  readonly retryTimeout: number;
  onMessage(text: string): void;
  /** Called after every connect. An exception closes the connection. */
  onOpen(send: Send): Promise<void>;
  onLost(reason: string): void;
}

export type Send = (command: string, args: readonly string[]) => Promise<unknown>;

/** The coordinator cannot be reached any more. */
export class ConnectionLostError extends Error {}

/** Timeout of one response, in milliseconds. */
const RESPONSE_TIMEOUT = 10_000;
const MIN_BACKOFF = 50;
const MAX_BACKOFF = 2000;
/** Error codes of Redis that are safe to print. */
const PRINTABLE_CODES = /^(?:ERR|NOAUTH|NOPERM|OOM|READONLY|MISCONF|NOREPLICAS|CROSSSLOT|MOVED|WRONGTYPE)\b/;
/** Transient errors of a server that is starting or reconfiguring. */
const TRANSIENT_CODES = /^(?:LOADING|BUSY|MASTERDOWN|TRYAGAIN|CLUSTERDOWN)\b/;

interface RedisConnectionPair {
  readonly commands: Bun.RedisClient;
  readonly subscriber: Bun.RedisClient;
}

export class RedisConnection {
  readonly #options: RedisConnectionOptions;
  #connection: RedisConnectionPair | undefined;
  #opened = Promise.withResolvers<RedisConnectionPair>();
  #isClosed = false;
  #wake = () => {};

  constructor(options: RedisConnectionOptions) {
    this.#options = options;
  }

  /** @throws UserError */
  async open(): Promise<void> {
    const { server } = this.#options;
    try {
      await this.#connect();
    } catch (error) {
      if (error instanceof Error && error.name === "UserError") throw error;
      const why = (await diagnoseRedis(server)) ?? describeError(error);
      throw new UserError(
        `The Redis at ${server.url} ${why}`,
        "nothing was run; see rt help ci for the requirements of --share",
      );
    }
  }

  readonly send: Send = async (command, args) => {
    for (;;) {
      const connection = await this.#opened.promise;
      try {
        return await withTimeout(connection.commands.send(command, [...args]) as Promise<unknown>);
      } catch (error) {
        if (!isConnectionError(error)) throw this.#giveUp(`Redis ${describeError(error)}`);
        this.#lose(connection);
      }
    }
  };

  close(reason = "the run is over"): void {
    this.#isClosed = true;
    this.#wake();
    if (this.#connection) end(this.#connection);
    const lost = new ConnectionLostError(reason);
    this.#opened.reject(lost);
    this.#opened = Promise.withResolvers<RedisConnectionPair>();
    this.#opened.promise.catch(() => {});
    this.#opened.reject(lost);
  }

  async #connect(): Promise<void> {
    const { channel, onMessage, onOpen } = this.#options;
    const connection = { commands: this.#createClient(), subscriber: this.#createClient() };
    const { commands, subscriber } = connection;
    try {
      // The server's error message may contain the password, so it is replaced.
      await Promise.all([commands, subscriber].map((each) => withTimeout(each.connect()))).catch(() => {
        throw new Error(CLOSED);
      });
      await withTimeout(subscriber.subscribe(channel, onMessage));
      await onOpen((command, args) => withTimeout(commands.send(command, [...args])));
      if (!commands.connected || !subscriber.connected) throw new Error(CLOSED);
    } catch (error) {
      end(connection);
      throw error;
    }
    if (this.#isClosed) return end(connection);
    this.#connection = connection;
    commands.onclose = subscriber.onclose = () => this.#lose(connection);
    this.#opened.resolve(connection);
  }

  #createClient(): Bun.RedisClient {
    const { url, user, password } = this.#options.server;
    const [scheme, rest] = url.split("//") as [string, string];
    const name = encodeURIComponent(user);
    const credentials = password === "" ? "" : `${name}:${encodeURIComponent(password)}@`;
    return new Bun.RedisClient(`${scheme}//${credentials}${rest}`, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: RESPONSE_TIMEOUT,
      // Certificates are always verified: a project's .env may set NODE_TLS_REJECT_UNAUTHORIZED, and the server
      // receives the password.
      ...(scheme === "rediss:" && { tls: { rejectUnauthorized: true } }),
    });
  }

  #lose(connection: RedisConnectionPair): void {
    if (this.#connection !== connection || this.#isClosed) return;
    this.#connection = undefined;
    this.#opened = Promise.withResolvers<RedisConnectionPair>();
    this.#opened.promise.catch(() => {});
    end(connection);
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    const { retryTimeout, server } = this.#options;
    const end = performance.now() + retryTimeout;
    for (let backoff = MIN_BACKOFF; !this.#isClosed; backoff = Math.min(backoff * 2, MAX_BACKOFF)) {
      try {
        return await this.#connect();
      } catch (error) {
        const { name, message } = error as Error;
        if (name === "UserError") return void this.#giveUp(message);
        if (!isConnectionError(error)) return void this.#giveUp(`Redis ${describeError(error)}`);
      }
      const remaining = end - performance.now();
      if (remaining <= 0) {
        const why = (await diagnoseRedis(server)) ?? "responds again";
        this.#giveUp(`Redis has not been reached for ${retryTimeout / 1000} s: it ${why}`);
        return;
      }
      await this.#sleep(Math.min(backoff, remaining));
    }
  }

  async #sleep(duration: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const timer = setTimeout(resolve, duration);
    await promise;
    clearTimeout(timer);
  }

  #giveUp(reason: string): ConnectionLostError {
    if (!this.#isClosed) {
      this.close(reason);
      this.#options.onLost(reason);
    }
    return new ConnectionLostError(reason);
  }
}

const CLOSED = "ERR_REDIS_CONNECTION_CLOSED";

function end({ commands, subscriber }: RedisConnectionPair): void {
  for (const client of [commands, subscriber]) {
    client.onclose = null;
    client.close();
  }
}

/** Rejects after a timeout as if the connection were closed. */
async function withTimeout<T>(response: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(CLOSED)), RESPONSE_TIMEOUT);
  try {
    return await Promise.race([response, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function isConnectionError(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string };
  return code === CLOSED || message === CLOSED || TRANSIENT_CODES.test(message);
}

/** Returns only the error code: the server has received the password and could repeat it. */
function describeError(error: unknown): string {
  const [kind] = PRINTABLE_CODES.exec((error as Error).message) ?? [];
  return `does not support --share${kind === undefined ? "" : ` (${kind})`}`;
}

// Two connections to a Redis, one for commands and one on which news come, kept for as long as a run takes.
//
// Contract: a command waits while the connection is lost, and is sent again when it is back; so it has to be one that may be
// done twice. What has not come back within `patience` is given up, and then every command rejects with Lost, at once. A
// server that does not answer is lost as one that has closed the connection.
//
// Surprising: the engine's client says of every failure that the connection was closed; redis-diagnosis.ts finds out why.
import { UserError } from "../user-error.ts";
import { explainTrouble } from "./redis-diagnosis.ts";

export interface RedisServer {
  /** Without user and password. */
  readonly url: string;
  readonly user: string;
  /** "" for none. */
  readonly password: string;
}

export interface LinkOptions {
  readonly server: RedisServer;
  readonly channel: string;
  /** Milliseconds. */
  readonly patience: number;
  onMessage(text: string): void;
  /** The connection is there, at first and again. What it throws ends all of it. */
  onOpen(send: Send): Promise<void>;
  onLost(reason: string): void;
}

export type Send = (command: string, args: readonly string[]) => Promise<unknown>;

/** The others are not to be reached any more. */
export class ConnectionLostError extends Error {}

/** Milliseconds for one answer. */
const ANSWER = 10_000;
const SHORTEST_PAUSE = 50;
const LONGEST_PAUSE = 2000;
/** Of errors that a server may have a reason for. */
const KINDS = /^(?:ERR|NOAUTH|NOPERM|OOM|READONLY|MISCONF|NOREPLICAS|CROSSSLOT|MOVED|WRONGTYPE)\b/;
/** What one says that is about to be there. */
const PASSING = /^(?:LOADING|BUSY|MASTERDOWN|TRYAGAIN|CLUSTERDOWN)\b/;

interface RedisConnectionPair {
  readonly commands: Bun.RedisClient;
  readonly news: Bun.RedisClient;
}

export class RedisConnection {
  readonly #options: LinkOptions;
  #connection: RedisConnectionPair | undefined;
  #opened = Promise.withResolvers<RedisConnectionPair>();
  #isClosed = false;
  #wake = () => {};

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Throws Failure. */
  async open(): Promise<void> {
    const { server } = this.#options;
    try {
      await this.#connect();
    } catch (error) {
      if (error instanceof Error && error.name === "Failure") throw error;
      const why = (await explainTrouble(server)) ?? describeError(error);
      throw new UserError(
        `The Redis at ${server.url} ${why}`,
        "nothing was run; see rt help ci for what --share needs",
      );
    }
  }

  readonly send: Send = async (command, args) => {
    for (;;) {
      const connection = await this.#opened.promise;
      try {
        return await inTime(connection.commands.send(command, [...args]));
      } catch (error) {
        if (!isOfConnection(error)) throw this.#giveUp(`Redis ${describeError(error)}`);
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
    const connection = { commands: this.#createClient(), news: this.#createClient() };
    const { commands, news } = connection;
    try {
      // What a server says to a password may have it in it.
      await Promise.all([commands, news].map((each) => inTime(each.connect()))).catch(() => {
        throw new Error(CLOSED);
      });
      await inTime(news.subscribe(channel, onMessage));
      await onOpen((command, args) => inTime(commands.send(command, [...args])));
      if (!commands.connected || !news.connected) throw new Error(CLOSED);
    } catch (error) {
      end(connection);
      throw error;
    }
    if (this.#isClosed) return end(connection);
    this.#connection = connection;
    commands.onclose = news.onclose = () => this.#lose(connection);
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
      connectionTimeout: ANSWER,
      // NODE_TLS_REJECT_UNAUTHORIZED, which a project's .env may set, has no say in who gets the password.
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
    const { patience, server } = this.#options;
    const end = performance.now() + patience;
    for (let pause = SHORTEST_PAUSE; !this.#isClosed; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
      try {
        return await this.#connect();
      } catch (error) {
        const { name, message } = error as Error;
        if (name === "Failure") return void this.#giveUp(message);
        if (!isOfConnection(error)) return void this.#giveUp(`Redis ${describeError(error)}`);
      }
      const left = end - performance.now();
      if (left <= 0) {
        const why = (await explainTrouble(server)) ?? "answers again";
        this.#giveUp(`Redis has not been reached for ${patience / 1000} s: it ${why}`);
        return;
      }
      await this.#pause(Math.min(pause, left));
    }
  }

  async #pause(duration: number): Promise<void> {
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

function end({ commands, news }: RedisConnectionPair): void {
  for (const client of [commands, news]) {
    client.onclose = null;
    client.close();
  }
}

/** In time, or as if the connection were closed. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(CLOSED)), ANSWER);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}

function isOfConnection(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string };
  return code === CLOSED || message === CLOSED || PASSING.test(message);
}

/** No more of what the server says than which kind of error it is: it has been told the password. */
function describeError(error: unknown): string {
  const [kind] = KINDS.exec((error as Error).message) ?? [];
  return `does not do what --share needs${kind === undefined ? "" : ` (${kind})`}`;
}

// One HTTP/2 connection to a server, shared by many calls.
//
// Invariants:
// - Certificates are always verified and no proxy is used: a project's .env may set NODE_TLS_REJECT_UNAUTHORIZED or
//   a proxy.
// - Configured headers may be credentials, so they are never indexed by header compression.
// - If the connection is lost, or the server does not respond to a ping, all calls end at once.
//
// Non-obvious: setLocalWindowSize is not used, because the engine then miscounts and large downloads hang. Calls
// take turns to send, because the engine starves some of many streams that wait for the connection's window.
import type { ClientHttp2Session, ClientHttp2Stream, OutgoingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import { Code, type GrpcStatus } from "./grpc-status.ts";
import { RemoteError } from "./retry.ts";

export interface ServerAddress {
  /** `grpc://host:port`, or `grpcs://` over TLS. */
  readonly url: string;
  /** PEM. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

/** Milliseconds. */
export interface ConnectionTimeouts {
  readonly connect: number;
  /**
   * Interval of pings while calls are open. Servers close connections with more frequent pings than every five
   * minutes.
   */
  readonly ping: number;
  readonly pong: number;
}

/** Notified when the connection is lost. */
export interface ConnectionListener {
  lose(status: GrpcStatus): void;
}

const LOST: GrpcStatus = { code: Code.UNAVAILABLE, message: "the connection was lost" };
const TIMEOUTS: ConnectionTimeouts = { connect: 20_000, ping: 310_000, pong: 20_000 };
const DEFAULT_PORTS: Readonly<Record<string, string>> = { "grpc:": "80", "grpcs:": "443" };
/** Number of concurrent calls until the server announces its limit; every server accepts as many. */
const DEFAULT_MAX_CALLS = 100;
/** Number of calls that send at the same time. */
const MAX_SENDERS = 8;
/** Milliseconds without traffic after which the system sends TCP keep-alive probes. */
const KEEP_ALIVE = 30_000;

export class Http2Connection {
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #timeouts: ConnectionTimeouts;
  readonly #listeners = new Set<ConnectionListener>();
  readonly #connecting: ReturnType<typeof setTimeout>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Maximum number of concurrent calls. */
  #maxCalls = DEFAULT_MAX_CALLS;
  readonly #sendQueue: ((done: () => void) => void)[] = [];
  #sending = 0;
  #isGoingAway = false;
  #lost: GrpcStatus | undefined;

  /** @throws RemoteError for invalid certificates */
  constructor(address: ServerAddress, timeouts: ConnectionTimeouts = TIMEOUTS) {
    const { connect } = process.getBuiltinModule("node:http2");
    const { protocol, hostname, port } = new URL(address.url);
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    const authority = `${hostname}:${port || DEFAULT_PORTS[protocol]}`;
    const isSecure = protocol === "grpcs:";
    this.#timeouts = timeouts;
    this.#socket = openSocket(host, Number(authority.slice(hostname.length + 1)), isSecure, address.tls);
    this.#socket.setKeepAlive(true, KEEP_ALIVE);
    this.#session = connect(`${isSecure ? "https" : "http"}://${authority}`, {
      createConnection: () => this.#socket,
      settings: { enablePush: false },
    });
    this.#connecting = setTimeout(() => this.#lose("it does not respond"), timeouts.connect);
    this.#session.once("connect", () => clearTimeout(this.#connecting));
    this.#session.on("error", (error: Error) => this.#lose(error.message));
    this.#session.on("close", () => this.#lose("the connection was lost"));
    this.#session.on("goaway", () => (this.#isGoingAway = true));
    this.#session.on("remoteSettings", ({ maxConcurrentStreams: maxStreams }) => {
      this.#maxCalls = (maxStreams as number | undefined) ?? Number.POSITIVE_INFINITY;
    });
  }

  get takesCalls(): boolean {
    const { closed, destroyed } = this.#session;
    return (
      !this.#lost && !this.#isGoingAway && !closed && !destroyed && this.#listeners.size < this.#maxCalls
    );
  }

  /**
   * The reason if the connection is lost. A call may be notified earlier, with a stream that the server seems to
   * have cancelled.
   */
  get lost(): GrpcStatus | undefined {
    if (!this.#lost && (this.#session.destroyed || this.#socket.destroyed)) return LOST;
    return this.#lost;
  }

  /** @throws RemoteError */
  open(
    headers: OutgoingHttpHeaders,
    secret: readonly string[],
    listener: ConnectionListener,
  ): ClientHttp2Stream {
    const { sensitiveHeaders } = process.getBuiltinModule("node:http2");
    let stream;
    try {
      stream = this.#session.request({ ...headers, [sensitiveHeaders]: [...secret] });
    } catch (error) {
      throw new RemoteError((error as Error).message, Code.UNAVAILABLE);
    }
    this.#listeners.add(listener);
    this.#timer ??= setTimeout(() => this.#ping(), this.#timeouts.ping);
    return stream;
  }

  /** @param send called when it is the call's turn; it calls `done` when everything is sent or the call is over */
  takeTurn(send: (done: () => void) => void): void {
    this.#sendQueue.push(send);
    if (this.#sending < MAX_SENDERS) this.#giveTurn();
  }

  #giveTurn(): void {
    const send = this.#sendQueue.shift();
    if (!send) return;
    this.#sending++;
    let isDone = false;
    send(() => {
      if (isDone) return;
      isDone = true;
      this.#sending--;
      queueMicrotask(() => this.#giveTurn());
    });
  }

  /** The listener's call is over. */
  leave(listener: ConnectionListener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isGoingAway) this.close();
  }

  close(): void {
    this.#lose("the connection was closed");
  }

  #ping(): void {
    this.#timer = setTimeout(() => this.#lose("it no longer responds"), this.#timeouts.pong);
    this.#session.ping(() => {
      if (this.#lost) return;
      clearTimeout(this.#timer);
      this.#timer =
        this.#listeners.size > 0 ? setTimeout(() => this.#ping(), this.#timeouts.ping) : undefined;
    });
  }

  #lose(message: string): void {
    if (this.#lost) return;
    this.#lost = { code: Code.UNAVAILABLE, message };
    clearTimeout(this.#connecting);
    clearTimeout(this.#timer);
    for (const listener of [...this.#listeners]) listener.lose(this.#lost);
    this.#session.destroy();
    this.#socket.destroy();
  }
}

function openSocket(host: string, port: number, isSecure: boolean, tls: ServerAddress["tls"]): Socket {
  if (!isSecure) return process.getBuiltinModule("node:net").connect({ host, port });
  const { connect, createSecureContext } = process.getBuiltinModule("node:tls");
  let secureContext;
  try {
    secureContext = createSecureContext({ ...tls });
  } catch (error) {
    throw new RemoteError(`the certificates cannot be used: ${(error as Error).message}`);
  }
  return connect({
    host,
    port,
    servername: host,
    secureContext,
    ALPNProtocols: ["h2"],
    rejectUnauthorized: true,
  });
}

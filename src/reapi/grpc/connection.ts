// One connection to a server, for as many calls as it takes at a time: HTTP/2 as the engine has it.
//
// Contract: who the server is, is verified, whatever the environment says: of the variables that the engine would go by, some
// may come from a project's .env (NODE_TLS_REJECT_UNAUTHORIZED), and no proxy is asked. Headers that are configured, which may
// be credentials, are in no table that is kept of a connection. When it is lost, all of its calls are, at once; it is lost too
// when the server answers nothing any more, not even a ping.
//
// Surprising: windows are left as they are. With another one for the whole connection (setLocalWindowSize) the engine loses
// count, and a download of some megabytes never ends. And calls take turns to send: of hundreds that wait for the window of the
// connection, the engine lets later ones go first, and some never.
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
  /** Between pings, while calls are open. Servers close connections on which they come more often than every five minutes. */
  readonly ping: number;
  readonly pong: number;
}

/** Who is told that the connection is gone. */
export interface ConnectionListener {
  lose(status: GrpcStatus): void;
}

const LOST: GrpcStatus = { code: Code.UNAVAILABLE, message: "the connection was lost" };
const PATIENCE: ConnectionTimeouts = { connect: 20_000, ping: 310_000, pong: 20_000 };
const DEFAULT_PORTS: Readonly<Record<string, string>> = { "grpc:": "80", "grpcs:": "443" };
/** At a time, before a server has said how many it takes: any takes as many. */
const CALLS = 100;
/** Calls that send at a time. */
const SENDERS = 8;
/** Milliseconds without traffic after which the system asks whether the other end is there. */
const KEEP_ALIVE = 30_000;

export class Http2Connection {
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #patience: ConnectionTimeouts;
  readonly #followers = new Set<ConnectionListener>();
  readonly #connecting: ReturnType<typeof setTimeout>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** At a time. */
  #mostCalls = CALLS;
  readonly #waiting: ((done: () => void) => void)[] = [];
  #sending = 0;
  #isLeft = false;
  #lost: GrpcStatus | undefined;

  /** Throws RemoteError for certificates that are none. */
  constructor(address: ServerAddress, patience: ConnectionTimeouts = PATIENCE) {
    const { connect } = process.getBuiltinModule("node:http2");
    const { protocol, hostname, port } = new URL(address.url);
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    const place = `${hostname}:${port || DEFAULT_PORTS[protocol]}`;
    const isSecure = protocol === "grpcs:";
    this.#patience = patience;
    this.#socket = openSocket(host, Number(place.slice(hostname.length + 1)), isSecure, address.tls);
    this.#socket.setKeepAlive(true, KEEP_ALIVE);
    this.#session = connect(`${isSecure ? "https" : "http"}://${place}`, {
      createConnection: () => this.#socket,
      settings: { enablePush: false },
    });
    this.#connecting = setTimeout(() => this.#lose("it does not answer"), patience.connect);
    this.#session.once("connect", () => clearTimeout(this.#connecting));
    this.#session.on("error", (error: Error) => this.#lose(error.message));
    this.#session.on("close", () => this.#lose("the connection was lost"));
    this.#session.on("goaway", () => (this.#isLeft = true));
    this.#session.on("remoteSettings", ({ maxConcurrentStreams: most }) => {
      this.#mostCalls = (most as number | undefined) ?? Number.POSITIVE_INFINITY;
    });
  }

  /** Whether another call may begin on it. */
  get takesCalls(): boolean {
    const { closed, destroyed } = this.#session;
    return !this.#lost && !this.#isLeft && !closed && !destroyed && this.#followers.size < this.#mostCalls;
  }

  /** Why there is none any more. Its calls may hear of it first, as of something that the server has cancelled. */
  get lost(): GrpcStatus | undefined {
    if (!this.#lost && (this.#session.destroyed || this.#socket.destroyed)) return LOST;
    return this.#lost;
  }

  /** Throws RemoteError. */
  open(
    headers: OutgoingHttpHeaders,
    secret: readonly string[],
    follower: ConnectionListener,
  ): ClientHttp2Stream {
    const { sensitiveHeaders } = process.getBuiltinModule("node:http2");
    let stream;
    try {
      stream = this.#session.request({ ...headers, [sensitiveHeaders]: [...secret] });
    } catch (error) {
      throw new RemoteError((error as Error).message, Code.UNAVAILABLE);
    }
    this.#followers.add(follower);
    this.#timer ??= setTimeout(() => this.#ping(), this.#patience.ping);
    return stream;
  }

  /** @param send is called when it is its turn, and calls `done` when all is sent, or will not be */
  takeTurn(send: (done: () => void) => void): void {
    this.#waiting.push(send);
    if (this.#sending < SENDERS) this.#giveTurn();
  }

  #giveTurn(): void {
    const send = this.#waiting.shift();
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

  /** The follower's call is over. */
  leave(follower: ConnectionListener): void {
    this.#followers.delete(follower);
    if (this.#followers.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isLeft) this.close();
  }

  close(): void {
    this.#lose("the connection was closed");
  }

  #ping(): void {
    this.#timer = setTimeout(() => this.#lose("it does not answer any more"), this.#patience.pong);
    this.#session.ping(() => {
      if (this.#lost) return;
      clearTimeout(this.#timer);
      this.#timer =
        this.#followers.size > 0 ? setTimeout(() => this.#ping(), this.#patience.ping) : undefined;
    });
  }

  #lose(message: string): void {
    if (this.#lost) return;
    this.#lost = { code: Code.UNAVAILABLE, message };
    clearTimeout(this.#connecting);
    clearTimeout(this.#timer);
    for (const follower of [...this.#followers]) follower.lose(this.#lost);
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

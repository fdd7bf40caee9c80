// The HTTP and WebSocket server of --inspect: /json/version, /json/list, /json/protocol, and one path per protocol. It runs in
// a separate thread, so it responds while the program is paused.
//
// Non-obvious:
// - Both protocols use one port, because --inspect specifies one. Messages of Web Inspector are forwarded unchanged.
import { type InspectAddress, bracket } from "./address.ts";
import { isHostAllowed, isOriginAllowed } from "./access-control.ts";
import { restore } from "./multi-client.ts";
import { enable } from "../domains/debugger-domain.ts";
import { openRaw, quiet } from "../engine-connection.ts";
import { describeProtocol } from "../domains/commands.ts";
import { BLACKBOX_OWN } from "../domains/scripts.ts";
import { type Client, openSession } from "./client.ts";
import type { DebuggedProgram } from "./session.ts";

export interface Serving {
  /** Sends the last messages to the connected clients before the program exits. */
  conclude(): Promise<void>;
  /** URLs for the Chrome DevTools Protocol and for Web Inspector. */
  readonly urls: { readonly chrome: string; readonly webkit: string };
}

interface DebuggerSocket {
  readonly isWebKit: boolean;
  /** Messages that arrived before the connection to the engine was open. */
  early: string[];
  client?: Client;
  isClosed: boolean;
}

/** IDs of requests that rt itself sends on a Web Inspector connection. The response to the last one starts the program. */
const OWN_ID = 2 ** 31 - 2;
const LAST_OWN_ID = OWN_ID + 1;

/** Starts the server. @throws the system's error, for example if the address is in use */
export function serve(address: InspectAddress, socket: string, program: DebuggedProgram): Serving {
  const id = crypto.randomUUID();
  const paths = { chrome: `/${id}`, webkit: address.path ?? `/${crypto.randomUUID()}` };
  const [first, ...others] = address.hostnames as [string, ...string[]];
  const options = (hostname: string, port: number) => ({
    hostname,
    port,
    reusePort: false,
    fetch: (request: Request, server: Bun.Server<DebuggerSocket>) => respond(request, server),
    websocket: {
      idleTimeout: 0,
      maxPayloadLength: 1 << 30,
      backpressureLimit: 1 << 30,
      open: (peer: Bun.ServerWebSocket<DebuggerSocket>) => void open(peer, socket, program, clients),
      message: (peer: Bun.ServerWebSocket<DebuggerSocket>, message: string | Buffer) => {
        const { data } = peer;
        if (data.client) data.client.receive(String(message));
        else data.early.push(String(message));
      },
      close: ({ data }: Bun.ServerWebSocket<DebuggerSocket>) => {
        data.isClosed = true;
        if (data.client) clients.delete(data.client);
        data.client?.close();
      },
    },
  });
  const clients = new Set<Client>();
  const server = Bun.serve<DebuggerSocket>(options(first, address.port));
  const port = server.port!;
  for (const hostname of others) {
    try {
      Bun.serve<DebuggerSocket>(options(hostname, port));
    } catch {
      // The machine may not have IPv6.
    }
  }

  function respond(request: Request, receiver: Bun.Server<DebuggerSocket>): Response | undefined {
    const { headers, method, url } = request;
    // Not parsed as a URL, because the host is an untrusted header value.
    const pathname = url.replace(/^\w+:\/\/[^/]*/, "").replace(/\?.*/, "");
    const host = headers.get("host");
    const isWebKit = pathname === paths.webkit;
    if (!isHostAllowed(host, address.hostnames)) return new Response(null, { status: 400 });
    if (!isOriginAllowed(headers.get("origin"), isWebKit)) return new Response(null, { status: 403 });
    if (method !== "GET") return new Response(null, { status: 405 });
    switch (pathname) {
      case "/json/version":
        return Response.json({ Browser: `rt/${Bun.version}`, "Protocol-Version": "1.3" });
      case "/json":
      case "/json/list":
        return Response.json([describeTarget(id, host!, program)]);
      case "/json/protocol":
        return Response.json(describeProtocol());
    }
    if (!isWebKit && pathname !== paths.chrome) return new Response(null, { status: 404 });
    const data: DebuggerSocket = { isWebKit, early: [], isClosed: false };
    return receiver.upgrade(request, { data }) ? undefined : new Response(null, { status: 426 });
  }

  const base = `ws://${bracket(first)}:${port}`;
  return {
    urls: { chrome: base + paths.chrome, webkit: base + paths.webkit },
    async conclude() {
      if (clients.size > 0) await quiet();
      for (const client of clients) client.conclude();
    },
  };
}

function describeTarget(id: string, host: string, { title }: DebuggedProgram): object {
  const address = `${host}/${id}`;
  const frontEnd = (page: string) =>
    `devtools://devtools/bundled/${page}.html?experiments=true&v8only=true&ws=${address}`;
  return {
    description: "node.js instance",
    devtoolsFrontendUrl: frontEnd("js_app"),
    devtoolsFrontendUrlCompat: frontEnd("inspector"),
    id,
    title,
    type: "node",
    url: `file://${title}`,
    webSocketDebuggerUrl: `ws://${address}`,
  };
}

async function open(
  peer: Bun.ServerWebSocket<DebuggerSocket>,
  socket: string,
  program: DebuggedProgram,
  clients: Set<Client>,
): Promise<void> {
  const { data } = peer;
  const send = (text: string) => void peer.sendText(text);
  const end = () => peer.close();
  try {
    const client = data.isWebKit
      ? await forward(socket, program, send, end)
      : await openSession(socket, program, send, end);
    if (data.isClosed) return client.close();
    for (const text of data.early) client.receive(text);
    data.client = client;
    clients.add(client);
  } catch {
    peer.close(1011, "The program's debugger does not respond");
  }
}

/** Forwards messages of a Web Inspector client to the engine. rt, not the engine, delays the program until the client is ready. */
async function forward(
  path: string,
  program: DebuggedProgram,
  send: (text: string) => void,
  end: () => void,
): Promise<Client> {
  // Otherwise the engine decrements its reference count twice on disconnect, and exits although the program has work.
  const engine = await openRaw(path, { "Ref-Event-Loop": "0" });
  engine.onmessage = ({ data }) => {
    const text = String(data);
    if (text.endsWith(`"id":${LAST_OWN_ID}}`)) program.start();
    else if (!text.endsWith(`"id":${OWN_ID}}`)) send(text);
  };
  engine.onclose = () => {
    restore(program, enable);
    end();
  };
  return {
    receive(text) {
      engine.send(text);
      if (!program.isWaiting || !text.includes("Inspector.initialized")) return;
      const request = (id: number, method: string, params: object = {}) =>
        engine.send(JSON.stringify({ id, method, params }));
      request(OWN_ID, "Debugger.setShouldBlackboxURL", BLACKBOX_OWN);
      // The program starts after the engine has processed all earlier requests.
      request(LAST_OWN_ID, program.stopsAtFirst ? "Debugger.pause" : "Runtime.enable");
    },
    conclude() {},
    close: () => engine.close(),
  };
}

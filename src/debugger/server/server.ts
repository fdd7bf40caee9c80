// The address that --inspect prints: /json/version, /json/list and /json/protocol, and two paths to connect to, one for
// each protocol. Runs in a thread of its own, so it answers while the program stands still.
//
// One port for both, since it is what --inspect names, and a client of either finds its path there. What comes for Web
// Inspector is handed on as it is.
import { type InspectAddress, bracket } from "./address.ts";
import { isHostAllowed, isOriginAllowed } from "./access-control.ts";
import { restore } from "./multi-client.ts";
import { enable } from "../domains/debugger-domain.ts";
import { openRaw, quiet } from "../engine-connection.ts";
import { describeProtocol } from "../domains/commands.ts";
import { PASS_OWN } from "../domains/scripts.ts";
import { type Client, openSession } from "./client.ts";
import type { DebuggedProgram } from "./session.ts";

export interface Serving {
  /** For the clients that there are: what the program has said last, and that it ends. */
  conclude(): Promise<void>;
  /** That of Chrome's protocol, and that of Web Inspector. */
  readonly urls: { readonly chrome: string; readonly webkit: string };
}

interface DebuggerSocket {
  readonly isWebKit: boolean;
  /** What has come before the engine has answered. */
  early: string[];
  client?: Client;
  isClosed: boolean;
}

/** The ids of messages that are not the client's own: those that nobody waits for, and the last of them. */
const OWN_ID = 2 ** 31 - 2;
const LAST_OWN_ID = OWN_ID + 1;

/** Throws the system's error where the address is taken. */
export function serve(address: InspectAddress, socket: string, program: DebuggedProgram): Serving {
  const id = crypto.randomUUID();
  const paths = { chrome: `/${id}`, webkit: address.path ?? `/${crypto.randomUUID()}` };
  const [first, ...others] = address.hostnames as [string, ...string[]];
  const options = (hostname: string, port: number) => ({
    hostname,
    port,
    reusePort: false,
    fetch: (request: Request, server: Bun.Server<DebuggerSocket>) => answer(request, server),
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
      // A machine may be without IPv6.
    }
  }

  function answer(request: Request, answering: Bun.Server<DebuggerSocket>): Response | undefined {
    const { headers, method, url } = request;
    // Not parsed: it has what the client calls this host.
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
    return answering.upgrade(request, { data }) ? undefined : new Response(null, { status: 426 });
  }

  const place = `ws://${bracket(first)}:${port}`;
  return {
    urls: { chrome: place + paths.chrome, webkit: place + paths.webkit },
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
      ? await handOn(socket, program, send, end)
      : await openSession(socket, program, send, end);
    if (data.isClosed) return client.close();
    for (const text of data.early) client.receive(text);
    data.client = client;
    clients.add(client);
  } catch {
    peer.close(1011, "The program's debugger does not answer");
  }
}

/** A client of WebKit's protocol. The engine does not wait for its first command; rt does. */
async function handOn(
  path: string,
  program: DebuggedProgram,
  send: (text: string) => void,
  end: () => void,
): Promise<Client> {
  // Otherwise the engine counts each that goes twice, and ends a program that has work to do.
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
      const ask = (id: number, method: string, params: object = {}) =>
        engine.send(JSON.stringify({ id, method, params }));
      ask(OWN_ID, "Debugger.setShouldBlackboxURL", PASS_OWN);
      // The program goes when the engine has done what came before.
      ask(LAST_OWN_ID, program.stopsAtFirst ? "Debugger.pause" : "Runtime.enable");
    },
    conclude() {},
    close: () => engine.close(),
  };
}

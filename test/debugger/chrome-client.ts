// A client of Chrome's protocol, as little as a test needs of one. Lines are those of the file, counted from 1 as people do.
import { type Live, startLive } from "../options/live.ts";
import type { Project } from "../support/project.ts";
import type { Environment } from "../support/rt.ts";

export interface ChromeClient extends Disposable {
  send(method: string, params?: object): Promise<any>;
  /** The next event of this name that was not taken yet. */
  event(method: string, accept?: (params: any) => boolean): Promise<any>;
  readonly closed: Promise<void>;
  kill(): void;
}

export async function openChrome(url: string, headers: Record<string, string> = {}): Promise<ChromeClient> {
  const socket = new WebSocket(url, { headers } as unknown as string[]);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error(`no debugger at ${url}`));
  });
  const closed = Promise.withResolvers<void>();
  const answers = new Map<number, PromiseWithResolvers<any>>();
  const events: { method: string; params: any }[] = [];
  let arrived = Promise.withResolvers<void>();
  let lastId = 0;
  socket.onclose = () => {
    closed.resolve();
    for (const answer of answers.values()) answer.reject(new Error("the debugger has closed"));
  };
  socket.onmessage = ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(String(data));
    if (id === undefined) {
      events.push({ method, params });
      arrived.resolve();
      arrived = Promise.withResolvers();
      return;
    }
    if (error) answers.get(id)?.reject(new Error(error.message));
    else answers.get(id)?.resolve(result);
    answers.delete(id);
  };
  return {
    send(method, params = {}) {
      const answer = Promise.withResolvers<any>();
      answer.promise.catch(() => {});
      answers.set((lastId += 1), answer);
      socket.send(JSON.stringify({ id: lastId, method, params }));
      return answer.promise;
    },
    async event(method, accept = () => true) {
      for (;;) {
        const index = events.findIndex((each) => each.method === method && accept(each.params));
        if (index >= 0) return events.splice(index, 1)[0]!.params;
        await arrived.promise;
      }
    },
    closed: closed.promise,
    kill: () => (socket as WebSocket & { terminate(): void }).terminate(),
    [Symbol.dispose]: () => socket.close(),
  };
}

export interface Debugged {
  readonly live: Live;
  readonly port: number;
  readonly url: string;
}

/** Starts rt and reads what it says of its debugger. */
export async function startDebugged(
  project: Project,
  args: readonly string[],
  env: Environment = {},
): Promise<Debugged> {
  const live = startLive({ args: [...args], cwd: project.path, env });
  // What the program says may come first: it passes none of it.
  const said = /(?=[^]*?Debugger listening on (ws:\/\/\S+:(\d+)\/[-\da-f]{36})\n)/;
  const [, url, port] = await live.see(said);
  return { live, port: Number(port), url: url! };
}

/** What every client enables; the answers are not waited for, as no client does. */
export function enable(client: ChromeClient): void {
  void client.send("Runtime.enable");
  void client.send("Debugger.enable");
}

export async function setBreakpoint(
  client: ChromeClient,
  url: string,
  line: number,
  condition = "",
): Promise<any> {
  return await client.send("Debugger.setBreakpointByUrl", {
    url,
    lineNumber: line - 1,
    columnNumber: 0,
    condition,
  });
}

/** Where it stopped, as `function:line`. */
export function placeOf({ callFrames: [top] }: any): string {
  return `${top.functionName}:${top.location.lineNumber + 1}`;
}

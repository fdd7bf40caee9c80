// Connects to a debugger over a WebSocket, in WebKit's or Chrome's protocol.

export interface Debugger extends Disposable {
  send(method: string, params?: object): Promise<any>;
  /** Resolves with the parameters of the next event of this name. */
  event(method: string, accept?: (params: any) => boolean): Promise<any>;
  readonly closed: Promise<void>;
  /** Closes the connection without a closing handshake. */
  kill(): void;
}

export async function openDebugger(url: string, headers: Record<string, string> = {}): Promise<Debugger> {
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

/** Sends what an editor sends over WebKit's protocol before it lets the program run. */
export async function attach(client: Debugger): Promise<void> {
  for (const domain of ["Inspector", "Runtime", "Console", "Debugger"]) void client.send(`${domain}.enable`);
  await client.send("Debugger.setPauseOnDebuggerStatements", { enabled: true });
  await client.send("Debugger.setBreakpointsActive", { active: true });
}

// A client of the debugger's protocol over a real WebSocket.

interface Message {
  id?: number;
  method?: string;
  params?: any;
  result?: any;
  error?: { message: string };
}

export interface Debugger extends Disposable {
  send(method: string, params?: object): Promise<any>;
  /** The next event of this name that was not taken yet. */
  event(method: string, accept?: (params: any) => boolean): Promise<any>;
}

/** Connects, and enables what every client enables. */
export async function openDebugger(url: string): Promise<Debugger> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error(`no debugger at ${url}`));
  });
  const answers = new Map<number, PromiseWithResolvers<any>>();
  const events: { method: string; params: any }[] = [];
  let arrived = Promise.withResolvers<void>();
  let lastId = 0;
  socket.onmessage = ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(String(data)) as Message;
    if (id !== undefined) {
      if (error) answers.get(id)?.reject(new Error(error.message));
      else answers.get(id)?.resolve(result);
    } else if (method) {
      events.push({ method, params });
      arrived.resolve();
      arrived = Promise.withResolvers();
    }
  };
  const client: Debugger = {
    send(method, params = {}) {
      const answer = Promise.withResolvers<any>();
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
    [Symbol.dispose]: () => socket.close(),
  };
  return client;
}

/** What an editor does before it lets the program go. */
export async function attach(client: Debugger): Promise<void> {
  for (const domain of ["Inspector", "Runtime", "Console", "Debugger"]) void client.send(`${domain}.enable`);
  await client.send("Debugger.setPauseOnDebuggerStatements", { enabled: true });
  await client.send("Debugger.setBreakpointsActive", { active: true });
}

// The engine's debugger, as one of its clients sees it: WebKit's protocol over a socket of the file system that only this
// user can reach (see run/engine/debugger.ts). Each connection is a session of its own, which the engine ends with it: a
// program that stands still goes on.
//
// Surprising: the engine gives each answer to all of its clients, whoever asked. So no two of ours ask under one number, nor
// under one that those of Web Inspector use, which count from 1.

export type Json = any; // oxlint-disable-line typescript/no-explicit-any -- messages of two protocols, checked by whoever reads them

export interface Backend {
  /** Rejects with the engine's words. */
  send(method: string, params?: Json): Promise<Json>;
  /** Whom it tells what the engine says unasked; nobody where the last has gone. */
  serve(client: Handlers | undefined): void;
  close(): void;
}

/** A number of 31 bits, which the engine takes. */
let lastId = 1_000_000_000;

/** When the engine last said anything to any client. */
let lastMessage = 0; // ms

/** What a program says in its last moment reaches its debugger later than the thread hears of the end. */
const QUIET = 10; // ms

/** Resolves when the engine has been silent for a while. */
export async function quiet(): Promise<void> {
  const since = performance.now();
  for (;;) {
    const left = QUIET - (performance.now() - Math.max(since, lastMessage));
    if (left <= 0) return;
    await Bun.sleep(left);
  }
}

export interface Handlers {
  readonly onEvent: (method: string, params: Json) => void;
  readonly onClose: () => void;
}

export async function connectBackend(path: string): Promise<Backend> {
  let client: Handlers | undefined;
  // A client does not keep a program from ending.
  const socket = await openRaw(path, { "Ref-Event-Loop": "0" });
  const waiting = new Map<number, PromiseWithResolvers<Json>>();
  socket.onmessage = ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(String(data));
    if (id === undefined) return client?.onEvent(method, params ?? {});
    const answer = waiting.get(id);
    waiting.delete(id);
    if (error) answer?.reject(new Error(String(error.message)));
    else answer?.resolve(result ?? {});
  };
  socket.addEventListener("message", () => (lastMessage = performance.now()));
  socket.onclose = () => {
    for (const answer of waiting.values()) answer.reject(new Error("The program has ended"));
    waiting.clear();
    client?.onClose();
  };
  return {
    send(method, params = {}) {
      const answer = Promise.withResolvers<Json>();
      // Nobody waits for some of them.
      answer.promise.catch(() => {});
      if (socket.readyState !== WebSocket.OPEN) {
        answer.reject(new Error("The program has ended"));
        return answer.promise;
      }
      waiting.set((lastId += 1), answer);
      socket.send(JSON.stringify({ id: lastId, method, params }));
      return answer.promise;
    },
    serve: (next) => void (client = next),
    close: () => socket.close(),
  };
}

/** A connection whose messages are somebody else's. */
export async function openRaw(path: string, headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws+unix://${path}`, { headers } as unknown as string[]);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("The engine's debugger does not answer"));
  });
  return socket;
}

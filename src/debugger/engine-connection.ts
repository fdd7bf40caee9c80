// Connects to the engine's debugger with WebKit's protocol, over a Unix socket that only this user can access (see
// ../runner/engine/debugger.ts). Each connection is a separate session. When it closes, a paused program resumes.
//
// Non-obvious:
// - The engine sends each response to all of its clients. So message IDs are unique over all connections, and far from those of
//   Web Inspector, which count from 1.

export type Json = any; // oxlint-disable-line typescript/no-explicit-any -- messages of two protocols, validated where they are used

export interface Backend {
  /** Sends a request. Rejects with the engine's error message. */
  send(method: string, params?: Json): Promise<Json>;
  /** Sets the receiver of events; undefined after its client disconnected. */
  serve(client: Handlers | undefined): void;
  close(): void;
}

/** The engine accepts IDs of up to 31 bits. */
let lastId = 1_000_000_000;

/** Time of the engine's last message to any client, in ms. */
let lastMessage = 0;

/** The program's last messages may arrive after the notification of its exit. */
const QUIET_MS = 10;

/** Resolves when the engine has sent nothing for QUIET_MS (debounce). */
export async function quiet(): Promise<void> {
  const since = performance.now();
  for (;;) {
    const remaining = QUIET_MS - (performance.now() - Math.max(since, lastMessage));
    if (remaining <= 0) return;
    await Bun.sleep(remaining);
  }
}

export interface Handlers {
  readonly onEvent: (method: string, params: Json) => void;
  readonly onClose: () => void;
}

export async function connectBackend(path: string): Promise<Backend> {
  let client: Handlers | undefined;
  // Unreferenced, so that a client does not keep the program's event loop alive.
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
      // Callers that ignore the result must not cause an unhandled rejection.
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

/** Opens a connection whose messages the caller handles. */
export async function openRaw(path: string, headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(`ws+unix://${path}`, { headers } as unknown as string[]);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("The engine's debugger does not respond"));
  });
  return socket;
}

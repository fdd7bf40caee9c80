// Executes commands inside the program for a client. These are profiles and heap snapshots, which the engine offers only in the
// process. It also adds bindings, by which the program calls a client. The engine's inspector module is loaded at first use.

/** Registered symbol of the global with this function. It is not enumerable and exists only with --inspect. */
export const AGENT_SYMBOL = "rt.debugger.ask";

/** Without a callback, the engine's post() returns the result synchronously. */
interface Session {
  connect(): void;
  post(method: string, params: object): object | undefined;
}

let session: Session | undefined;

/**
 * Executes a command and returns the result as JSON.
 * @param callBinding receives a binding's calls by the program
 * @throws the engine's error
 */
export function runInProcess(
  method: string,
  params: string,
  callBinding: (binding: string, payload: string) => void,
): string {
  // Chrome's format.
  if (method === "snapshot") return Bun.generateHeapSnapshot("v8");
  if (method === "bind") {
    const { name } = JSON.parse(params) as { name: string };
    const value = (payload: unknown) => {
      if (typeof payload !== "string")
        throw new TypeError("Invalid arguments: should be exactly one string.");
      callBinding(name, payload);
    };
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    return "{}";
  }
  if (!session) {
    session = new (process.getBuiltinModule("node:inspector").Session)() as unknown as Session;
    session.connect();
  }
  return JSON.stringify(session.post(method, JSON.parse(params) as object) ?? {});
}

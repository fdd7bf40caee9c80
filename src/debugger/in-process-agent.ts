// What is done inside the program on behalf of a client: profiles and snapshots, which the engine gives to the program
// itself alone, and functions by which it talks to a client. The engine's module is loaded when it is first asked for.

/** The registered symbol of the global under which the program has it. Not enumerable, and only there under --inspect. */
export const AGENT_SYMBOL = "rt.debugger.ask";

/** The engine answers at once where no callback is given. */
interface Session {
  connect(): void;
  post(method: string, params: object): object | undefined;
}

let session: Session | undefined;

/**
 * @param tell takes what the program says to what a client has put there under a name
 * @returns JSON. Throws the engine's error.
 */
export function ask(
  method: string,
  params: string,
  tell: (binding: string, payload: string) => void,
): string {
  // The same format as Chrome's own.
  if (method === "snapshot") return Bun.generateHeapSnapshot("v8");
  if (method === "bind") {
    const { name } = JSON.parse(params) as { name: string };
    const value = (payload: unknown) => {
      if (typeof payload !== "string")
        throw new TypeError("Invalid arguments: should be exactly one string.");
      tell(name, payload);
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

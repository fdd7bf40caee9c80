// One client of the Chrome DevTools Protocol (CDP), with a separate session in the engine. Handlers of commands are in the
// tables of ../domains; a handler returns the result or throws an error.
//
// Invariants:
// - Requests reach the engine in the order in which they arrived.
// - When the client disconnects, its breakpoints are removed and a paused program resumes.
import { connectBackend, type Json } from "../engine-connection.ts";
import { Breakpoints } from "../domains/breakpoints.ts";
import { COMMANDS } from "../domains/commands.ts";
import { removeClient } from "./multi-client.ts";
import { EVENTS } from "../domains/events.ts";
import { ScriptRegistry } from "../domains/scripts.ts";
import type { DebuggedProgram, ClientSession } from "./session.ts";

export interface Client {
  receive(text: string): void;
  /** Informs the client that the program exits. */
  conclude(): void;
  close(): void;
}

/** JSON-RPC error code for an unknown method. */
const METHOD_NOT_FOUND = -32_601;
const SERVER_ERROR = -32_000;

/**
 * Opens a session.
 * @param send sends a message to the client
 * @param end closes the client's connection
 */
export async function openSession(
  socket: string,
  program: DebuggedProgram,
  send: (text: string) => void,
  end: () => void,
): Promise<Client> {
  const handlers = {
    // An event handler fails only if the client or the program has disconnected.
    onEvent: (method: string, params: Json) =>
      void Promise.try(() => EVENTS[method]?.(params, session)).catch(() => {}),
    onClose: end,
  };
  const parked = program.parked.pop();
  // The response arrives after all pending events of the previous client, which are thus discarded.
  await parked?.send("Inspector.enable").catch(() => {});
  const backend = parked ?? (await connectBackend(socket));
  backend.serve(handlers);
  const scripts = new ScriptRegistry();
  const emit = (method: string, params: Json) => send(JSON.stringify({ method, params }));
  const session: ClientSession = {
    backend,
    scripts,
    breakpoints: new Breakpoints(backend, scripts, (breakpointId, location) =>
      emit("Debugger.breakpointResolved", { breakpointId, location }),
    ),
    program,
    emit,
    isStarting: false,
    starts: 0,
    isReporting: false,
    reported: new Set(),
    stops: { exceptions: "none", breakpoints: true, statements: true },
    asyncDepth: 0,
    scriptStartBreakpoints: new Set(),
    bindings: new Set(),
    blackboxed: new Map(),
    compiled: new Map(),
  };
  const onCall = (name: string, payload: string) => {
    if (session.bindings.has(name)) emit("Runtime.bindingCalled", { name, payload, executionContextId: 1 });
  };
  program.listeners.add(onCall);
  program.sessions.add(session);
  return {
    receive(text) {
      let message: Json;
      try {
        message = JSON.parse(text);
      } catch {
        return send(JSON.stringify({ error: { code: -32_700, message: "Message must be a valid JSON" } }));
      }
      void answer(message ?? {}, session).then((response) => send(JSON.stringify(response)));
    },
    conclude() {
      emit("Runtime.executionContextDestroyed", { executionContextId: 1, executionContextUniqueId: "rt.1" });
    },
    close() {
      program.listeners.delete(onCall);
      backend.serve(undefined);
      void removeClient(session).catch(() => {});
    },
  };
}

async function answer({ id, method, params, sessionId }: Json, session: ClientSession): Promise<Json> {
  const head = { id, ...(sessionId === undefined ? {} : { sessionId }) };
  if (!Object.hasOwn(COMMANDS, method))
    return { ...head, error: { code: METHOD_NOT_FOUND, message: `'${method}' wasn't found` } };
  try {
    // Awaited only if pending: an await delays this command, so later ones could overtake it.
    if (session.enabling) await session.enabling;
    return { ...head, result: (await COMMANDS[method]!(params ?? {}, session)) ?? {} };
  } catch (error) {
    return { ...head, error: { code: SERVER_ERROR, message: (error as Error).message } };
  }
}

// One client of Chrome's protocol, with a session of its own in the engine. Commands are looked up in the tables of their
// domains; each answers what goes back, or throws what is wrong.
//
// Contract: requests reach the engine in the order in which they came. When the client goes, its breakpoints go with it
// and a program that stands still goes on.
import { connectBackend, type Json } from "../engine-connection.ts";
import { Breakpoints } from "../domains/breakpoints.ts";
import { COMMANDS } from "../domains/commands.ts";
import { removeClient } from "./multi-client.ts";
import { EVENTS } from "../domains/events.ts";
import { ScriptRegistry } from "../domains/scripts.ts";
import type { DebuggedProgram, ClientSession } from "./session.ts";

export interface Client {
  receive(text: string): void;
  /** The program is about to end. */
  conclude(): void;
  close(): void;
}

/** Chrome's number for a method that is not there. */
const NO_METHOD = -32_601;
const FAILED = -32_000;

/** @param send takes messages for the client, `end` ends its connection */
export async function openSession(
  socket: string,
  program: DebuggedProgram,
  send: (text: string) => void,
  end: () => void,
): Promise<Client> {
  const handlers = {
    // What fails of it, fails because the client or the program has gone.
    onEvent: (method: string, params: Json) =>
      void Promise.try(() => EVENTS[method]?.(params, session)).catch(() => {}),
    onClose: end,
  };
  const parked = program.parked.pop();
  // What it has been told meanwhile, and is still on the way, is over: an answer comes behind all of that.
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
    told: new Set(),
    stops: { exceptions: "none", breakpoints: true, statements: true },
    asyncDepth: 0,
    beginnings: new Set(),
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
      void answer(message ?? {}, session).then((reply) => send(JSON.stringify(reply)));
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
    return { ...head, error: { code: NO_METHOD, message: `'${method}' wasn't found` } };
  try {
    // Not for nothing: the first of several that come at once would let the others pass.
    if (session.enabling) await session.enabling;
    return { ...head, result: (await COMMANDS[method]!(params ?? {}, session)) ?? {} };
  } catch (error) {
    return { ...head, error: { code: FAILED, message: (error as Error).message } };
  }
}

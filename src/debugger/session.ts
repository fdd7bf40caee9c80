// One client of Chrome's protocol, with a session of its own in the engine. Commands are looked up in the tables of their
// domains; each answers what goes back, or throws what is wrong.
//
// Contract: requests reach the engine in the order in which they came. When the client goes, its breakpoints go with it
// and a program that stands still goes on.
import { type Backend, connectBackend, type Json } from "./backend.ts";
import { Breakpoints } from "./breakpoints.ts";
import { COMMANDS } from "./commands.ts";
import type { Coverage } from "./coverage.ts";
import { EVENTS } from "./events.ts";
import type { Pause } from "./pause.ts";
import { Scripts } from "./scripts.ts";

/** What all sessions share. */
export interface Program {
  /** For lists of targets. */
  readonly title: string;
  /** Whether the first line is to be stopped at. */
  readonly stopsAtFirst: boolean;
  readonly isWaiting: boolean;
  /** From when on the next statement is the program's, if it waits. */
  readonly loaded: Promise<void>;
  /** Lets it go, if it waits. */
  start(): void;
  /** Who is told when the program calls what Runtime.addBinding has put there. */
  readonly listeners: Set<(name: string, payload: string) => void>;
}

export interface Session {
  readonly backend: Backend;
  readonly scripts: Scripts;
  readonly breakpoints: Breakpoints;
  readonly program: Program;
  emit(method: string, params: Json): void;
  /** While the program stands still. */
  pause?: Pause | undefined;
  /** Whether the next stop is that at the first line, which the client may not have asked for. */
  isStarting: boolean;
  /** That the engine has told of the scripts there are: what comes behind it waits for that. */
  enabling?: Promise<unknown> | undefined;
  isReporting: boolean;
  /** How many of those that wait for a function the client wants to see. */
  asyncDepth: number;
  coverage?: Coverage | undefined;
  /** The breakpoints that stop each new script before its first line. */
  readonly beginnings: Set<string>;
  readonly bindings: Set<string>;
  readonly blackboxed: Map<string, boolean>;
  blackbox?: RegExp | undefined;
  readonly compiled: Map<string, string>;
  /** The last message on the console: the engine says only that it came again. */
  lastMessage?: Json;
}

export type Command = (params: Json, session: Session) => Json;
export type Commands = Readonly<Record<string, Command>>;
export type Events = Readonly<Record<string, (params: Json, session: Session) => void | Promise<void>>>;

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
  program: Program,
  send: (text: string) => void,
  end: () => void,
): Promise<Client> {
  const backend = await connectBackend(socket, {
    // What fails of it, fails because the client or the program has gone.
    onEvent: (method, params) => void Promise.try(() => EVENTS[method]?.(params, session)).catch(() => {}),
    onClose: end,
  });
  const scripts = new Scripts();
  const emit = (method: string, params: Json) => send(JSON.stringify({ method, params }));
  const session: Session = {
    backend,
    scripts,
    breakpoints: new Breakpoints(backend, scripts, (breakpointId, location) =>
      emit("Debugger.breakpointResolved", { breakpointId, location }),
    ),
    program,
    emit,
    isStarting: false,
    isReporting: false,
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
      // Those of the engine are all its clients'.
      void session.breakpoints.removeAll().finally(() => backend.close());
    },
  };
}

async function answer({ id, method, params, sessionId }: Json, session: Session): Promise<Json> {
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

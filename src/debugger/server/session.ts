// Defines the state of one client that its commands and events share, and the type of a command.
import type { Backend, Json } from "../engine-connection.ts";
import type { Breakpoints } from "../domains/breakpoints.ts";
import type { Pause } from "../domains/call-frames.ts";
import type { ScriptRegistry } from "../domains/scripts.ts";

/** State shared by all sessions. */
export interface DebuggedProgram {
  /** Shown in target lists. */
  readonly title: string;
  /** Whether the program pauses at its first line. */
  readonly stopsAtFirst: boolean;
  readonly isWaiting: boolean;
  /** Resolves when rt's modules are loaded, so that the next statement is the program's. */
  readonly loaded: Promise<void>;
  /** Starts the program if it waits. */
  start(): void;
  /** Called when the program calls a function added by Runtime.addBinding. */
  readonly listeners: Set<(name: string, payload: string) => void>;
  /** Sessions of the Chrome DevTools Protocol. */
  readonly sessions: Set<ClientSession>;
  /** Open connections of disconnected clients (see multi-client.ts). */
  readonly parked: Backend[];
  /** The last time that the engine's debugger was disabled. Enabling waits for it: each connection has its own order. */
  disabling?: Promise<unknown> | undefined;
}

export interface ClientSession {
  readonly backend: Backend;
  readonly scripts: ScriptRegistry;
  readonly breakpoints: Breakpoints;
  readonly program: DebuggedProgram;
  emit(method: string, params: Json): void;
  /** Set while the program is paused. */
  pause?: Pause | undefined;
  /** Whether the next pause may be one before the entry point (see ../entry-pauses.ts). */
  isStarting: boolean;
  /** Number of such pauses. */
  starts: number;
  /** Resolves when the engine has reported the existing scripts; later commands wait for it. */
  enabling?: Promise<unknown> | undefined;
  isReporting: boolean;
  /** IDs of scripts already reported to the client: the engine reports them again. */
  readonly reported: Set<string>;
  readonly stops: PauseSettings;
  /** Maximum number of async callers that the client requests. */
  asyncDepth: number;
  coverage?: Coverage | undefined;
  /** Breakpoints that pause each new script before its first line. */
  readonly scriptStartBreakpoints: Set<string>;
  readonly bindings: Set<string>;
  readonly blackboxed: Map<string, boolean>;
  blackbox?: RegExp | undefined;
  readonly compiled: Map<string, string>;
  /** The last console message: for a repetition the engine sends only a count. */
  lastMessage?: Json;
}

export interface PauseSettings {
  /** The engine's values: none, uncaught, all. */
  exceptions: string;
  breakpoints: boolean;
  statements: boolean;
}

/** Execution counts since the client started coverage. */
export interface Coverage {
  readonly isCounting: boolean;
  /** Counts already returned, by script and block. */
  readonly returned: Map<string, number>;
}

export type CdpHandler = (params: Json, session: ClientSession) => Json;
export type Commands = Readonly<Record<string, CdpHandler>>;
export type Events = Readonly<Record<string, (params: Json, session: ClientSession) => void | Promise<void>>>;

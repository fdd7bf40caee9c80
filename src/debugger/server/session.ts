// What the commands and events of one client know of each other, and what a command is.
import type { Backend, Json } from "../engine-connection.ts";
import type { Breakpoints } from "../domains/breakpoints.ts";
import type { Pause } from "../domains/call-frames.ts";
import type { ScriptRegistry } from "../domains/scripts.ts";

/** What all sessions share. */
export interface DebuggedProgram {
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
  /** Of Chrome's protocol. */
  readonly sessions: Set<ClientSession>;
  /** Connections of those who have gone. */
  readonly parked: Backend[];
}

export interface ClientSession {
  readonly backend: Backend;
  readonly scripts: ScriptRegistry;
  readonly breakpoints: Breakpoints;
  readonly program: DebuggedProgram;
  emit(method: string, params: Json): void;
  /** While the program stands still. */
  pause?: Pause | undefined;
  /** Whether the next stop may be one that is only there to set breakpoints in time, as before the first line. */
  isStarting: boolean;
  /** How many of these there were. */
  starts: number;
  /** That the engine has told of the scripts there are: what comes behind it waits for that. */
  enabling?: Promise<unknown> | undefined;
  isReporting: boolean;
  /** The scripts that the client knows of: the engine tells of them again. */
  readonly told: Set<string>;
  /** What it wants to be stopped at. */
  readonly stops: Stops;
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

export interface Stops {
  /** In the engine's words: none, uncaught, all. */
  exceptions: string;
  breakpoints: boolean;
  /** Those named `debugger`. */
  statements: boolean;
}

/** Which code has run since a client asked for it. */
export interface Coverage {
  readonly isCounting: boolean;
  /** What was taken, by script and block. */
  readonly taken: Map<string, number>;
}

export type CdpHandler = (params: Json, session: ClientSession) => Json;
export type Commands = Readonly<Record<string, CdpHandler>>;
export type Events = Readonly<Record<string, (params: Json, session: ClientSession) => void | Promise<void>>>;

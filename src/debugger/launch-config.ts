// Defines the debugger's launch configuration, which rt passes to the preload in a variable that the program does not see.
import type { InspectAddress } from "./server/address.ts";
import type { EditorOptions } from "./editor/editor.ts";

export const LAUNCH_VARIABLE = "RT_DEBUGGER";

/** The variable in which an editor passes its options (see editor.ts). */
export const EDITOR_VARIABLE = "VSCODE_INSPECTOR_OPTIONS";

/**
 * The port of a debugged program, for its child processes. `fork` and `cluster` pass on process.execArgv, but the port is in
 * use by the parent.
 */
export const PORT_VARIABLE = "RT_DEBUGGER_PORT";

/** Registered symbol of a global: a promise that resolves when the program may start. */
export const READY_SYMBOL = "rt.debugger";

export interface DebuggerLaunchConfig {
  readonly address?: InspectAddress;
  /** Editor that attaches to the program. */
  readonly editor?: EditorOptions;
  /** Path of the engine's debugger socket. */
  readonly socket: string;
  /** Whether the engine restarts with the same arguments, as --watch does. */
  readonly isRestart: boolean;
  /** Arguments that rt added for the debugger, and the one that replaces them for the runtime. */
  readonly added: readonly string[];
  readonly substitute: string;
  /** Variables with engine settings that rt has added, which are hidden from the program. */
  readonly engineVariables: readonly string[];
  /** File with the script of debugger-thread.ts. */
  readonly thread: string;
  /** Whether the program waits for a client before its first line, and whether it pauses there. */
  readonly isWaiting: boolean;
  readonly stopsAtFirst: boolean;
}

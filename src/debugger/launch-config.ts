// How a program is to be debugged: what rt tells the preload that it gives to the engine, in a variable which the program
// does not see.
import type { InspectAddress } from "./server/address.ts";
import type { EditorOptions } from "./editor/editor.ts";

export const LAUNCH_VARIABLE = "RT_DEBUGGER";

/**
 * The engine's switches by which hot functions are compiled in turn with the program, not beside it: a breakpoint that is set
 * meanwhile would end the program with SIGABRT ("but we are our own replacement"), one time in eight in a loop that has just
 * become hot. The dearest compiler is left out then, because everything would wait for it: a program as large as TypeScript's
 * compiler is as fast so as with both. What the user sets of these stays, and then rt sets none.
 */
export const STEADY = { BUN_JSC_useConcurrentJIT: "0", BUN_JSC_useFTLJIT: "0" } as const;

/** Where an editor leaves what it wants: see editor.ts. */
export const EDITOR_VARIABLE = "VSCODE_INSPECTOR_OPTIONS";

/**
 * The port of a program that is debugged, for what it starts: `fork` and `cluster` give their processes the same options, and
 * so does who passes process.execArgv on. The port is the first one's.
 */
export const PORT_VARIABLE = "RT_DEBUGGER_PORT";

/** The registered symbol of a global: a promise of the moment when the program may begin. */
export const READY_SYMBOL = "rt.debugger";

export interface DebuggerLaunchConfig {
  /** Where --inspect asks for one. */
  readonly address?: InspectAddress;
  /** The editor that is to be told. */
  readonly editor?: EditorOptions;
  /** Where the engine's own debugger is. */
  readonly socket: string;
  /** Whether the engine is started again with the same words, as --watch does. */
  readonly isAgain: boolean;
  /** The words that the engine was given for it, and what stands for them where the runtime looks for its own. */
  readonly added: readonly string[];
  readonly substitute: string;
  /** Whether STEADY is set by rt, and nothing that the program may see. */
  readonly isSteadied: boolean;
  /** The script of debugger-thread.ts. */
  readonly thread: string;
  /** Whether it waits for a debugger before its first line, and whether it stops there. */
  readonly isWaiting: boolean;
  readonly stopsAtFirst: boolean;
}

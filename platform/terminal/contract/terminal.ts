// The contract of redacted programs: rt receives a program's output first, through a pseudo-terminal or pipes.
import type { ChildExit } from "../../processes/contract/process-tree.ts";

/**
 * The target of a standard descriptor of the program:
 * - "terminal": a pseudo-terminal with the size and modes of rt's terminal; rt forwards typed keys to it
 * - "pipe": a pipe to rt
 * - "joined": for standard error, the same pipe as standard output, which keeps the write order
 * - "own": rt's own descriptor
 */
export type StdioTarget = "terminal" | "pipe" | "joined" | "own";

export type StdioTargets = readonly [input: StdioTarget, output: StdioTarget, error: StdioTarget];

export interface RedactedSpawnRequest {
  /** Absolute path of the program. */
  readonly program: string;
  /** All arguments, including argv[0]. */
  readonly argv: readonly string[];
  /** Variables to set or, if undefined, to remove. All others are those that rt was started with. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The program is rt as the engine. This and `serve` are described at `replace` in process.ts. */
  readonly engine?: boolean | undefined;
  readonly serve?: ((pid: number) => void) | undefined;
  /** Called while the program starts, to prepare the redaction concurrently. */
  onStarting(): void;
  /** Receives output. The bytes are valid during the call only; a promise delays the next chunk of the same descriptor. */
  onOutput(descriptor: 1 | 2, bytes: Uint8Array): void | Promise<void>;
  /** Shows delivered output now, without waiting. */
  show(): void;
  /** The program has exited; its remaining output is still being delivered. */
  onExit(): void;
  /** Shows delivered output, before another process uses the terminal and at the end. */
  flush(): void | Promise<void>;
}

export interface RedactedChild {
  readonly pid: number;
  /** Resolves when the program has exited and its output has been shown. Never rejects because of the program. */
  readonly done: Promise<ChildExit>;
  /** Closes rt's end: the program's next write there fails. */
  hangUp(descriptor: 1 | 2): void;
}

/** A pseudo-terminal or pipes for a program, opened before its arguments and variables are known. */
export interface PreparedTerminal {
  /** Starts the program. May be called once. Returns the system's error code if it cannot be started. */
  attend(request: RedactedSpawnRequest): RedactedChild | string;
  /** Closes everything if no program will be started. */
  close(): void;
}

export interface TerminalOperations {
  readonly hasTerminals: boolean;
  /**
   * Returns the system's error code if descriptors or terminals are exhausted.
   *
   * @param descriptors further inherited descriptors
   */
  prepareTerminal(places: StdioTargets, descriptors: readonly number[]): PreparedTerminal | string;
}

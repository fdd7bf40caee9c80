// What rt needs of an operating system to stand between a program and what shows its output: a program whose output comes
// here first, on a terminal of its own where there is one to be had.
import type { ChildExit } from "../../processes/contract/process-tree.ts";

/**
 * What a standard descriptor is for the program:
 * - "terminal": a terminal that rt makes, as large and set as the one that rt is on; what is typed there goes on to it;
 * - "pipe": a pipe to rt;
 * - "joined": for standard error, the same pipe as standard output, so that what is written keeps its order;
 * - "own": what rt has there itself.
 */
export type StdioTarget = "terminal" | "pipe" | "joined" | "own";

export type StdioTargets = readonly [input: StdioTarget, output: StdioTarget, error: StdioTarget];

export interface RedactedSpawnRequest {
  /** Absolute path of the program. */
  readonly program: string;
  /** All arguments, argv[0] included. */
  readonly argv: readonly string[];
  /** Set or, with undefined, removed; everything else is what rt itself was started with. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The program is rt, started as the engine; this and `serve` as for `replace` of process.ts. */
  readonly engine?: boolean | undefined;
  readonly serve?: ((pid: number) => void) | undefined;
  /** The program is about to begin, which takes a while: what its output needs is made ready beside it. */
  onStarting(): void;
  /** The bytes are only valid during the call; a promise holds back the next ones of the same descriptor. */
  onOutput(descriptor: 1 | 2, bytes: Uint8Array): void | Promise<void>;
  /** What has been delivered is shown now, without waiting for anything. */
  show(): void;
  /** The program has ended; what it wrote is still being delivered. */
  onExit(): void;
  /** Shows what has been delivered, before the terminal gets other hands and at the end. */
  flush(): void | Promise<void>;
}

export interface RedactedChild {
  readonly pid: number;
  /** Settles when it has ended and what it wrote has been shown. Never rejects because of the program. */
  readonly done: Promise<ChildExit>;
  /** Nobody reads what it writes there any more: it learns so at its next write. */
  hangUp(descriptor: 1 | 2): void;
}

/** Where a program will run: what there is of it before it is known what the program is given. */
export interface PreparedTerminal {
  /** The program, there, once. Gives the system's error code where it cannot be started. */
  attend(request: RedactedSpawnRequest): RedactedChild | string;
  /** In place of that: there will be none. */
  close(): void;
}

export interface TerminalOperations {
  /** Whether a program can have a terminal of rt's. */
  readonly hasTerminals: boolean;
  /**
   * Gives the system's error code where there is no room for one.
   * @param descriptors what is handed on beyond the standard three
   */
  openStage(places: StdioTargets, descriptors: readonly number[]): PreparedTerminal | string;
}

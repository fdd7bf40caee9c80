// Chooses how a program with secrets gets its stdio, so that its output can be redacted:
//
//   exec       nothing to redact: rt becomes the program (exec)
//   pty        output goes to a terminal: the program gets a pseudo-terminal (pty)
//   pipes      otherwise: the program writes to pipes and stays in rt's process group
import { host } from "../../../platform/processes/process.ts";
import { outputs } from "../../../platform/terminal/output.ts";
import { terminals } from "../../../platform/terminal/terminal.ts";
import type { StdioTargets, PreparedTerminal } from "../../../platform/terminal/contract/terminal.ts";

export type StdioStrategy =
  { readonly kind: "exec" } | { readonly kind: "pty" | "pipes"; readonly places: StdioTargets };

export interface StdioFacts {
  readonly hasRedacted: boolean;
  /** For standard input, output and error. */
  readonly isTerminal: readonly [boolean, boolean, boolean];
  /** Whether stdout and stderr are the same file or pipe. */
  readonly isJoined: boolean;
  /** Whether the system supports pseudo-terminals. */
  readonly hasTerminals: boolean;
}

/** Pure. */
export function chooseStdioStrategy({
  hasRedacted,
  isTerminal,
  isJoined,
  hasTerminals,
}: StdioFacts): StdioStrategy {
  if (!hasRedacted) return { kind: "exec" };
  const [input, output, error] = isTerminal;
  if (!output && !error) return { kind: "pipes", places: ["own", "pipe", isJoined ? "joined" : "pipe"] };
  if (!hasTerminals) return { kind: "exec" };
  const place = (isOnTerminal: boolean) => (isOnTerminal ? "terminal" : "pipe");
  return { kind: "pty", places: [input ? "terminal" : "own", place(output), place(error)] };
}

/** For a program that is started by this process. */
export function chooseForProcess(isRedacted: boolean): StdioStrategy {
  const [input, output, error] = [host.isTerminal(0), host.isTerminal(1), host.isTerminal(2)];
  return chooseStdioStrategy({
    hasRedacted: isRedacted,
    isTerminal: [input, output, error],
    isJoined: !output && !error && outputs.areJoined(),
    hasTerminals: terminals.hasTerminals,
  });
}

/**
 * Opens the pseudo-terminal while secrets are being fetched; undefined if the strategy needs none, or on an error,
 * which is reported at the start.
 */
export function openEarly(descriptors: readonly number[]): PreparedTerminal | undefined {
  const strategy = chooseForProcess(true);
  const stage = strategy.kind === "pty" ? terminals.prepareTerminal(strategy.places, descriptors) : undefined;
  return typeof stage === "string" ? undefined : stage;
}

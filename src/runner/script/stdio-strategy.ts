// Where a program stands that gets secrets, so that no value is to be seen of what it shows:
//
//   become     nothing is to be kept out: rt becomes the program, as without secrets
//   terminal   output goes to a terminal: the program gets one of its own
//   pipes      it goes to none: the program writes to pipes, and stays in rt's process group
import { host } from "../../../platform/processes/process.ts";
import { outputs } from "../../../platform/terminal/output.ts";
import { terminals } from "../../../platform/terminal/terminal.ts";
import type { StdioTargets, PreparedTerminal } from "../../../platform/terminal/contract/terminal.ts";

export type StdioStrategy =
  { readonly way: "become" } | { readonly way: "terminal" | "pipes"; readonly places: StdioTargets };

export interface StdioFacts {
  readonly hasRedacted: boolean;
  /** Of standard input, output and error. */
  readonly isTerminal: readonly [boolean, boolean, boolean];
  /** Standard output and error are the same file or pipe. */
  readonly isJoined: boolean;
  /** Whether the system has terminals for rt to make. */
  readonly hasTerminals: boolean;
}

/** Pure. */
export function chooseStdioStrategy({
  hasRedacted,
  isTerminal,
  isJoined,
  hasTerminals,
}: StdioFacts): StdioStrategy {
  if (!hasRedacted) return { way: "become" };
  const [input, output, error] = isTerminal;
  if (!output && !error) return { way: "pipes", places: ["own", "pipe", isJoined ? "joined" : "pipe"] };
  if (!hasTerminals) return { way: "become" };
  const place = (isOnTerminal: boolean) => (isOnTerminal ? "terminal" : "pipe");
  return { way: "terminal", places: [input ? "terminal" : "own", place(output), place(error)] };
}

/** For a program that is started from here. */
export function planAttendance(isRedacted: boolean): StdioStrategy {
  const [input, output, error] = [host.isTerminal(0), host.isTerminal(1), host.isTerminal(2)];
  return chooseStdioStrategy({
    hasRedacted: isRedacted,
    isTerminal: [input, output, error],
    isJoined: !output && !error && outputs.areJoined(),
    hasTerminals: terminals.hasTerminals,
  });
}

/**
 * A terminal for the program before it is known what that is given, which is fetched meanwhile; undefined where it will have
 * none, or none of its own. There may be no room, which is said when it starts.
 */
export function openEarly(descriptors: readonly number[]): PreparedTerminal | undefined {
  const way = planAttendance(true);
  const stage = way.way === "terminal" ? terminals.prepareTerminal(way.places, descriptors) : undefined;
  return typeof stage === "string" ? undefined : stage;
}

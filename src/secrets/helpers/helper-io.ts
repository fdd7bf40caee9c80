// What a helper asks of its surroundings: a program at both ends, and a name by which that program can start rt.
import { realpathSync } from "node:fs";
import { host } from "../../../platform/processes/process.ts";
import { isTerminal } from "../streams.ts";
import { ArgumentError } from "../command-arguments.ts";

/** A value is not shown to whoever stands behind, nor typed where it is shown. Throws WordsError. */
export async function requireReader(what: string): Promise<void> {
  if (await isTerminal(1))
    throw new ArgumentError(
      `${what} is printed for a program, not to a terminal`,
      "rt secrets get shows a value",
    );
}

/** Throws WordsError. */
export async function requireWriter(tool: string): Promise<void> {
  if (await isTerminal(0))
    throw new ArgumentError(
      `Standard input is a terminal; ${tool} starts this and writes to it`,
      "rt secrets set stores a value that you type",
    );
}

/** This program: by the path in PATH where that is the same file, since it stays when rt is replaced. */
export function ownPath(): string {
  const found = Bun.which("rt", { PATH: host.originalVariable("PATH") ?? "" });
  if (found === null) return process.execPath;
  try {
    return realpathSync(found) === realpathSync(process.execPath) ? found : process.execPath;
  } catch {
    return process.execPath;
  }
}

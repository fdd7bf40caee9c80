// Checks that a program, not a terminal, is at both ends of a credential helper, and finds the path of rt to register.
import { realpathSync } from "node:fs";
import { host } from "../../../platform/processes/process.ts";
import { isTerminal } from "../streams.ts";
import { ArgumentError } from "../command-arguments.ts";

/** Rejects a terminal as standard output, where a value would be visible. @throws ArgumentError */
export async function requireReader(what: string): Promise<void> {
  if (await isTerminal(1))
    throw new ArgumentError(
      `${what} is printed for a program, not to a terminal`,
      "use rt secrets get to show a value",
    );
}

/** Rejects a terminal as standard input, which would echo a typed value. @throws ArgumentError */
export async function requireWriter(tool: string): Promise<void> {
  if (await isTerminal(0))
    throw new ArgumentError(
      `Standard input is a terminal; ${tool} starts this command and writes to it`,
      "use rt secrets set to store a typed value",
    );
}

/** Returns the path of rt: the entry in PATH if it is the same file, because it stays valid after an upgrade. */
export function ownPath(): string {
  const onPath = Bun.which("rt", { PATH: host.originalVariable("PATH") ?? "" });
  if (onPath === null) return process.execPath;
  try {
    return realpathSync(onPath) === realpathSync(process.execPath) ? onPath : process.execPath;
  } catch {
    return process.execPath;
  }
}

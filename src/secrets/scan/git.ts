// Runs git to list tracked and staged files.
//
// Invariants:
// - Programs that the repository's configuration names (file system monitor, external diff) are not started.
// - The environment is passed on, because git passes the index to a hook in variables.
import { host } from "../../../platform/processes/process.ts";
import { printable } from "../../printable.ts";
import { ArgumentError } from "../command-arguments.ts";

const SAFE_OPTIONS = ["-c", "core.fsmonitor=false", "--no-optional-locks", "--literal-pathspecs"];

/** Runs git and returns its output; undefined if git is missing or fails, for example outside a repository. */
export function runGit(args: readonly string[], input?: Uint8Array): Buffer | undefined {
  const git = Bun.which("git", { PATH: host.originalVariable("PATH") ?? "" });
  if (git === null) return undefined;
  const { stdout, exitCode } = Bun.spawnSync([git, ...SAFE_OPTIONS, ...args], {
    env: host.originalEnvironment(),
    stdin: input ?? "ignore",
    stderr: "ignore",
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  return exitCode === 0 ? stdout : undefined;
}

/** Runs git and returns its output. @throws ArgumentError if git is missing or fails */
export function requireGit(args: readonly string[], input?: Uint8Array): Buffer {
  const output = runGit(args, input);
  if (output) return output;
  throw new ArgumentError(
    `git ${printable(args[0]!)} failed`,
    "is git on PATH, and is this a repository that belongs to you?",
  );
}

/** Splits names that are terminated by NUL. */
export function splitNames(output: Buffer): string[] {
  return output.toString().split("\0").slice(0, -1);
}

// git, asked what it tracks and what it is about to commit.
//
// Contract: of what a repository's own configuration would start (the file system monitor, external diffs), nothing is.
// The environment is passed on, since git tells a hook by it which index is meant.
import { host } from "../../../platform/processes/process.ts";
import { printable } from "../../printable.ts";
import { ArgumentError } from "../command-arguments.ts";

const HARMLESS = ["-c", "core.fsmonitor=false", "--no-optional-locks", "--literal-pathspecs"];

/** Undefined where there is no git, or no repository. */
export function askGit(args: readonly string[], input?: Uint8Array): Buffer | undefined {
  const git = Bun.which("git", { PATH: host.originalVariable("PATH") ?? "" });
  if (git === null) return undefined;
  const { stdout, exitCode } = Bun.spawnSync([git, ...HARMLESS, ...args], {
    env: host.originalEnvironment(),
    stdin: input ?? "ignore",
    stderr: "ignore",
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  return exitCode === 0 ? stdout : undefined;
}

/** Throws WordsError. */
export function requireGit(args: readonly string[], input?: Uint8Array): Buffer {
  const answer = askGit(args, input);
  if (answer) return answer;
  throw new ArgumentError(
    `git ${printable(args[0]!)} has failed`,
    "is git on PATH, and is this a repository that belongs to you?",
  );
}

/** Names that end with NUL. */
export function splitNames(answer: Buffer): string[] {
  return answer.toString().split("\0").slice(0, -1);
}

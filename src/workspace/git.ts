// Runs git, without hooks and file system monitor of the repository.
import { errorReason } from "../../platform/caught-error.ts";
import { host } from "../../platform/processes/process.ts";
import { explainUnreadable } from "./package-json.ts";
import { UserError } from "../user-error.ts";

/** Runs git and returns its output. @param option the option that needs git, for messages @throws UserError */
export async function git(cwd: string, args: readonly string[], option: string): Promise<string> {
  const result = await runGit(cwd, args);
  if (typeof result === "string") return result;
  if ("code" in result) {
    const problem = result.code === "ENOENT" ? "no such program" : explainUnreadable(result.code);
    throw new UserError(`Cannot start git: ${problem}`, `install git, which ${option} needs`);
  }
  throw gitError(args[0]!, cwd, result.complaint, option);
}

/** Converts git's error to a UserError. @param complaint standard error; its line after "fatal:" is the reason */
function gitError(command: string, cwd: string, complaint: string, option: string): UserError {
  const lines = complaint.split("\n").map((line) => line.trim());
  const fatal = lines.findLast((line) => line.startsWith("fatal: "))?.slice("fatal: ".length);
  const reason = fatal ?? lines.findLast((line) => line !== "");
  const trust = lines.find((line) => line.startsWith("git config ") && line.includes("safe.directory"));
  let hint: string | undefined;
  if (trust !== undefined) hint = `another user owns the repository; if you trust it: ${trust}`;
  else if (reason?.startsWith("not a git repository"))
    hint = `${option === "--filter" ? "a git revision in --filter" : option} needs a git repository with a commit`;
  return new UserError(`git ${command} failed in ${cwd}${reason === undefined ? "" : `: ${reason}`}`, hint);
}

/**
 * Prevents code execution by a hostile repository: git starts the file system monitor before a comparison and a hook after
 * refreshing the index. A checkout may contain a bare repository with such a configuration.
 */
const SAFE_OPTIONS = [
  "--no-optional-locks",
  ...["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit"],
];

/** Counts a submodule with untracked files as changed, unless .gitmodules overrides it. */
const WHOLE_SUBMODULES = ["-c", "diff.ignoreSubmodules=none"];

/**
 * Runs git and returns its output; null if git is missing or fails.
 * @param isSuccess returns whether an exit code means success
 * @param input standard input
 */
export async function tryGit(
  cwd: string,
  args: readonly string[],
  isSuccess?: (code: number) => boolean,
  input?: string,
): Promise<string | null> {
  const result = await runGit(cwd, args, isSuccess, input);
  return typeof result === "string" ? result : null;
}

/** Runs git and returns its output, its standard error, or the system's error code if it cannot be started. */
async function runGit(
  cwd: string,
  args: readonly string[],
  isSuccess: (code: number) => boolean = (code) => code === 0,
  input?: string,
): Promise<string | { readonly complaint: string } | { readonly code: string }> {
  try {
    const child = Bun.spawn(["git", ...SAFE_OPTIONS, ...WHOLE_SUBMODULES, ...args], {
      cwd,
      env: { ...host.originalEnvironment(), LC_ALL: "C" }, // its errors are parsed
      stdin: input === undefined ? "ignore" : Buffer.from(input),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, complaint] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return isSuccess(await child.exited) ? output : { complaint };
  } catch (error) {
    return { code: errorReason(error) };
  }
}

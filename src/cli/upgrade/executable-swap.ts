// Replaces an executable, which may be running, with another one, and keeps the previous one for a rollback.
//
// Invariants:
// - Another process that starts rt gets the old or the new executable, complete: the rename within a directory is atomic.
// Non-obvious:
// - Windows can rename a running executable but not overwrite it, so for a short time none exists under the name.
import { spawnSync } from "node:child_process";
import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, parse } from "node:path";
import { errorCode, errorReason } from "../../../platform/caught-error.ts";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import { withStagingDirectory } from "./staging-directory.ts";

/** Returns `rt.previous`, or `rt.previous.exe` on Windows, which starts only files with that extension. */
function previousOf(program: string): string {
  const { name, ext } = parse(program);
  return ext === ".exe" ? join(dirname(program), `${name}.previous${ext}`) : `${program}.previous`;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Runs the executable with --version and returns its version.
 * @throws UserError if it does not start or prints no version
 */
export function readVersion(program: string, timeoutMs = DEFAULT_TIMEOUT_MS): string {
  const { stdout, status, signal, error } = spawnSync(program, ["--version"], {
    encoding: "utf8",
    timeout: timeoutMs,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "ignore"],
    windowsHide: true,
  });
  // The output is null for a program that cannot be started, which the types omit.
  const version = (stdout as string | null)?.trim() ?? "";
  if (status === 0 && /^\d+\.\d+\.\d+[\w.+-]*$/.test(version)) return version;
  const reason = errorCode(error) ?? signal ?? `exit code ${status}`;
  throw new UserError(
    `The new rt does not start on this machine (${status === 0 ? "it printed no version" : reason})`,
    "nothing was changed",
  );
}

/**
 * Renames the draft to the program, and the program to the previous one.
 * @param draft a file in the staging directory, which also receives temporary links
 * @throws UserError
 */
export function swap(draft: string, program: string): void {
  const previous = previousOf(program);
  try {
    // The link is created in the staging directory and renamed, so that a previous version exists at every moment.
    const link = `${draft}.previous`;
    linkSync(program, link);
    renameSync(link, previous);
    renameSync(draft, program);
  } catch {
    swapByRenaming(draft, program, previous);
  }
}

/** Fallback for file systems without hard links and for executables that cannot be overwritten. */
function swapByRenaming(draft: string, program: string, previous: string): void {
  try {
    rmSync(previous, { force: true });
    renameSync(program, previous);
  } catch (error) {
    throw cannotReplace(program, error);
  }
  try {
    renameSync(draft, program);
  } catch (error) {
    renameSync(previous, program);
    throw cannotReplace(program, error);
  }
}

function cannotReplace(program: string, error: unknown): UserError {
  return new UserError(`Cannot replace ${printable(program)} (${errorReason(error)})`);
}

/**
 * Swaps the previous and the current executable, so that a rollback can be undone as well. Returns the restored version.
 * @throws UserError
 */
export async function restore(program: string): Promise<string> {
  const previous = previousOf(program);
  if (!existsSync(previous))
    throw new UserError(`No previous version of ${printable(program)} exists`, "only rt upgrade creates one");
  const version = readVersion(previous);
  return await withStagingDirectory(program, (folder) => {
    const draft = join(folder, basename(program));
    stagePrevious(previous, draft, program);
    try {
      swap(draft, program);
    } catch (error) {
      renameSync(draft, previous);
      throw error;
    }
    return version;
  });
}

/** Links the previous executable to `draft`, so that it keeps its name until the swap. Renames it without hard links. */
function stagePrevious(previous: string, draft: string, program: string): void {
  try {
    linkSync(previous, draft);
  } catch {
    try {
      renameSync(previous, draft);
    } catch (error) {
      throw cannotReplace(program, error);
    }
  }
}

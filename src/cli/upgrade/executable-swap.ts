// Puts a program in the place of another, which may be running, and keeps the other.
//
// A rename within a directory is one step: whoever starts rt gets the old one or the new one, whole. Windows does not
// let a running program be overwritten, but lets it be renamed; there, for a moment, there is none.
import { spawnSync } from "node:child_process";
import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, parse } from "node:path";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import { inWorkspace } from "./staging-directory.ts";

/** `rt.previous`, and `rt.previous.exe`: Windows starts only what ends so. */
function previousOf(program: string): string {
  const { name, ext } = parse(program);
  return ext === ".exe" ? join(dirname(program), `${name}.previous${ext}`) : `${program}.previous`;
}

/** Milliseconds for a program to say its version. */
const PATIENCE = 30_000;

/**
 * @param patience milliseconds
 * @throws Failure when it does not start, or is something else than rt
 */
export function readVersion(program: string, patience = PATIENCE): string {
  const { stdout, status, signal, error } = spawnSync(program, ["--version"], {
    encoding: "utf8",
    timeout: patience,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "ignore"],
    windowsHide: true,
  });
  const version = stdout?.trim() ?? "";
  if (status === 0 && /^\d+\.\d+\.\d+[\w.+-]*$/.test(version)) return version;
  const reason = (error as NodeJS.ErrnoException | undefined)?.code ?? signal ?? `exit code ${status}`;
  throw new UserError(
    `The new rt does not start here (${status === 0 ? "it says no version" : reason})`,
    "nothing was changed",
  );
}

/**
 * The draft becomes the program, and the program the previous one.
 * @param draft in a folder of its own, where more can be put
 */
export function swap(draft: string, program: string): void {
  const previous = previousOf(program);
  try {
    // Made elsewhere first, so that there is a previous one at every moment.
    const kept = `${draft}.previous`;
    linkSync(program, kept);
    renameSync(kept, previous);
    renameSync(draft, program);
  } catch {
    swapByRenaming(draft, program, previous);
  }
}

/** Where there are no links, or the program cannot be overwritten. */
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
  return new UserError(`Cannot replace ${printable(program)} (${(error as NodeJS.ErrnoException).code})`);
}

/** The previous program and the present one change places, so that it can be undone too. */
export async function restore(program: string): Promise<string> {
  const previous = previousOf(program);
  if (!existsSync(previous))
    throw new UserError(`There is no earlier rt beside ${printable(program)}`, "an upgrade leaves one");
  const version = readVersion(previous);
  return await inWorkspace(program, (folder) => {
    const draft = join(folder, basename(program));
    takeUp(previous, draft, program);
    try {
      swap(draft, program);
    } catch (error) {
      renameSync(draft, previous);
      throw error;
    }
    return version;
  });
}

/** Where there are links, the previous one keeps its name until another gets it. */
function takeUp(previous: string, draft: string, program: string): void {
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

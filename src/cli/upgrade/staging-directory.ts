// The folder in which an upgrade makes what it will put in the place of the program: on the same file system, so that it
// gets there in one step.
//
// It is removed whatever happens, also by who ends rt with Ctrl-C, unless rt is killed outright. So its name has the process
// in it, and the next upgrade removes what belongs to no process any more.
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { onTermination } from "../../../platform/processes/termination-hook.ts";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import { isPidInUse } from "../../process-id.ts";

const NAME = ".rt-upgrade-";
const PATTERN = /^\.rt-upgrade-(\d+)-\w+$/;

const HINTS: Readonly<Record<string, string>> = {
  EACCES: "whoever installed rt there can upgrade it",
  EPERM: "whoever installed rt there can upgrade it",
  EROFS: "whoever installed rt there can upgrade it",
  ENOSPC: "nothing was changed; the disk is full",
  EDQUOT: "nothing was changed; the disk is full for this user",
  EFBIG: "nothing was changed; files may not grow as large here (ulimit -f)",
};

export function cannotWrite(directory: string, error: unknown): UserError {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return new UserError(
    `Cannot write to ${printable(directory)} (${code})`,
    HINTS[code] ?? "nothing was changed",
  );
}

/** What upgrades that were killed have left. */
function removeAbandoned(directory: string): void {
  for (const name of readdirSync(directory)) {
    const [, owner] = PATTERN.exec(name) ?? [];
    if (owner !== undefined && !isPidInUse(Number(owner)))
      rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Calls `work` with a folder beside the program, and removes it. */
export async function inWorkspace<Result>(
  program: string,
  work: (folder: string) => Result | Promise<Result>,
): Promise<Result> {
  const directory = dirname(program);
  let folder: string;
  try {
    removeAbandoned(directory);
    folder = mkdtempSync(join(directory, `${NAME}${process.pid}-`));
  } catch (error) {
    throw cannotWrite(directory, error);
  }
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const stopListening = onTermination(remove);
  try {
    return await work(folder);
  } finally {
    remove();
    stopListening();
  }
}

export interface StagedExecutable extends Disposable {
  write(bytes: Uint8Array): void;
  /** What was written is on the disk, and may be run as `mode` says. */
  finish(mode: number): void;
}

/** @throws Failure, also from its methods, when the file cannot be written */
export function createDraft(path: string): StagedExecutable {
  const attempt = <Result>(effect: () => Result): Result => {
    try {
      return effect();
    } catch (error) {
      throw cannotWrite(dirname(dirname(path)), error);
    }
  };
  const file = attempt(() => openSync(path, "wx", 0o600));
  return {
    write: (bytes) =>
      attempt(() => {
        for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      }),
    finish: (mode) =>
      attempt(() => {
        fchmodSync(file, mode);
        fsyncSync(file);
      }),
    [Symbol.dispose]: () => closeSync(file),
  };
}

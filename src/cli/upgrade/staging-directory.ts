// Creates the directory in which an upgrade prepares the new executable. It is beside the current one, on the same file system,
// so that a rename can replace it atomically.
//
// Invariants:
// - It is removed on every exit, also after Ctrl-C, except after SIGKILL.
// - Its name contains the process ID, so that the next upgrade removes directories whose process no longer exists.
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
import { errorCode } from "../../../platform/caught-error.ts";
import { onTermination } from "../../../platform/processes/termination-hook.ts";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import { isPidInUse } from "../../process-id.ts";

const NAME = ".rt-upgrade-";
const PATTERN = /^\.rt-upgrade-(\d+)-\w+$/;

const HINTS: Readonly<Record<string, string>> = {
  EACCES: "upgrade as the user who installed rt",
  EPERM: "upgrade as the user who installed rt",
  EROFS: "upgrade as the user who installed rt",
  ENOSPC: "nothing was changed; the disk is full",
  EDQUOT: "nothing was changed; the disk is full for this user",
  EFBIG: "nothing was changed; the file size limit is too low (ulimit -f)",
};

function cannotWrite(directory: string, error: unknown): UserError {
  const code = errorCode(error) ?? "";
  return new UserError(
    `Cannot write to ${printable(directory)} (${code})`,
    HINTS[code] ?? "nothing was changed",
  );
}

/** Removes the staging directories of killed upgrades. */
function removeAbandoned(directory: string): void {
  for (const name of readdirSync(directory)) {
    const [, owner] = PATTERN.exec(name) ?? [];
    if (owner !== undefined && !isPidInUse(Number(owner)))
      rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Calls `work` with a new staging directory beside the program, and removes it. @throws UserError if it cannot be created */
export async function withStagingDirectory<Result>(
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
  /** Sets the mode and flushes the file to disk. */
  finish(mode: number): void;
}

/** @throws UserError, also from its methods, if the file cannot be written */
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

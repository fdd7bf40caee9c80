// Writes a report file by atomic rename.
//
// Invariants:
// - A reader never sees a partial report. A report that cannot be written completely does not appear.
// - The temporary name is unpredictable and opened exclusively: another user of the directory cannot redirect the
//   write (TOCTOU).
// - A non-regular file (pipe, /dev/stdout, /dev/null) is written in place. Symlinks are kept and their targets
//   replaced.
//
// Non-obvious: pipes are written asynchronously, because a pipe may block forever and signals must still be
// handled.
import { errorCode } from "../../../platform/caught-error.ts";
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import { temporaryNameOf } from "./own-report-paths.ts";

export interface ReportFile {
  /** Returns false if the report could not be written; an error has been printed. */
  write(text: string): Promise<boolean>;
}

/** @throws UserError if no file can be created there: it is better to fail before the run than after it */
export function openReportFile(file: string, cwd: string, queue: OutputQueue): ReportFile {
  // Loaded on demand: runs without a report load this module too.
  const { accessSync, constants } = process.getBuiltinModule("node:fs");
  const { dirname, resolve } = process.getBuiltinModule("node:path");
  const target = resolve(cwd, file);
  try {
    const replaced = fileToReplace(target);
    if (replaced !== undefined) accessSync(dirname(replaced), constants.W_OK);
  } catch (error) {
    throw new UserError(
      explain(target, error),
      "--report needs a file in a directory that can be written to",
    );
  }
  return {
    async write(text) {
      try {
        // Queued behind the output that is still to be written there.
        if (target === "/dev/stdout") void queue.write(1, text);
        else return await Promise.race([writeReport(target, text), queue.hurried.then(() => false)]);
      } catch (error) {
        void queue.write(2, `error: ${oneLine(explain(target, error))}\n`);
        return false;
      }
      return true;
    },
  };
}

/** A descriptor may refer to a file that already contains output, which must be kept. */
const DESCRIPTOR = /^\/(?:dev\/(?:std|fd\/)|proc\/)/;

/** Returns the file to replace; undefined for files that are written in place. @throws system errors */
function fileToReplace(target: string): string | undefined {
  const { lstatSync, realpathSync, statSync } = process.getBuiltinModule("node:fs");
  if (DESCRIPTOR.test(target)) return undefined;
  const present = statSync(target, { throwIfNoEntry: false });
  if (present?.isDirectory()) throw Object.assign(new Error("A directory"), { code: "EISDIR" });
  if (present) return present.isFile() ? realpathSync(target) : undefined;
  // A symlink whose target does not exist.
  return lstatSync(target, { throwIfNoEntry: false }) ? undefined : target;
}

async function writeReport(target: string, text: string): Promise<true> {
  const file = fileToReplace(target);
  if (file !== undefined) replaceFile(file, text);
  else await process.getBuiltinModule("node:fs").promises.writeFile(target, text, { flag: "a" });
  return true;
}

/** Synchronous, so that no signal handler runs in between. */
function replaceFile(file: string, text: string): void {
  const { renameSync, rmSync, writeFileSync } = process.getBuiltinModule("node:fs");
  const temporary = temporaryNameOf(file);
  try {
    writeFileSync(temporary, text, { flag: "wx" });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function explain(target: string, error: unknown): string {
  const code = errorCode(error);
  return `Cannot write the report ${target}: ${code === "EISDIR" ? "it is a directory" : (code ?? String(error))}`;
}

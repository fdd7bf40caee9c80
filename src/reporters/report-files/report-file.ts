// The file of a report, whatever is in it.
//
// Contract: it is written once, at the end, whole: a reader never sees half of it, and what could not be written whole is
// not there. Until it has its name it has one that nobody can guess, and is opened only if it is new: who may write into
// the folder cannot lead rt to another file. What is no file (a pipe, /dev/stdout, /dev/null) is written to and stays what
// it is, by a thread of the engine's: a pipe may wait for its reader for ever, and signals must not; a symbolic link stays
// one.
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import { draftOf } from "./own-report-paths.ts";

export interface ReportFile {
  /** False when it could not be written, which is said. */
  write(text: string): Promise<boolean>;
}

/** Throws Failure where no file can be written: better said before the run than after it. */
export function openReportFile(file: string, cwd: string, queue: OutputQueue): ReportFile {
  // Loaded when they are needed: this module shares a chunk with runs without a report.
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
        // Behind what is still to be written there.
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

/** What a descriptor leads to may be a file with output in it, which has to stay. */
const DESCRIPTOR = /^\/(?:dev\/(?:std|fd\/)|proc\/)/;

/** Undefined for what is written to as it is. Throws what the system says. */
function fileToReplace(target: string): string | undefined {
  const { lstatSync, realpathSync, statSync } = process.getBuiltinModule("node:fs");
  if (DESCRIPTOR.test(target)) return undefined;
  const present = statSync(target, { throwIfNoEntry: false });
  if (present?.isDirectory()) throw Object.assign(new Error("A directory"), { code: "EISDIR" });
  if (present) return present.isFile() ? realpathSync(target) : undefined;
  // A link whose file is not there yet.
  return lstatSync(target, { throwIfNoEntry: false }) ? undefined : target;
}

async function writeReport(target: string, text: string): Promise<true> {
  const file = fileToReplace(target);
  if (file !== undefined) replaceFile(file, text);
  else await process.getBuiltinModule("node:fs").promises.writeFile(target, text, { flag: "a" });
  return true;
}

/** At once: no signal finds it half done. */
function replaceFile(file: string, text: string): void {
  const { renameSync, rmSync, writeFileSync } = process.getBuiltinModule("node:fs");
  const draft = draftOf(file);
  try {
    writeFileSync(draft, text, { flag: "wx" });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function explain(target: string, error: unknown): string {
  const { code } = error as { code?: string };
  return `Cannot write the report ${target}: ${code === "EISDIR" ? "it is a directory" : (code ?? String(error))}`;
}

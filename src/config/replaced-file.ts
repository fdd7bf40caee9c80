// Replaces a configuration file atomically.
import { chmodSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { errorReason } from "../../platform/caught-error.ts";
import { UserError } from "../user-error.ts";

/** Keeps the mode of an earlier file. @throws UserError */
export function replaceFile(file: string, text: string): void {
  // The name is random and the file new: a project may contain symlinks.
  const draft = `${file}.${crypto.randomUUID()}`;
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  try {
    writeFileSync(draft, text, { flag: "wx" });
    if (mode !== undefined) chmodSync(draft, mode);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new UserError(`Cannot write ${file} (${errorReason(error)})`);
  }
}

// Replaces hard links of a package to the installer's cache by copies, before a script may write to them.
//
// Invariants:
// - A script that changes a file of its package does not change the cache, from which other projects are installed.
// - This process has no restrictions, and an earlier script may have written the folder. So no symlink is followed.
import { constants, copyFileSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../../platform/caught-error.ts";
import { oneLine } from "../../printable.ts";
import { UserError } from "../../user-error.ts";

/** @throws UserError */
export function separateFiles(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) separateFiles(path);
    else if (entry.isFile() && lstatSync(path).nlink > 1) separateFile(path, folder);
  }
}

function separateFile(path: string, folder: string): void {
  // A name that the package cannot predict, so that it cannot have it already.
  const draft = join(folder, `.rt-${crypto.randomUUID()}`);
  try {
    copyFileSync(path, draft, constants.COPYFILE_EXCL);
    renameSync(draft, path);
  } catch (error) {
    // A partial file would keep a full disk full.
    rmSync(draft, { force: true });
    throw new UserError(
      `Cannot copy "${oneLine(path)}", which is shared with the cache: ${errorCode(error)}`,
    );
  }
}

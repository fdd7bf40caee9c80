// Makes and removes private folders in the system's temporary directory.
import { join } from "node:path";
import { errorCode } from "../caught-error.ts";
import { PrivateDirectoryError } from "./private-file.ts";
import { realPath } from "./real-path.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** Returns the real path of a new folder. @throws PrivateDirectoryError */
export function makeTemporaryFolder(): string {
  const place = temporaryDirectory();
  try {
    return process.getBuiltinModule("node:fs").mkdtempSync(join(realPath(place), "rt-"));
  } catch (error) {
    throw new PrivateDirectoryError(`Cannot create a private directory: ${place} (${errorCode(error)})`);
  }
}

/** Removes a folder in which a program has written. Files that cannot be removed stay. */
export function removeTemporaryFolder(path: string): void {
  try {
    process.getBuiltinModule("node:fs").rmSync(path, { recursive: true, force: true });
  } catch {
    // For example a folder without write permission, or one that another process still fills.
  }
}

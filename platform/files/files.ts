// Selects the file operations of this operating system. The build omits the other module.
import type { FileOperations } from "./contract/files.ts";
import { type LookupRecorder, activeLookupRecorder } from "./lookup-recorder.ts";
import * as posix from "./posix/files.ts";
import * as windows from "./windows/files.ts";

const operations = process.platform === "win32" ? windows.operations : posix.operations;

/** For a lookup that the caller records. */
export const readUnrecorded = operations.readFile;

export const files: FileOperations = {
  ...operations,
  readFile(path, limit) {
    const content = operations.readFile(path, limit);
    const seen = activeLookupRecorder();
    if (seen) note(seen, path, content);
    return content;
  },
};

function note(seen: LookupRecorder, path: string, content: Uint8Array | string): void {
  const absolute = path.includes("/") ? path : `${process.cwd()}/${path}`;
  if (typeof content !== "string") seen.note(absolute, "content", true);
  else if (content === "EISDIR") seen.note(absolute, "way", true);
  else if (content === "ENOENT" || content === "ENOTDIR") seen.note(absolute, "content", false);
  else seen.isWhole = false; // other errors, such as EACCES, may be temporary
}

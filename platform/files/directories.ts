// Selects the directory operations of this operating system. The build omits the other module.
import type { DirectoryOperations } from "./contract/directories.ts";
import { activeLookupRecorder } from "./lookup-recorder.ts";
import * as posix from "./posix/directories.ts";
import * as windows from "./windows/directories.ts";

const operations = process.platform === "win32" ? windows.operations : posix.operations;

export const directories: DirectoryOperations = {
  separator: operations.separator,
  listDirectory(path) {
    const listing = operations.listDirectory(path);
    activeLookupRecorder()?.note(path, "names", listing !== null);
    return listing;
  },
  resolveDirectory(path) {
    const resolved = operations.resolveDirectory(path);
    activeLookupRecorder()?.note(path, "way", resolved !== null);
    return resolved;
  },
  resolvePath: operations.resolvePath,
  openReader(directory) {
    const reader = operations.openReader(directory);
    const seen = activeLookupRecorder();
    if (!seen) return reader;
    seen.note(directory, "way", true);
    return {
      ...reader,
      readText(name) {
        const text = reader.readText(name);
        seen.note(`${directory === "/" ? "" : directory}/${name}`, "content", text !== null);
        return text;
      },
    };
  },
};

// The file operations of this operating system, picked at build time (see process.ts).
import type { FileOperations } from "./file-operations.ts";

export const files: FileOperations =
  process.platform === "win32" ? require("./windows/files.ts") : require("./posix/files.ts");

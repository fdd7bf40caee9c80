// The file operations of this operating system. The build knows which it is and leaves the other module out.
import type { FileOperations } from "./contract/files.ts";
import * as posix from "./posix/files.ts";
import * as windows from "./windows/files.ts";

export const files: FileOperations = process.platform === "win32" ? windows.operations : posix.operations;

// Reading small files at once, on Windows.
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { errorCode } from "../../caught-error.ts";
import { type FileOperations, LARGEST_FILE } from "../contract/files.ts";

const readFile: FileOperations["readFile"] = (path, limit) => {
  try {
    if (limit === undefined) return statSync(path).size > LARGEST_FILE ? "EFBIG" : readFileSync(path);
    const descriptor = openSync(path, "r");
    try {
      const buffer = new Uint8Array(limit);
      return buffer.subarray(0, readSync(descriptor, buffer, 0, limit, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    return errorCode(error) ?? "EIO";
  }
};

/** Its kernel starts scripts of no kind, and rt asks nobody else to. */
const isProgram: FileOperations["isProgram"] = (start) => start[0] === 0x4d && start[1] === 0x5a; // "MZ"

export const operations: FileOperations = { readFile, isProgram };

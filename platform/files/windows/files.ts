// Reads small files synchronously on Windows.
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { errorCode } from "../../caught-error.ts";
import { type FileOperations, MAX_FILE_SIZE } from "../contract/files.ts";

const readFile: FileOperations["readFile"] = (path, limit) => {
  try {
    if (limit === undefined) return statSync(path).size > MAX_FILE_SIZE ? "EFBIG" : readFileSync(path);
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

/** The kernel executes no scripts. */
const isProgram: FileOperations["isProgram"] = (start) => start[0] === 0x4d && start[1] === 0x5a; // "MZ"

export const operations: FileOperations = { readFile, isProgram };

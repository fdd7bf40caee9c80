// Reads small files synchronously on Linux and macOS.
import { ptr } from "../../native/posix/ffi.ts";
import { type FileOperations, MAX_FILE_SIZE } from "../contract/files.ts";
import { constants } from "../../native/posix/constants.ts";
import { encodeCString, lastError, libc } from "../../native/posix/libc.ts";

const O_RDONLY = 0;
/** O_NONBLOCK: opening a pipe must not block. */
const FLAGS = O_RDONLY | constants.O_CLOEXEC | constants.O_NONBLOCK;
/** Most files fit. A new buffer for each of a thousand files would burden the garbage collector. */
const scratch = new Uint8Array(64 * 1024);

export const readFile: FileOperations["readFile"] = (path, limit = MAX_FILE_SIZE + 1) => {
  if (path.includes("\0")) return "ENOENT";
  const { open, read, close } = libc();
  const descriptor = open(ptr(encodeCString(path)), FLAGS);
  if (descriptor < 0) return lastError();
  try {
    let buffer = scratch;
    let length = 0;
    while (length < limit) {
      if (length === buffer.length) {
        const larger = new Uint8Array(Math.min(buffer.length * 4, limit));
        larger.set(buffer);
        buffer = larger;
      }
      const count = Number(read(descriptor, ptr(buffer, length), Math.min(limit, buffer.length) - length));
      if (count < 0) return lastError();
      if (count === 0) break;
      length += count;
    }
    return length > MAX_FILE_SIZE ? "EFBIG" : buffer.slice(0, length);
  } finally {
    close(descriptor);
  }
};

const ELF = 0x7f454c46;
const MACH_O = 0xcffaedfe;
/** A universal binary begins with the number of architectures. Java classes share the magic number, with a version there. */
const UNIVERSAL = 0xcafebabe;
const MOST_ARCHITECTURES = 20;

export function isElf(start: Uint8Array): boolean {
  return readWord(start, 0) === ELF;
}

export function isMachO(start: Uint8Array): boolean {
  const magic = readWord(start, 0);
  return magic === MACH_O || (magic === UNIVERSAL && readWord(start, 4) < MOST_ARCHITECTURES);
}

function readWord(bytes: Uint8Array, offset: number): number {
  let word = 0;
  for (let index = offset; index < offset + 4; index += 1) word = word * 256 + (bytes[index] ?? 0);
  return word;
}

export const operations: FileOperations = {
  readFile,
  isProgram: process.platform === "darwin" ? isMachO : isElf,
};

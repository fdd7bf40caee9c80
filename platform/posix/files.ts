// Reading small files at once, on Linux and macOS.
import { ptr } from "bun:ffi";
import type { FileOperations } from "../file-operations.ts";
import { encodeCString, lastError, libc } from "./libc.ts";

const O_RDONLY = 0;
const O_CLOEXEC = process.platform === "darwin" ? 0x1000000 : 0x80000;
/** A pipe in the place of a file must not stop us. */
const O_NONBLOCK = process.platform === "darwin" ? 0x4 : 0x800;
/** Most files fit; a buffer for each would keep the collector busy where a thousand files are read. */
const scratch = new Uint8Array(64 * 1024);

export const readFile: FileOperations["readFile"] = (path, limit = Number.POSITIVE_INFINITY) => {
  if (path.includes("\0")) return "ENOENT";
  const descriptor = libc().open(ptr(encodeCString(path)), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return lastError();
  try {
    let buffer = scratch;
    let length = 0;
    while (length < limit) {
      if (length === buffer.length) {
        const larger = new Uint8Array(buffer.length * 4);
        larger.set(buffer);
        buffer = larger;
      }
      const count = Number(
        libc().read(descriptor, ptr(buffer, length), Math.min(limit, buffer.length) - length),
      );
      if (count < 0) return lastError();
      if (count === 0) break;
      length += count;
    }
    return buffer.slice(0, length);
  } finally {
    libc().close(descriptor);
  }
};

export const operations: FileOperations = { readFile };

// Finds a variable in the memory of a process. Programs that set their title, such as redis, PostgreSQL and nginx,
// overwrite the environment that /proc shows. They keep a copy of it.
//
// Invariants:
// - Only writable anonymous memory is read, and at most MAX_READ bytes of it.
// - A process that rt may not inspect has no such variable.

const MAX_READ = 1 << 26;
const WINDOW = 1 << 20;
/** Longer values are not found if they are in two windows. */
const OVERLAP = 256;
/** Start and end of a writable mapping without a file, and its kind. */
const MAPPING = /^([0-9a-f]+)-([0-9a-f]+) rw-p [0-9a-f]+ 00:00 0 *(\S*)$/gm;

/** Linux only. @param name of a variable whose value is short and in ASCII */
export function findInMemory(pid: number, name: string): string | undefined {
  const { closeSync, openSync, readFileSync, readSync } = process.getBuiltinModule("node:fs");
  const wanted = Buffer.from(`${name}=`);
  const buffer = Buffer.alloc(WINDOW);
  let memory: number | undefined;
  let left = MAX_READ;
  try {
    const mappings = readFileSync(`/proc/${pid}/maps`, "latin1");
    memory = openSync(`/proc/${pid}/mem`, "r");
    for (const [, begin = "", end = "", kind] of mappings.matchAll(MAPPING)) {
      if (kind === "[stack]") continue; // it has the environment that was overwritten
      const limit = Number.parseInt(end, 16);
      for (let at = Number.parseInt(begin, 16); at < limit && left > 0; at += WINDOW - OVERLAP) {
        const size = readSync(memory, buffer, 0, Math.min(WINDOW, limit - at), at);
        left -= size;
        const window = buffer.subarray(0, size);
        const found = window.indexOf(wanted);
        const value = found + wanted.length;
        const valueEnd = window.indexOf(0, value);
        // A value that is cut off is complete in the next window.
        if (found >= 0 && valueEnd >= 0) return window.toString("latin1", value, valueEnd);
      }
    }
  } catch {
    // The process has exited concurrently, or belongs to another user.
  } finally {
    if (memory !== undefined) closeSync(memory);
  }
  return undefined;
}

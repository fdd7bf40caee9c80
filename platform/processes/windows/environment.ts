// The environment that rt was started with, as Windows has it. The engine enters what `.env` files say into a map of its
// own, so that it is not to be seen here. See ../posix/environment.ts.
//
// Surprising: what code assigns to process.env the engine tells Windows as well, so that is to be seen. Nothing that rt
// decides after the program's first line asks for anything but the user's name.
import { read, toArrayBuffer } from "bun:ffi";
import { kernel } from "../../native/windows/kernel32.ts";

/** The process's own entries, those that begin with "=" (a drive's current directory) among them. */
export function environmentEntries(): string[] {
  const block = kernel().GetEnvironmentStringsW();
  if (block === null) return [];
  const entries: string[] = [];
  for (let start = 0; read.u16(block, start) !== 0;) {
    let end = start;
    while (read.u16(block, end) !== 0) end += 2;
    entries.push(Buffer.from(toArrayBuffer(block, start, end - start)).toString("utf16le"));
    start = end + 2;
  }
  kernel().FreeEnvironmentStringsW(block);
  return entries;
}

/** Case does not count in it. */
export function nameOf(entry: string): string {
  return entry.slice(0, entry.indexOf("=", 1)).toUpperCase();
}

export function originalEnvironment(): Record<string, string> {
  const entries = environmentEntries().filter((entry) => !entry.startsWith("="));
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

/** Of several entries of one name the first counts, as for the system. */
export function originalVariable(name: string): string | undefined {
  const wanted = name.toUpperCase();
  const entry = environmentEntries().find((each) => nameOf(each) === wanted);
  return entry?.slice(wanted.length + 1);
}

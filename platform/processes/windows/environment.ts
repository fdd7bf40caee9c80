// Reads the environment that rt was started with on Windows. `.env` values are only in the engine's own map, so they do not appear
// here. See ../posix/environment.ts.
//
// Non-obvious: assignments to process.env do appear here. After the program's first line rt reads only the user's name from it.
import { read, toArrayBuffer } from "bun:ffi";
import { kernel } from "../../native/windows/kernel32.ts";

/** Returns the entries of the process, including those that begin with "=" (current directories of drives). */
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

/** Variable names are case-insensitive. */
export function nameOf(entry: string): string {
  return entry.slice(0, entry.indexOf("=", 1)).toUpperCase();
}

export function originalEnvironment(): Record<string, string> {
  const entries = environmentEntries().filter((entry) => !entry.startsWith("="));
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]),
  );
}

/** Returns the first entry of a name, as Windows does. */
export function originalVariable(name: string): string | undefined {
  const wanted = name.toUpperCase();
  const entry = environmentEntries().find((each) => nameOf(each) === wanted);
  return entry?.slice(wanted.length + 1);
}

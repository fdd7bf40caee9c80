// Reads rt's original environment from libc, on Linux and macOS. Values of `.env` and assignments to process.env are only in the
// engine's own map.
//
// Invariants:
// - rt's own decisions (bus, directories, colours) read this environment. The author of a working directory must not control rt,
//   which may store a token next. test/architecture.test.ts lists the few files that may read process.env.
import type { Pointer } from "bun:ffi";
import { activeLookupRecorder } from "../../files/lookup-recorder.ts";
import { ptr, read, readCString } from "../../native/posix/ffi.ts";
import { encodeCString, environmentVariable, processLibc } from "../../native/posix/libc.ts";
import { decodeWithSurrogates } from "../../native/posix/surrogate-escape.ts";

/** Returns the address of the list of `NAME=value` entries; null if there is none. */
export function environmentList(): Pointer | null {
  const variable = environmentVariable();
  return variable && (read.ptr(variable, 0) as Pointer);
}

export function environmentEntries(): Pointer[] {
  const entries: Pointer[] = [];
  const list = environmentList();
  for (let offset = 0; list; offset += 8) {
    const entry = read.ptr(list, offset) as Pointer;
    if (!entry) break;
    entries.push(entry);
  }
  return entries;
}

const REPLACEMENT = "\ufffd";

/** Bytes that are not UTF-8 become lone surrogates: see surrogate-escape.ts. */
function readText(address: Pointer): string {
  const text = readCString(address);
  if (!text.includes(REPLACEMENT)) return text;
  const bytes: number[] = [];
  for (let byte = read.u8(address, 0); byte !== 0; byte = read.u8(address, bytes.length)) bytes.push(byte);
  return decodeWithSurrogates(Uint8Array.from(bytes));
}

/** Returns all variables. The first entry of a name counts, as in libc. */
export function originalEnvironment(): Record<string, string> {
  const result: Record<string, string> = {};
  for (const entry of environmentEntries()) {
    const text = readText(entry);
    const equals = text.indexOf("=");
    if (equals <= 0) continue;
    const name = text.slice(0, equals);
    if (!Object.hasOwn(result, name)) result[name] = text.slice(equals + 1);
  }
  return result;
}

/** Returns one variable, at a hundredth of the cost of all. */
export function originalVariable(name: string): string | undefined {
  activeLookupRecorder()?.variables.add(name);
  const value = processLibc().getenv(ptr(encodeCString(name))) as Pointer | null;
  return value === null ? undefined : readText(value);
}

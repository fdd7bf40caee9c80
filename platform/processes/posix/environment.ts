// The environment that rt was started with, as libc has it on Linux and macOS. The engine enters what `.env` files say
// into a map of its own, and what code assigns to process.env too: neither is to be seen here.
//
// Contract: everything that rt decides for itself (which bus, which directory, which colours) asks here. The files of a
// working directory are for the user's program and must not steer rt, which may be about to store a token or to
// replace itself. test/architecture.test.ts has the few files that may read process.env.
import type { Pointer } from "bun:ffi";
import { ptr, read, readCString } from "../../native/posix/ffi.ts";
import { encodeCString, environmentVariable, processLibc } from "../../native/posix/libc.ts";
import { decodeWithSurrogates } from "../../native/posix/surrogate-escape.ts";

/** The address of the list of `NAME=value` entries; null where there is none. */
export function environmentList(): Pointer | null {
  const variable = environmentVariable();
  return variable && (read.ptr(variable, 0) as Pointer);
}

/** The addresses of the `NAME=value` entries of this process, as libc has them now. */
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

/** What is no UTF-8 is as surrogate-escape.ts has it. */
function readText(address: Pointer): string {
  const text = readCString(address);
  if (!text.includes(REPLACEMENT)) return text;
  const bytes: number[] = [];
  for (let byte = read.u8(address, 0); byte !== 0; byte = read.u8(address, bytes.length)) bytes.push(byte);
  return decodeWithSurrogates(Uint8Array.from(bytes));
}

/** All of it. Of several entries of one name the first counts, as for libc. */
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

/** One of it, which costs a hundredth of reading all. */
export function originalVariable(name: string): string | undefined {
  const value = processLibc().getenv(ptr(encodeCString(name))) as Pointer | null;
  return value === null ? undefined : readText(value);
}

// The C library of Linux and macOS: how it is opened, and the calls that every start of rt may need.
//
// Why at all: to read a small file the engine's asynchronous calls cost 0.5 ms and node:fs 0.9 ms to load; opening the
// library costs 0.05 ms and each function of it 2 microseconds, and rt needs it anyway to start programs.
//
// Surprising:
// - `open`, `fcntl` and `ioctl` take a variable number of arguments. Apple's arm64 expects those on the stack, after
//   the eight registers, everybody else in the next register. Where one is needed it is passed in every place from
//   the third to the ninth: see `VARIABLE`.
// - A library that the system does not find by its name, bun:ffi looks for in the working directory, where anybody's
//   file may lie. Every name here must therefore be one that is always found: glibc knows its own, musl takes every
//   name that begins with "libc." for itself, and macOS gets a path.
import type { FFIFunction, Pointer } from "bun:ffi";
import { dlopen, FFIType, ptr, read } from "./ffi.ts";
import { constants } from "./constants.ts";
import { encodeWithSurrogates } from "./surrogate-escape.ts";

const ERRNO = process.platform === "darwin" ? "__error" : "__errno_location";

const LIBRARIES =
  process.platform === "darwin"
    ? ["/usr/lib/libSystem.B.dylib"]
    : ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`, "libc.so"];

/** A failed call's number is to be asked for before anything else is called. */
export interface Libc<Symbols extends Record<string, FFIFunction>> {
  readonly functions: ReturnType<typeof dlopen<Symbols>>["symbols"];
  errno(): number;
}

export function openLibc<Symbols extends Record<string, FFIFunction>>(symbols: Symbols): Libc<Symbols> {
  let failure: unknown;
  for (const library of LIBRARIES) {
    try {
      const opened = dlopen(library, { ...symbols, [ERRNO]: { args: [], returns: FFIType.ptr } });
      const location = opened.symbols[ERRNO] as unknown as () => Pointer;
      const functions = opened.symbols as unknown as Libc<Symbols>["functions"];
      return { functions, errno: () => read.i32(location(), 0) };
    } catch (error) {
      if ((error as { code?: string }).code !== "ERR_DLOPEN_FAILED") throw error;
      failure = error;
    }
  }
  throw failure;
}

const { u64 } = FFIType;

/** The types of a third argument that is a variable one; `repeat` gives its values. */
export const VARIABLE = [u64, u64, u64, u64, u64, u64, u64] as const;

export function repeat(value: number): [number, number, number, number, number, number, number] {
  return [value, value, value, value, value, value, value];
}

const FILE_SYMBOLS = {
  close: { args: [FFIType.i32], returns: FFIType.i32 },
  isatty: { args: [FFIType.i32], returns: FFIType.i32 },
  open: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  read: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64_fast },
  write: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64_fast },
} as const;

const PROCESS_SYMBOLS = {
  dlsym: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.ptr },
  execve: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  fcntl: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  getenv: { args: [FFIType.ptr], returns: FFIType.ptr },
  ioctl: { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 },
  poll: { args: [FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i32 },
  putenv: { args: [FFIType.ptr], returns: FFIType.i32 },
  raise: { args: [FFIType.i32], returns: FFIType.i32 },
  readlink: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64], returns: FFIType.i64_fast },
  signal: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.ptr },
  unsetenv: { args: [FFIType.ptr], returns: FFIType.i32 },
} as const;

let files: Libc<typeof FILE_SYMBOLS> | undefined;
let processes: Libc<typeof PROCESS_SYMBOLS> | undefined;

/** The calls that reading a file needs, opened together. */
export function libc(): Libc<typeof FILE_SYMBOLS>["functions"] {
  files ??= openLibc(FILE_SYMBOLS);
  return files.functions;
}

/** The calls that starting a program needs. */
export function processLibc(): Libc<typeof PROCESS_SYMBOLS>["functions"] {
  processes ??= openLibc(PROCESS_SYMBOLS);
  return processes.functions;
}

/** Names of the error numbers that somebody asks about. */
const ERROR_CODES: Readonly<Record<number, string>> = {
  1: "EPERM",
  2: "ENOENT",
  5: "EIO",
  6: "ENXIO",
  7: "E2BIG",
  8: "ENOEXEC",
  [constants.EAGAIN]: "EAGAIN",
  12: "ENOMEM",
  13: "EACCES",
  20: "ENOTDIR",
  21: "EISDIR",
  22: "EINVAL",
  23: "ENFILE",
  24: "EMFILE",
  26: "ETXTBSY",
  [constants.ELOOP]: "ELOOP",
  [constants.ENAMETOOLONG]: "ENAMETOOLONG",
  86: "EBADARCH", // macOS alone
};

/** What the last call of either failed with. */
export function lastError(): string {
  return errorCode(lastErrorNumber());
}

export function lastErrorNumber(): number {
  return (files ?? processes)?.errno() ?? 0;
}

/** The name of an error's number. */
export function errorCode(number: number): string {
  return ERROR_CODES[number] ?? `errno ${number}`;
}

/** Where the list of the process's environment is kept. In a non-relocatable executable libc's own is a dead copy. */
export function environmentVariable(): Pointer | null {
  if (process.platform === "darwin") {
    const symbols = { _NSGetEnviron: { args: [], returns: FFIType.ptr } } as const;
    return openLibc(symbols).functions._NSGetEnviron() as Pointer;
  }
  const everywhere = null;
  return processLibc().dlsym(everywhere, ptr(encodeCString("environ"))) as Pointer | null;
}

const encoder = new TextEncoder();

/** The bytes of a C string; the caller keeps them alive for as long as C may read them. */
export function encodeCString(text: string): Uint8Array {
  return text.isWellFormed() ? encoder.encode(`${text}\0`) : encodeWithSurrogates(`${text}\0`);
}

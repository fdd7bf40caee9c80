// Opens the C library of Linux and macOS, and declares the calls that every start of rt may need.
//
// Non-obvious:
// - It saves time: opening the library takes 0.05 ms; asynchronous calls of the engine take 0.5 ms, loading node:fs 0.9 ms.
// - `open`, `fcntl` and `ioctl` are variadic. Apple's arm64 passes those arguments on the stack, after eight registers; other
//   systems use the next register. So such an argument is passed in positions three to nine: see `VARIADIC`.
// - bun:ffi looks for a library that the system does not find in the working directory, where an attacker may have put one. So
//   each name is one that the system always finds: glibc's own name, "libc." for musl, and a path on macOS.
import type { FFIFunction, Pointer } from "bun:ffi";
import { dlopen, FFIType, ptr, read } from "./ffi.ts";
import { constants } from "./constants.ts";
import { encodeWithSurrogates } from "./surrogate-escape.ts";

const ERRNO = process.platform === "darwin" ? "__error" : "__errno_location";

const LIBRARIES =
  process.platform === "darwin"
    ? ["/usr/lib/libSystem.B.dylib"]
    : ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`, "libc.so"];

/** `errno()` must be read before the next call. */
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

/** The types of a variadic third argument; `repeat` returns its values. */
export const VARIADIC = [u64, u64, u64, u64, u64, u64, u64] as const;

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

/** Returns the calls for reading files, opened together. */
export function libc(): Libc<typeof FILE_SYMBOLS>["functions"] {
  files ??= openLibc(FILE_SYMBOLS);
  return files.functions;
}

/** Returns the calls for starting programs. */
export function processLibc(): Libc<typeof PROCESS_SYMBOLS>["functions"] {
  processes ??= openLibc(PROCESS_SYMBOLS);
  return processes.functions;
}

/** Names of the error numbers that callers compare. */
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

/** Returns the error code of the last call of either table. */
export function lastError(): string {
  return errorCode(lastErrorNumber());
}

export function lastErrorNumber(): number {
  return (files ?? processes)?.errno() ?? 0;
}

export function errorCode(number: number): string {
  return ERROR_CODES[number] ?? `errno ${number}`;
}

/** Returns the address of `environ`. In a non-relocatable executable libc's own symbol is an unused copy. */
export function environmentVariable(): Pointer | null {
  if (process.platform === "darwin") {
    const symbols = { _NSGetEnviron: { args: [], returns: FFIType.ptr } } as const;
    return openLibc(symbols).functions._NSGetEnviron() as Pointer;
  }
  const everywhere = null;
  return processLibc().dlsym(everywhere, ptr(encodeCString("environ"))) as Pointer | null;
}

const encoder = new TextEncoder();

/** Returns a NUL-terminated string. The caller keeps it alive while C may read it. */
export function encodeCString(text: string): Uint8Array {
  return text.isWellFormed() ? encoder.encode(`${text}\0`) : encodeWithSurrogates(`${text}\0`);
}

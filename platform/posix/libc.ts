// The C library of Linux and macOS: how it is opened, and the calls that every start of rt may need.
//
// Why at all: to read a small file the engine's asynchronous calls cost 0.5 ms and node:fs 0.9 ms to load;
// opening the library costs 0.16 ms, once, and rt needs it anyway to start programs.
//
// Surprising: `open`, `fcntl` and `ioctl` take a variable number of arguments, which Apple's arm64 passes in
// another place. They are only called here in forms that need no variable argument.
import { dlopen, type FFIFunction, FFIType, type Pointer, ptr, read } from "bun:ffi";
import { encodeWithSurrogates } from "./undecodable.ts";

const isDarwin = process.platform === "darwin";
const ERRNO = isDarwin ? "__error" : "__errno_location";

const LIBRARIES = isDarwin
  ? ["libSystem.B.dylib"]
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
      failure = error;
    }
  }
  throw failure;
}

const SYMBOLS = {
  close: { args: [FFIType.i32], returns: FFIType.i32 },
  dlsym: { args: [FFIType.ptr, FFIType.ptr], returns: FFIType.ptr },
  execve: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  fcntl: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
  ioctl: { args: [FFIType.i32, FFIType.u64], returns: FFIType.i32 },
  isatty: { args: [FFIType.i32], returns: FFIType.i32 },
  open: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  raise: { args: [FFIType.i32], returns: FFIType.i32 },
  read: { args: [FFIType.i32, FFIType.ptr, FFIType.u64], returns: FFIType.i64_fast },
  readlink: { args: [FFIType.ptr, FFIType.ptr, FFIType.u64], returns: FFIType.i64_fast },
  setenv: { args: [FFIType.ptr, FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  signal: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.ptr },
  unsetenv: { args: [FFIType.ptr], returns: FFIType.i32 },
} as const;

let opened: Libc<typeof SYMBOLS> | undefined;

/** The calls that reading a file and starting a program need, opened together. */
export function libc(): Libc<typeof SYMBOLS>["functions"] {
  opened ??= openLibc(SYMBOLS);
  return opened.functions;
}

/** Names of the error numbers that somebody asks about; they are the same on both systems. */
const ERROR_CODES: Readonly<Record<number, string>> = {
  1: "EPERM",
  2: "ENOENT",
  7: "E2BIG",
  8: "ENOEXEC",
  12: "ENOMEM",
  13: "EACCES",
  20: "ENOTDIR",
  21: "EISDIR",
  26: "ETXTBSY",
  [isDarwin ? 62 : 40]: "ELOOP",
  [isDarwin ? 63 : 36]: "ENAMETOOLONG",
};

/** What the last call of `libc()` failed with. */
export function lastError(): string {
  const number = opened?.errno() ?? 0;
  return ERROR_CODES[number] ?? `errno ${number}`;
}

/** Looks a symbol up in the whole process, not in one library. */
export function findSymbol(name: string): Pointer | null {
  const everywhere = isDarwin ? (-2 as Pointer) : null;
  return libc().dlsym(everywhere, ptr(encodeCString(name))) as Pointer | null;
}

const encoder = new TextEncoder();

/** The bytes of a C string; the caller keeps them alive for as long as C may read them. */
export function encodeCString(text: string): Uint8Array {
  return text.isWellFormed() ? encoder.encode(`${text}\0`) : encodeWithSurrogates(`${text}\0`);
}

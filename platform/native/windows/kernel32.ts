// The functions of kernel32 that starting a program takes. Opened together when the first is needed; a value of 64 bits
// (a handle, an address) travels as u64, since it may be -1.
import { dlopen, FFIType, ptr } from "bun:ffi";

const { i32, ptr: pointer, u32, u64, void: nothing } = FFIType;

const SYMBOLS = {
  AssignProcessToJobObject: { args: [u64, u64], returns: i32 },
  CloseHandle: { args: [u64], returns: i32 },
  CreateFileW: { args: [pointer, u32, u32, u64, u32, u32, u64], returns: u64 },
  CreateJobObjectW: { args: [u64, u64], returns: u64 },
  CreateProcessW: { args: [u64, u64, u64, u64, i32, u32, u64, u64, u64, u64], returns: i32 },
  ExitProcess: { args: [u32], returns: nothing },
  FreeEnvironmentStringsW: { args: [pointer], returns: i32 },
  GetEnvironmentStringsW: { args: [], returns: pointer },
  FlushConsoleInputBuffer: { args: [u64], returns: i32 },
  GetExitCodeProcess: { args: [u64, u64], returns: i32 },
  GetFileType: { args: [u64], returns: u32 },
  GetLastError: { args: [], returns: u32 },
  GetStdHandle: { args: [u32], returns: u64 },
  OpenProcess: { args: [u32, i32, u32], returns: u64 },
  PeekNamedPipe: { args: [u64, u64, u32, u64, u64, u64], returns: i32 },
  QueryInformationJobObject: { args: [u64, i32, u64, u32, u64], returns: i32 },
  ResumeThread: { args: [u64], returns: u32 },
  SetHandleInformation: { args: [u64, u32, u32], returns: i32 },
  SetInformationJobObject: { args: [u64, i32, u64, u32], returns: i32 },
  TerminateJobObject: { args: [u64, u32], returns: i32 },
  WaitForSingleObject: { args: [u64, u32], returns: u32 },
} as const;

let opened: ReturnType<typeof dlopen<typeof SYMBOLS>>["symbols"] | undefined;

export function kernel(): NonNullable<typeof opened> {
  if (!opened) {
    opened = dlopen("kernel32.dll", SYMBOLS).symbols;
    opened.GetLastError(); // the first call makes the function, which may change what it is to tell
  }
  return opened;
}

// The collector must not free what a structure points to. What is passed here is little.
const kept: ArrayBufferView[] = [];

/** The address of a buffer that from now on stays where it is. */
export function address(buffer: NodeJS.TypedArray): bigint {
  kept.push(buffer);
  return BigInt(ptr(buffer));
}

/** UTF-16LE with the NUL that ends it. */
export function wideBytes(text: string): Buffer {
  return Buffer.from(`${text}\0`, "utf16le");
}

/** The address of such bytes. */
export function wideString(text: string): bigint {
  return address(wideBytes(text));
}

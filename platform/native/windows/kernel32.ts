// Declares the kernel32 functions for processes, files and consoles, opened together on first use. A 64-bit value (a handle, an
// address) is passed as u64, because it may be -1.
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
    opened.GetLastError(); // the engine compiles a function on its first call, which may change the last error
  }
  return opened;
}

// Referenced by native structures, so they must not be collected. Their total size is small.
const retained: ArrayBufferView[] = [];

/** Returns the address of a buffer and keeps the buffer alive. */
export function address(buffer: NodeJS.TypedArray): bigint {
  retained.push(buffer);
  return BigInt(ptr(buffer));
}

/** Returns UTF-16LE with a terminating NUL. */
export function wideBytes(text: string): Buffer {
  return Buffer.from(`${text}\0`, "utf16le");
}

/** Returns the address of such bytes. */
export function wideString(text: string): bigint {
  return address(wideBytes(text));
}

// Ephemeral files on Windows: a named pipe in memory with one client, which must be the started program. Other clients are
// disconnected, and other users and machines are denied access.
//
// Invariants:
// - The copy of the text is zeroized when the program has read it or has exited. The pipe ends with this process and is not inherited.
// Non-obvious:
// - The engine converts \\.\pipe\x into a file path; the kernel's own name with slashes is accepted.
// - The engine asks for the size of the file, which Wine does not report for pipes: then ephemeral files are unavailable.
import { dlopen, FFIType, ptr, read, type Pointer } from "bun:ffi";
import type { EphemeralFileOperations } from "../contract/ephemeral-file.ts";
import { address, kernel, wideString } from "../../native/windows/kernel32.ts";

const { i32, ptr: pointer, u32, u64 } = FFIType;

const PIPE_SYMBOLS = {
  ConnectNamedPipe: { args: [u64, u64], returns: i32 },
  CreateEventW: { args: [u64, i32, i32, u64], returns: u64 },
  CreateNamedPipeW: { args: [u64, u32, u32, u32, u32, u32, u32, u64], returns: u64 },
  DisconnectNamedPipe: { args: [u64], returns: i32 },
  GetFileSizeEx: { args: [u64, u64], returns: i32 },
  GetNamedPipeClientProcessId: { args: [u64, u64], returns: i32 },
  WaitForMultipleObjects: { args: [u32, u64, i32, u32], returns: u32 },
  WriteFile: { args: [u64, pointer, u32, u64, u64], returns: i32 },
} as const;

const TOKEN_SYMBOLS = {
  GetTokenInformation: { args: [u64, i32, u64, u32, u64], returns: i32 },
  OpenProcessToken: { args: [u64, u32, u64], returns: i32 },
} as const;

let opened: ReturnType<typeof dlopen<typeof PIPE_SYMBOLS>>["symbols"] | undefined;

function pipes(): NonNullable<typeof opened> {
  return (opened ??= dlopen("kernel32.dll", PIPE_SYMBOLS).symbols);
}

const PIPE_ACCESS_OUTBOUND = 2;
const FILE_FLAG_FIRST_PIPE_INSTANCE = 0x80000;
const FILE_FLAG_OVERLAPPED = 0x40000000;
const PIPE_REJECT_REMOTE_CLIENTS = 8;
const GENERIC_READ = 0x80000000;
const OPEN_EXISTING = 3;
const SYNCHRONIZE = 0x100000;
const INVALID = 0xffffffffffffffffn;
const INFINITE = 0xffffffff;
const OVERLAPPED = { size: 32, event: 24 } as const;

interface NamedPipe {
  readonly name: string;
  readonly handle: bigint;
}

/** @throws an Error */
function createPipe(room: number): NamedPipe {
  const name = `rt-${crypto.randomUUID()}`;
  const handle = BigInt(
    pipes().CreateNamedPipeW(
      wideString(`\\\\.\\pipe\\${name}`),
      PIPE_ACCESS_OUTBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE | FILE_FLAG_OVERLAPPED,
      PIPE_REJECT_REMOTE_CLIENTS,
      1,
      room,
      0,
      0,
      forThisUser(),
    ),
  );
  if (handle === INVALID) throw new Error(`No named pipe (Windows' error ${kernel().GetLastError()})`);
  return { name, handle };
}

/** The structures of winnt.h, on 64-bit systems. */
const TOKEN_QUERY = 8;
const TOKEN_USER = { class: 1, size: 128 } as const;
const DESCRIPTOR = { size: 20, control: 2, list: 16 } as const;
/** DACL_PRESENT, DACL_PROTECTED and SELF_RELATIVE: this list only, nothing inherited, one block. */
const CONTROL = 0x9004;
const LIST_HEADER = 8;
const ENTRY_HEADER = 8;
const FILE_ALL_ACCESS = 0x1f01ff;

/** Returns SECURITY_ATTRIBUTES that grant access to this user only. */
function forThisUser(): bigint {
  const user = userIdentifier();
  const size = LIST_HEADER + ENTRY_HEADER + user.length;
  const descriptor = new DataView(new ArrayBuffer(DESCRIPTOR.size + size));
  descriptor.setUint8(0, 1);
  descriptor.setUint16(DESCRIPTOR.control, CONTROL, true);
  descriptor.setUint32(DESCRIPTOR.list, DESCRIPTOR.size, true);
  const list = DESCRIPTOR.size;
  descriptor.setUint8(list, 2);
  descriptor.setUint16(list + 2, size, true);
  descriptor.setUint16(list + 4, 1, true);
  const entry = list + LIST_HEADER;
  descriptor.setUint16(entry + 2, ENTRY_HEADER + user.length, true);
  descriptor.setUint32(entry + 4, FILE_ALL_ACCESS, true);
  const bytes = new Uint8Array(descriptor.buffer);
  bytes.set(user, entry + ENTRY_HEADER);
  return address(BigUint64Array.of(24n, address(bytes), 0n));
}

/** @throws an Error: without a user the pipe would be readable by all users */
function userIdentifier(): Uint8Array {
  const { GetTokenInformation, OpenProcessToken } = dlopen("advapi32.dll", TOKEN_SYMBOLS).symbols;
  const token = new BigUint64Array(1);
  const found = new Uint8Array(TOKEN_USER.size);
  const length = new Uint32Array(1);
  const thisProcess = INVALID; // the value of GetCurrentProcess()
  const isFound =
    OpenProcessToken(thisProcess, TOKEN_QUERY, address(token)) &&
    GetTokenInformation(token[0]!, TOKEN_USER.class, address(found), TOKEN_USER.size, address(length));
  if (!isFound) throw new Error(`No user (Windows' error ${kernel().GetLastError()})`);
  kernel().CloseHandle(token[0]!);
  // The buffer begins with the address of the SID, which follows in the same buffer. A SID has eight bytes, whose second one is
  // the count of the following numbers.
  const identifier = read.ptr(ptr(found), 0) as Pointer;
  const size = 8 + 4 * read.u8(identifier, 1);
  const start = identifier - ptr(found);
  return found.slice(start, start + size);
}

/** Returns the OVERLAPPED structure and event for a connection and the write after it. */
function openWait(): { readonly overlapped: bigint; readonly event: bigint } {
  const event = BigInt(pipes().CreateEventW(0, 1, 0, 0));
  const overlapped = new BigUint64Array(OVERLAPPED.size / 8);
  overlapped[OVERLAPPED.event / 8] = event;
  return { overlapped: address(overlapped), event };
}

const createEphemeralFile: EphemeralFileOperations["createEphemeralFile"] = (text) => {
  const bytes = text.slice();
  const { name, handle } = createPipe(bytes.length);
  const { overlapped, event } = openWait();
  pipes().ConnectNamedPipe(handle, overlapped);
  return {
    path: `/??/PIPE/${name}`,
    serve(pid) {
      const program = BigInt(kernel().OpenProcess(SYNCHRONIZE, 0, pid));
      const either = address(BigUint64Array.of(event, program));
      const happens = () => pipes().WaitForMultipleObjects(2, either, 0, INFINITE) === 0;
      const reader = new Uint32Array(1);
      while (happens()) {
        pipes().GetNamedPipeClientProcessId(handle, address(reader));
        if (reader[0] === pid) {
          // The buffer of the pipe keeps the text until it is read.
          if (!pipes().WriteFile(handle, bytes, bytes.length, 0, overlapped)) happens();
          break;
        }
        pipes().DisconnectNamedPipe(handle);
        pipes().ConnectNamedPipe(handle, overlapped);
      }
      bytes.fill(0);
      for (const each of [handle, event, program]) kernel().CloseHandle(each);
    },
  };
};

const supportsEphemeralFiles: EphemeralFileOperations["supportsEphemeralFiles"] = () => {
  const { name, handle } = createPipe(1);
  const path = Buffer.from(`\\\\.\\pipe\\${name}\0`, "utf16le");
  const reader = BigInt(kernel().CreateFileW(path, GENERIC_READ, 0, 0, OPEN_EXISTING, 0, 0));
  const isTold = pipes().GetFileSizeEx(reader, address(new BigUint64Array(1))) !== 0;
  for (const each of [reader, handle]) kernel().CloseHandle(each);
  return isTold;
};

export const operations: EphemeralFileOperations = { supportsEphemeralFiles, createEphemeralFile };

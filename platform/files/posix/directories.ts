// Finding packages on Linux and macOS, through libc: loading node:fs takes longer than reading a hundred packages.
//
// Surprising:
// - Reading uses one buffer for paths and one for contents, whose addresses are found out once, and asks the system
//   three things a file. Pipes answer nothing at once, which does not make sense to who reads, nor does half a file.
// - Names that are not UTF-8 lose what they are, and are then not found.
import type { Pointer } from "bun:ffi";
import type { DirectoryOperations } from "../contract/directories.ts";
import { constants } from "../../native/posix/constants.ts";
import { FFIType, ptr, read, readCString } from "../../native/posix/ffi.ts";
import { encodeCString, type Libc, openLibc } from "../../native/posix/libc.ts";

const { DIRENT_NAME, DIRENT_TYPE, O_CLOEXEC, O_NONBLOCK } = constants;
const DT_UNKNOWN = 0;
const DT_DIR = 4;
const DT_LNK = 10;
const F_OK = 0;
const ENOENT = 2;
const ENOTDIR = 20;

/** Apple's processors never had the numbers of files of 32 bits, for which the plain names stand elsewhere. */
const WIDE = process.platform === "darwin" && process.arch === "x64" ? "$INODE64" : "";

const { i32, i64_fast, u64, ptr: pointer } = FFIType;

const SYMBOLS = {
  access: { args: [pointer, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
  closedir: { args: [pointer], returns: i32 },
  open: { args: [pointer, i32], returns: i32 },
  openat: { args: [i32, pointer, i32], returns: i32 },
  [`opendir${WIDE}` as "opendir"]: { args: [pointer], returns: pointer },
  read: { args: [i32, pointer, u64], returns: i32 }, // of no more than `content` holds
  [`readdir${WIDE}` as "readdir"]: { args: [pointer], returns: pointer },
  readlink: { args: [pointer, pointer, u64], returns: i64_fast },
  realpath: { args: [pointer, pointer], returns: pointer },
} as const;

let opened: Libc<typeof SYMBOLS> | undefined;

function libc(): Libc<typeof SYMBOLS>["functions"] {
  opened ??= openLibc(SYMBOLS);
  return opened.functions;
}

/** As a slash at the end has it: of a directory, or of a link to one. Needs no permission but to reach it. */
function isDirectory(path: string): boolean {
  return libc().access(ptr(encodeCString(`${path}/`)), F_OK) === 0;
}

function isLink(path: string): boolean {
  const target = new Uint8Array(1);
  return Number(libc().readlink(ptr(encodeCString(path)), ptr(target), 1)) >= 0;
}

const listDirectory: DirectoryOperations["listDirectory"] = (path) => {
  const functions = libc();
  const readdir = functions[`readdir${WIDE}` as "readdir"] as (stream: Pointer) => Pointer | null;
  const stream = functions[`opendir${WIDE}` as "opendir"](ptr(encodeCString(path))) as Pointer | null;
  if (stream === null) return null;
  const [directories, links]: [string[], string[]] = [[], []];
  for (let entry = readdir(stream); entry !== null; entry = readdir(stream)) {
    const type = read.u8(entry, DIRENT_TYPE);
    if (type !== DT_DIR && type !== DT_LNK && type !== DT_UNKNOWN) continue;
    const name = readCString(entry, DIRENT_NAME);
    if (name === "." || name === "..") continue;
    const isUnknown = type === DT_UNKNOWN;
    if (isUnknown ? isLink(`${path}/${name}`) : type === DT_LNK) links.push(name);
    else if (!isUnknown || isDirectory(`${path}/${name}`)) directories.push(name);
  }
  functions.closedir(stream);
  return { directories, links };
};

const LONGEST_PATH = 4096; // PATH_MAX, where it is largest
const path = new Uint8Array(LONGEST_PATH);
const content = new Uint8Array(1 << 16);
const encoder = new TextEncoder();

const resolveDirectory: DirectoryOperations["resolveDirectory"] = (directory) => {
  if (!isDirectory(directory)) return null;
  const resolved = libc().realpath(ptr(encodeCString(directory)), ptr(path)) as Pointer | null;
  return resolved && readCString(resolved);
};

/** Below the directory even when somebody renames it. */
const openReader: DirectoryOperations["openReader"] = (directory) => {
  const functions = libc();
  const [pathPointer, contentPointer] = [ptr(path), ptr(content)];
  const base = functions.open(ptr(encodeCString(directory)), O_CLOEXEC);
  return {
    readText(name) {
      const { read: taken, written } = encoder.encodeInto(name, path);
      if (taken < name.length || written === path.length) return "";
      path[written] = 0;
      const descriptor = functions.openat(base, pathPointer, O_CLOEXEC | O_NONBLOCK);
      if (descriptor < 0) {
        const failure = opened!.errno();
        return failure === ENOENT || failure === ENOTDIR ? null : "";
      }
      const count = functions.read(descriptor, contentPointer, content.length);
      functions.close(descriptor);
      return count > 0 && count < content.length ? readCString(contentPointer, 0, count) : "";
    },
    close: () => void functions.close(base),
  };
};

export const operations: DirectoryOperations = {
  separator: "/",
  listDirectory,
  resolveDirectory,
  openReader,
};

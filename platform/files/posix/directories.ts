// Package discovery on Linux and macOS, through libc: loading node:fs takes longer than reading a hundred packages.
//
// Non-obvious:
// - One buffer for paths and one for contents are reused; each file takes three system calls. A pipe or a partial file yields invalid
//   text, which the caller reads again.
// - Names that are not UTF-8 are not found.
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

/** macOS on x64 exports the functions with 64-bit inodes under suffixed names; on arm64 the plain names are those. */
const WIDE = process.platform === "darwin" && process.arch === "x64" ? "$INODE64" : "";

const { i32, i64_fast, u64, ptr: pointer } = FFIType;

const SYMBOLS = {
  access: { args: [pointer, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
  closedir: { args: [pointer], returns: i32 },
  open: { args: [pointer, i32], returns: i32 },
  openat: { args: [i32, pointer, i32], returns: i32 },
  [`opendir${WIDE}` as "opendir"]: { args: [pointer], returns: pointer },
  read: { args: [i32, pointer, u64], returns: i32 }, // at most the size of `content`
  [`readdir${WIDE}` as "readdir"]: { args: [pointer], returns: pointer },
  readlink: { args: [pointer, pointer, u64], returns: i64_fast },
  realpath: { args: [pointer, pointer], returns: pointer },
} as const;

let opened: Libc<typeof SYMBOLS> | undefined;

function libc(): Libc<typeof SYMBOLS>["functions"] {
  opened ??= openLibc(SYMBOLS);
  return opened.functions;
}

/** Follows a symlink, as a trailing slash does. Needs no permission for the directory itself. */
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

const MAX_PATH_SIZE = 4096; // PATH_MAX, where it is largest
const path = new Uint8Array(MAX_PATH_SIZE);
const content = new Uint8Array(1 << 16);
const encoder = new TextEncoder();

const resolvePath: DirectoryOperations["resolvePath"] = (written) => {
  if (written.includes("\0")) return null;
  const resolved = libc().realpath(ptr(encodeCString(written)), ptr(path)) as Pointer | null;
  return resolved && readCString(resolved);
};

const resolveDirectory: DirectoryOperations["resolveDirectory"] = (directory) =>
  isDirectory(directory) ? resolvePath(directory) : null;

/** Opened relative to the directory's descriptor, so a concurrent rename does not matter. */
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
  resolvePath,
  openReader,
};

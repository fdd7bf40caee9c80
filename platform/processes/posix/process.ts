// Starting programs on Linux and macOS.
//
// Why not `process.execve`: it closes every file descriptor above 2 (an inherited pipe, fork's channel, a
// shell's `<(...)`) and takes the environment from JavaScript, where `.env` values and lossy decoding have
// already happened. Here the pointers of the original environment are handed on untouched.
//
// Surprising: at start the engine ignores SIGPIPE and SIGXFSZ and, on Linux, marks the inherited descriptors
// close-on-exec. Both would pass to the new program, so both are put back.
import type { Pointer } from "bun:ffi";
import { FFIType, ptr, readCString } from "../../native/posix/ffi.ts";
import type { ProcessOperations, ReplaceRequest } from "../contract/process.ts";
import { exactArguments } from "./raw-arguments.ts";
import { constants } from "../../native/posix/constants.ts";
import { environmentEntries, environmentList, originalEnvironment, originalVariable } from "./environment.ts";
import { dropInput, hasInput, isInputEmpty } from "./stdin-poll.ts";
import { encodeCString, lastError, libc, openLibc, processLibc } from "../../native/posix/libc.ts";
import { listDescriptors } from "./libproc.ts";
import { makeNondumpable } from "./nondumpable.ts";
import { isHandledByRt, stopHeeding } from "./signals.ts";
import { findOnPath } from "../program-search.ts";

const SIGPIPE = 13;
const SIGXFSZ = 25;
const IGNORED_BY_ENGINE = [SIGPIPE, SIGXFSZ];
const F_GETFD = 1;
/** In the half of the word that poll() answers in: the descriptor is not open. */
const POLLNVAL = 0x20 << 16;
const LETTER_A = 0x61;
const FD_CLOEXEC = 1;
/** Descriptors above this are not looked at; shells use 10 to 63 for process substitution. */
const HIGHEST_DESCRIPTOR = 63;

// The collector must not free what a C structure points to.
const kept: ArrayBufferView[] = [];

function cString(text: string): Pointer {
  const bytes = encodeCString(text);
  kept.push(bytes);
  return ptr(bytes);
}

function pointerArray(pointers: readonly Pointer[]): Pointer {
  const array = new Float64Array(pointers.length + 1);
  const words = new Uint32Array(array.buffer);
  for (let index = 0; index < pointers.length; index += 1) {
    const pointer = pointers[index]!;
    words[index * 2] = pointer % 2 ** 32;
    words[index * 2 + 1] = Math.floor(pointer / 2 ** 32);
  }
  kept.push(array);
  return ptr(array);
}

export const ENGINE_SWITCH = "BUN_BE_BUN";
/** By this src/runtime/preload/internal-env-filter.ts knows it for ours. */
export const SWITCHED_OFF = "off";

/** libc looks through all that it has for each change, so that many thousands take it a minute. */
const MOST_CHANGES_BY_LIBC = 500;

/** The entries of the process but for those that are changed, and the changes. */
function mergeEnvironment(changes: ReplaceRequest["environment"]): Pointer[] {
  const entries = environmentEntries().filter((entry) => !Object.hasOwn(changes, nameOf(readCString(entry))));
  for (const [name, value] of Object.entries(changes))
    if (value !== undefined) entries.push(cString(`${name}=${value}`));
  return entries;
}

function nameOf(entry: string): string {
  return entry.slice(0, Math.max(entry.indexOf("="), 0));
}

/** libc's own copy is changed: it is this process's only for the moment until it is replaced. */
function buildEnvironment({ environment: changes, engine, isSwitchOpen }: ReplaceRequest): Pointer {
  if (!engine && Object.keys(changes).length > MOST_CHANGES_BY_LIBC)
    return pointerArray(mergeEnvironment(changes));
  const { unsetenv, putenv } = processLibc();
  for (const name in changes) {
    const value = changes[name];
    if (value === undefined) unsetenv(cString(name));
    else putenv(cString(`${name}=${value}`));
  }
  if (!engine) return environmentList() ?? pointerArray([]);
  const users = originalVariable(ENGINE_SWITCH);
  unsetenv(cString(ENGINE_SWITCH));
  const entries = [cString(`${ENGINE_SWITCH}=1`), ...environmentEntries()];
  if (!isSwitchOpen) entries.push(cString(`${ENGINE_SWITCH}=${users ?? SWITCHED_OFF}`));
  return pointerArray(entries);
}

const inheritedDescriptors: ProcessOperations["inheritedDescriptors"] = () =>
  process.platform === "darwin" ? descriptorsOfMacOS() : descriptorsOfLinux();

/** What the engine has opened itself by now is of a kind that nobody passes on: "anon_inode:[eventpoll]". */
function descriptorsOfLinux(): number[] {
  const found: number[] = [];
  const link = new Uint8Array(1);
  const states = pollDescriptors();
  const { fcntl, readlink } = processLibc();
  for (let descriptor = 3; descriptor <= HIGHEST_DESCRIPTOR; descriptor += 1) {
    const isOpen = states ? !(states[descriptor * 2 + 1]! & POLLNVAL) : fcntl(descriptor, F_GETFD) >= 0;
    if (!isOpen) continue;
    link[0] = 0;
    readlink(cString(`/proc/self/fd/${descriptor}`), ptr(link), link.length);
    if (link[0] !== LETTER_A) found.push(descriptor); // others begin with a slash, "pipe:" or "socket:"
  }
  return found;
}

/** All of them asked about in one call: an array of struct pollfd. Null where the limit of open files is lower. */
function pollDescriptors(): Int32Array | null {
  const states = new Int32Array((HIGHEST_DESCRIPTOR + 1) * 2);
  for (let descriptor = 0; descriptor <= HIGHEST_DESCRIPTOR; descriptor += 1)
    states[descriptor * 2] = descriptor;
  return processLibc().poll(ptr(states), HIGHEST_DESCRIPTOR + 1, 0) < 0 ? null : states;
}

/** The engine marks what it opens itself close-on-exec, and leaves what it inherited as it is. */
function descriptorsOfMacOS(): number[] {
  return listDescriptors().filter(
    (each) =>
      each >= 3 && each <= HIGHEST_DESCRIPTOR && (processLibc().fcntl(each, F_GETFD) & FD_CLOEXEC) === 0,
  );
}

const replace: ProcessOperations["replace"] = (request) => {
  const { program, argv, descriptors = inheritedDescriptors() } = request;
  const path = cString(program);
  const words: Pointer[] = [];
  for (const word of argv) words.push(cString(word));
  const argumentList = pointerArray(words);
  const variables = buildEnvironment(request);
  const { execve, ioctl, signal } = processLibc();
  for (const descriptor of descriptors) ioctl(descriptor, constants.FIONCLEX);
  for (const number of IGNORED_BY_ENGINE) signal(number, null);
  execve(path, argumentList, variables);
  return lastError();
};

/** The engine may still have a handler of its own, and removes it later than we need. */
const dieOf: ProcessOperations["dieOf"] = (signal) => {
  const number = process.getBuiltinModule("node:os").constants.signals[signal];
  processLibc().signal(number, null);
  processLibc().raise(number);
  return 128 + number;
};

const write: ProcessOperations["write"] = (descriptor, bytes) =>
  Number(libc().write(descriptor, ptr(bytes), bytes.length));

const isTerminal: ProcessOperations["isTerminal"] = (descriptor) => libc().isatty(descriptor) === 1;

const SHELLS = ["bash", "sh", "zsh"];
/** Where every system has one, should PATH be empty or wrong. */
const SHELL_DIRECTORIES = "/bin:/usr/bin";

const findShell: ProcessOperations["findShell"] = (path) => {
  for (const PATH of [path, SHELL_DIRECTORIES]) {
    for (const name of SHELLS) {
      const found = findOnPath(name, { PATH });
      if (found) return found;
    }
  }
  return undefined;
};

export const descriptorLimit: ProcessOperations["descriptorLimit"] = () => {
  const limits = new BigUint64Array(2);
  const { functions } = openLibc({ getrlimit: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 } });
  return functions.getrlimit(constants.RLIMIT_NOFILE, ptr(limits)) === 0
    ? Number(limits[0])
    : Number.POSITIVE_INFINITY;
};

export const operations: ProcessOperations = {
  descriptorLimit,
  replace,
  originalEnvironment,
  originalVariable,
  dieOf,
  heeded: isHandledByRt,
  stopHeeding,
  write,
  isTerminal,
  inheritedDescriptors,
  isInputEmpty,
  hasInput,
  dropInput,
  hideMemory: makeNondumpable,
  exactArguments,
  defaultShell: "system",
  findShell,
  shellHint: "install bash or sh, or use --shell rt",
  noFile: "/dev/null",
  pathSeparator: ":",
  system: `${process.platform} ${process.arch}`,
};

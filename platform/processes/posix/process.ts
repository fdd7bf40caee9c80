// Process replacement (exec) on Linux and macOS: rt's process becomes the program.
//
// Non-obvious:
// - `process.execve` cannot be used: it closes all descriptors above 2 and takes the environment from JavaScript, with `.env`
//   values and decoding losses. Here the original entries are passed on by pointer.
// - The engine ignores SIGPIPE and SIGXFSZ and, on Linux, marks inherited descriptors close-on-exec. Both are undone.
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
import { isHandledByRt, restoreDefaultActions } from "./signals.ts";
import { findOnPath } from "../program-search.ts";

const SIGPIPE = 13;
const SIGXFSZ = 25;
const IGNORED_BY_ENGINE = [SIGPIPE, SIGXFSZ];
const F_GETFD = 1;
/** In the upper half of the word, poll()'s result: the descriptor is closed. */
const POLLNVAL = 0x20 << 16;
const LETTER_A = 0x61;
const FD_CLOEXEC = 1;
/** Higher descriptors are not inherited; shells use 10 to 63 for process substitution. */
const HIGHEST_DESCRIPTOR = 63;

// Referenced by native structures, so they must not be collected.
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
/** Recognized by src/runtime/preload/internal-env-filter.ts. */
export const SWITCHED_OFF = "off";

/** libc scans its whole environment for each change, so many thousands would take a minute. */
const MAX_LIBC_CHANGES = 500;

/** Returns the unchanged entries of the process, then the changes. */
function mergeEnvironment(changes: ReplaceRequest["environment"]): Pointer[] {
  const entries = environmentEntries().filter((entry) => !Object.hasOwn(changes, nameOf(readCString(entry))));
  for (const [name, value] of Object.entries(changes))
    if (value !== undefined) entries.push(cString(`${name}=${value}`));
  return entries;
}

function nameOf(entry: string): string {
  return entry.slice(0, Math.max(entry.indexOf("="), 0));
}

/** Changes libc's environment in place: the process is about to be replaced. */
function buildEnvironment({ environment: changes, engine, isSwitchOpen }: ReplaceRequest): Pointer {
  if (!engine && Object.keys(changes).length > MAX_LIBC_CHANGES)
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

/** The engine's own descriptors are of kinds that are not inherited, such as "anon_inode:[eventpoll]". */
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
    if (link[0] !== LETTER_A) found.push(descriptor); // other links begin with "/", "pipe:" or "socket:"
  }
  return found;
}

/** Polls all descriptors in one call (array of struct pollfd). Returns null if the limit of open files is lower. */
function pollDescriptors(): Int32Array | null {
  const states = new Int32Array((HIGHEST_DESCRIPTOR + 1) * 2);
  for (let descriptor = 0; descriptor <= HIGHEST_DESCRIPTOR; descriptor += 1)
    states[descriptor * 2] = descriptor;
  return processLibc().poll(ptr(states), HIGHEST_DESCRIPTOR + 1, 0) < 0 ? null : states;
}

/** The engine marks its own descriptors close-on-exec, and leaves inherited ones unchanged. */
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

/** The engine may still have a handler, and removes it too late. */
const exitBySignal: ProcessOperations["exitBySignal"] = (signal) => {
  const number = process.getBuiltinModule("node:os").constants.signals[signal];
  processLibc().signal(number, null);
  processLibc().raise(number);
  return 128 + number;
};

const write: ProcessOperations["write"] = (descriptor, bytes) =>
  Number(libc().write(descriptor, ptr(bytes), bytes.length));

const isTerminal: ProcessOperations["isTerminal"] = (descriptor) => libc().isatty(descriptor) === 1;

const SHELLS = ["bash", "sh", "zsh"];
/** Fallback if PATH is empty or invalid. */
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
  exitBySignal,
  handledSignals: isHandledByRt,
  restoreDefaultActions,
  write,
  isTerminal,
  inheritedDescriptors,
  isInputEmpty,
  hasInput,
  dropInput,
  hideMemory: makeNondumpable,
  exactArguments,
  replaysStarts: process.platform === "linux",
  defaultShell: "system",
  findShell,
  shellHint: "install bash or sh, or use --shell rt",
  noFile: "/dev/null",
  pathSeparator: ":",
  system: `${process.platform} ${process.arch}`,
};

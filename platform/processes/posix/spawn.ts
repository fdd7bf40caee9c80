// Spawns a program through posix_spawn with any argv[0], the original environment entries, inherited signal dispositions and, for
// its own session, a controlling terminal. The engine's spawn offers none of these.
//
// Invariants:
// - Copies of arguments and variables are zeroized after the call, because a variable may be a credential.
//
// Non-obvious: the first terminal that a session leader opens becomes its controlling terminal. The engine does not reap these
// children, so `waitFor` must be called on SIGCHLD.
import type { Pointer } from "bun:ffi";
import { constants } from "../../native/posix/constants.ts";
import { environmentEntries, originalVariable } from "./environment.ts";
import { FFIType, ptr, readCString } from "../../native/posix/ffi.ts";
import { encodeCString, type Libc, openLibc, processLibc } from "../../native/posix/libc.ts";
import { ENGINE_SWITCH, SWITCHED_OFF } from "./process.ts";

const { i32, ptr: pointer } = FFIType;

const SYMBOLS = {
  posix_spawn: { args: [pointer, pointer, pointer, pointer, pointer, pointer], returns: i32 },
  posix_spawn_file_actions_init: { args: [pointer], returns: i32 },
  posix_spawn_file_actions_addopen: { args: [pointer, i32, pointer, i32, i32], returns: i32 },
  posix_spawn_file_actions_adddup2: { args: [pointer, i32, i32], returns: i32 },
  posix_spawn_file_actions_destroy: { args: [pointer], returns: i32 },
  posix_spawnattr_init: { args: [pointer], returns: i32 },
  posix_spawnattr_setflags: { args: [pointer, i32], returns: i32 },
  posix_spawnattr_setsigdefault: { args: [pointer, pointer], returns: i32 },
  posix_spawnattr_destroy: { args: [pointer], returns: i32 },
  waitpid: { args: [i32, pointer, i32], returns: i32 },
} as const;

let opened: Libc<typeof SYMBOLS>["functions"] | undefined;

function libc(): Libc<typeof SYMBOLS>["functions"] {
  return (opened ??= openLibc(SYMBOLS).functions);
}

/** Upper bound of these structures: at most 336 bytes on any system. */
const STRUCTURE = 1024;
const SETSIGDEF = 4;
const O_RDWR = 2;
/** Ignored by the engine; an ignored signal would be inherited. */
const IGNORED_BY_ENGINE = [13, 25]; // SIGPIPE, SIGXFSZ

export interface ProgramRequest {
  readonly program: string;
  readonly argv: readonly string[];
  /** Variables to set or, if undefined, to remove; with `isWhole` the whole environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly isWhole?: boolean;
  /** Working directory; by default rt's. */
  readonly directory?: string;
  readonly leadsSession?: boolean;
  /** Sets the engine switch: see `replace` in contract/process.ts. */
  readonly engine?: boolean | undefined;
  /** Sources of descriptors 0, 1, 2 and so on: a descriptor of rt's, the terminal, or undefined for closed. Ascending beyond 2. */
  readonly standard: readonly (number | "terminal" | undefined)[];
  /** Path of the controlling terminal of a new session. */
  readonly terminal: string | undefined;
  /** Further inherited descriptors, with the same numbers. */
  readonly descriptors: readonly number[];
}

/** Returns the process id, or the error number. */
export function startProgram(request: ProgramRequest): { pid: number } | { error: number } {
  const actions = new Uint8Array(STRUCTURE);
  const attributes = new Uint8Array(STRUCTURE);
  const signals = new Uint8Array(STRUCTURE);
  const path = encodeCString(request.terminal ?? "");
  const calls = libc();
  calls.posix_spawn_file_actions_init(ptr(actions));
  calls.posix_spawnattr_init(ptr(attributes));
  try {
    let first: number | undefined;
    request.standard.forEach((source, place) => {
      if (source === undefined) return;
      if (source !== "terminal") {
        // dup2 onto itself clears close-on-exec.
        calls.posix_spawn_file_actions_adddup2(ptr(actions), source, place);
      } else if (first === undefined) {
        calls.posix_spawn_file_actions_addopen(ptr(actions), place, ptr(path), O_RDWR, 0);
        first = place;
      } else calls.posix_spawn_file_actions_adddup2(ptr(actions), first, place);
    });
    for (const number of IGNORED_BY_ENGINE) signals[(number - 1) >> 3]! |= 1 << ((number - 1) & 7);
    calls.posix_spawnattr_setsigdefault(ptr(attributes), ptr(signals));
    if (request.directory !== undefined) changeDirectory(ptr(actions), request.directory);
    const isLeader = request.leadsSession || request.terminal !== undefined;
    const session = isLeader ? constants.POSIX_SPAWN_SETSID : 0;
    calls.posix_spawnattr_setflags(ptr(attributes), SETSIGDEF | session);
    for (const descriptor of request.descriptors) processLibc().ioctl(descriptor, constants.FIONCLEX);
    return start(request, ptr(actions), ptr(attributes));
  } finally {
    calls.posix_spawn_file_actions_destroy(ptr(actions));
    calls.posix_spawnattr_destroy(ptr(attributes));
  }
}

const CHANGE_DIRECTORY = {
  posix_spawn_file_actions_addchdir_np: { args: [pointer, pointer], returns: i32 },
} as const;
let directoryChange: Libc<typeof CHANGE_DIRECTORY>["functions"] | undefined;

/** Opened separately: old C libraries lack the call. */
function changeDirectory(actions: Pointer, directory: string): void {
  directoryChange ??= openLibc(CHANGE_DIRECTORY).functions;
  directoryChange.posix_spawn_file_actions_addchdir_np(actions, ptr(encodeCString(directory)));
}

export interface EnvironmentChanges {
  /** Variables before the original environment. */
  readonly first: readonly string[];
  /** Names of variables to omit. */
  readonly without: readonly string[];
  /** Variables after the original environment. */
  readonly last: readonly string[];
}

/** @param changes variables to set or, if undefined, to remove */
export function environmentChanges(
  changes: ProgramRequest["environment"],
  engine: boolean | undefined,
): EnvironmentChanges {
  const all = engine
    ? { ...changes, [ENGINE_SWITCH]: originalVariable(ENGINE_SWITCH) ?? SWITCHED_OFF }
    : changes;
  const without = Object.keys(all);
  const last: string[] = [];
  for (const name of without) if (all[name] !== undefined) last.push(`${name}=${all[name]}`);
  return { first: engine ? [`${ENGINE_SWITCH}=1`] : [], without, last };
}

function start(
  { program, argv, environment: changes, isWhole = false, engine }: ProgramRequest,
  actions: Pointer,
  attributes: Pointer,
): { pid: number } | { error: number } {
  const changed = environmentChanges(changes, engine);
  const [first, copies] = [changed.first.map(encodeCString), changed.last.map(encodeCString)];
  const without = new Set(changed.without);
  const entries = first.map((entry) => ptr(entry));
  for (const entry of isWhole ? [] : environmentEntries()) {
    const text = without.size === 0 ? "" : readCString(entry);
    if (!without.has(text.slice(0, Math.max(text.indexOf("="), 0)))) entries.push(entry);
  }
  for (const copy of copies) entries.push(ptr(copy));
  const words = argv.map(encodeCString);
  const path = encodeCString(program);
  const pid = new Int32Array(1);
  const error = libc().posix_spawn(
    ptr(pid),
    ptr(path),
    actions,
    attributes,
    ptr(pointers(words.map((word) => ptr(word)))),
    ptr(pointers(entries)),
  );
  for (const copy of copies) copy.fill(0);
  return error === 0 ? { pid: pid[0]! } : { error };
}

function pointers(list: readonly Pointer[]): BigUint64Array {
  const array = new BigUint64Array(list.length + 1);
  for (let at = 0; at < list.length; at += 1) array[at] = BigInt(list[at]!);
  return array;
}

const WNOHANG = 1;
const WUNTRACED = 2;
const STOPPED = 0x7f;

export type ProcessChange =
  | { readonly kind: "stopped" }
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "killed"; readonly signal: number };

/** Blocks until a child has exited. */
export function waitForEnd(pid: number): void {
  libc().waitpid(pid, null, 0);
}

/** Returns the change of state of a child since the last call; null if there is none. */
export function waitFor(pid: number): ProcessChange | null {
  const status = new Int32Array(1);
  if (libc().waitpid(pid, ptr(status), WNOHANG | WUNTRACED) !== pid) return null;
  const low = status[0]! & 0x7f;
  if (low === STOPPED) return { kind: "stopped" };
  if (low === 0) return { kind: "exited", code: (status[0]! >> 8) & 0xff };
  return { kind: "killed", signal: low };
}

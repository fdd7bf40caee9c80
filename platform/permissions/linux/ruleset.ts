// Creates Landlock rulesets for children with permissions.
//
// Invariants:
// - A rule applies to the file that its path names without symlinks. A path with a symlink has no rule.
// - A ruleset handles all accesses of its version, so what no rule names is refused.
// Non-obvious:
// - Rights are inherited downwards and cannot be taken away below. So a folder above a hidden file gets no right to read files,
//   and each entry beside the hidden one gets a rule.
// - TCP connections are refused here even if they are permitted: ../../native/linux/recorder/connect-guard.h makes them.
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { encodeCString, openLibc } from "../../native/posix/libc.ts";
import { closeDescriptor } from "../../native/posix/pipe.ts";
import type { FileRule, PermissionRules } from "../contract/permissions.ts";

const fs = process.getBuiltinModule("node:fs");

const { i64, i64_fast } = FFIType;
const CREATE_RULESET = 444;
const ADD_RULE = 445;
const VERSION_FLAG = 1;
const PATH_BENEATH = 1;

/** The first version that restricts truncation and moves between folders. */
const MIN_VERSION = 3;
const VERSION_WITH_NETWORK = 4;
export const VERSION_WITH_SCOPES = 6;

const EXECUTE = 1 << 0;
const WRITE_FILE = 1 << 1;
const READ_FILE = 1 << 2;
const READ_DIRECTORY = 1 << 3;
const MAKE_CHARACTER_DEVICE = 1 << 6;
const MAKE_BLOCK_DEVICE = 1 << 11;
const TRUNCATE = 1 << 14;
/** All accesses of version 3. */
const ALL = (1 << 15) - 1;
/** Rights that a rule for a file can have. */
const OF_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE;
const READ = EXECUTE | READ_FILE | READ_DIRECTORY;
const RIGHTS: Readonly<Record<FileRule["access"], number>> = {
  read: READ,
  write: ALL & ~(MAKE_CHARACTER_DEVICE | MAKE_BLOCK_DEVICE),
  device: READ_FILE | READ_DIRECTORY | WRITE_FILE | TRUNCATE,
};

const CONNECT_TCP = 2n;
/** Abstract sockets and signals. */
const SCOPES = 3n;

const O_PATH = 0o10000000;
const O_NOFOLLOW = 0o400000;
const O_CLOEXEC = 0o2000000;

function openCalls() {
  const six = [i64, i64, i64, i64, i64] as const;
  return openLibc({
    syscall: { args: six, returns: i64_fast },
    open: { args: [FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
  });
}

let calls: ReturnType<typeof openCalls> | undefined;

/** Returns 0 if the kernel lacks Landlock, or has it disabled. */
export function landlockVersion(): number {
  calls ??= openCalls();
  return Math.max(0, Number(calls.functions.syscall(CREATE_RULESET, 0, 0, VERSION_FLAG, 0)));
}

export function hasRulesets(version = landlockVersion()): boolean {
  return version >= MIN_VERSION;
}

/** Returns the descriptor of a ruleset; the caller closes it. @throws an Error with the failed step */
export function openRuleset(rules: PermissionRules): number {
  const descriptor = createRuleset(rules.network !== "open");
  try {
    for (const rule of rules.files) addTree(descriptor, rule.path, RIGHTS[rule.access], rules.hidden);
  } catch (error) {
    closeDescriptor(descriptor);
    throw error;
  }
  return descriptor;
}

function createRuleset(refusesConnections: boolean): number {
  const version = landlockVersion();
  const hasNetwork = version >= VERSION_WITH_NETWORK;
  const hasScopes = version >= VERSION_WITH_SCOPES;
  const attributes = new BigUint64Array(new ArrayBuffer(24));
  attributes[0] = BigInt(ALL);
  attributes[1] = hasNetwork && refusesConnections ? CONNECT_TCP : 0n;
  attributes[2] = hasScopes ? SCOPES : 0n;
  const size = hasScopes ? 24 : hasNetwork ? 16 : 8;
  const created = Number(calls!.functions.syscall(CREATE_RULESET, ptr(attributes), size, 0, 0));
  if (created < 0) throw new Error(`a Landlock ruleset cannot be created (errno ${calls!.errno()})`);
  return created;
}

function addTree(ruleset: number, path: string, rights: number, hidden: readonly string[]): void {
  if (hidden.includes(path)) return;
  const isAbove = hidden.some((each) => each.startsWith(path === "/" ? path : `${path}/`));
  if (!isAbove) return addRule(ruleset, path, rights);
  addRule(ruleset, path, rights & ~(READ_FILE | EXECUTE));
  let names: string[];
  try {
    names = fs.readdirSync(path);
  } catch {
    return;
  }
  for (const name of names) addTree(ruleset, path === "/" ? `/${name}` : `${path}/${name}`, rights, hidden);
}

/** Adds a rule unless the path does not exist, or has a symlink. */
function addRule(ruleset: number, path: string, rights: number): void {
  const text = encodeCString(path);
  const descriptor = calls!.functions.open(ptr(text), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return;
  try {
    const stat = fs.fstatSync(descriptor);
    if (stat.isSymbolicLink() || fs.readlinkSync(`/proc/self/fd/${descriptor}`) !== path) return;
    const allowed = stat.isDirectory() ? rights : rights & OF_FILE;
    if (allowed === 0) return;
    const attributes = new DataView(new ArrayBuffer(16));
    attributes.setBigUint64(0, BigInt(allowed), true);
    attributes.setInt32(8, descriptor, true);
    const bytes = new Uint8Array(attributes.buffer);
    if (Number(calls!.functions.syscall(ADD_RULE, ruleset, PATH_BENEATH, ptr(bytes), 0)) < 0)
      throw new Error(`a Landlock rule for ${path} cannot be added (errno ${calls!.errno()})`);
  } finally {
    closeDescriptor(descriptor);
  }
}

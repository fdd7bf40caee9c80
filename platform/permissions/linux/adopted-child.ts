// Takes over a child with permissions that the front has started (../../native/linux/front/restricted.h).
//
// Invariants:
// - It behaves as a child of `startPermitted`. Its output is that of this process.
// Non-obvious: the front has blocked the signals that rt handles. They are delivered as soon as rt has its handlers.
import { FFIType, ptr } from "../../native/posix/ffi.ts";
import { encodeCString, openLibc, processLibc } from "../../native/posix/libc.ts";
import type { Child, ChildExit } from "../../processes/contract/process-tree.ts";
import { exitOf } from "../../processes/posix/byte-exact-spawn.ts";
import { operations as host } from "../../processes/posix/process.ts";
import { waitFor } from "../../processes/posix/spawn.ts";
import type { AdoptedStart } from "../adoption.ts";
import type { ChildPermissions } from "../contract/permissions.ts";
import { GuardSession } from "./guard-session.ts";
import { readReports } from "./permitted-child.ts";

interface AdoptedChild extends Child {
  /** Whether it is not in the process group of rt. */
  readonly ownsSession: boolean;
}

/** The folder is removed at the end, so its name must be one that the front gives. */
const PATTERN = /^(\d+) (\d+) (\d+) (\d+) (\/.*\/rt-[A-Za-z\d]{6})$/;

/** Reads the variable of the front, and removes it. */
export function takeAdoptedStart(variable: string): AdoptedStart | undefined {
  const value = host.originalVariable(variable) ?? "";
  processLibc().unsetenv(ptr(encodeCString(variable)));
  const [, pid, reports, connections, file, folder] = PATTERN.exec(value) ?? [];
  if (folder === undefined) return undefined;
  return {
    pid: Number(pid),
    reports: Number(reports),
    connections: Number(connections),
    file: Number(file),
    folder,
  };
}

export function adoptChild(
  { pid, reports, connections, file }: AdoptedStart,
  permissions: ChildPermissions,
  ownsSession: boolean,
): AdoptedChild {
  const session = new GuardSession(permissions);
  session.connectLauncher({ file, connections });
  unblockSignals();
  return { pid, ownsSession, done: readReports(session, reports, endOf(pid)) };
}

const POLL_INTERVAL = 5; // ms

function endOf(pid: number): Promise<ChildExit> {
  const { promise, resolve } = Promise.withResolvers<ChildExit>();
  const look = () => {
    const change = waitFor(pid);
    if (!change || change.kind === "stopped") return false;
    resolve(exitOf(change));
    return true;
  };
  // A signal that came before the end is delivered before it: the engine does that once in a turn.
  const looking = setInterval(() => look() && clearInterval(looking), POLL_INTERVAL);
  return promise;
}

/** An upper bound of the size of a signal set, in bytes. */
const SET_SIZE = 128;
const SIG_UNBLOCK = 1;
/** SIGHUP, SIGINT, SIGTERM and SIGTSTP. */
const BLOCKED = [1, 2, 15, 20];

function unblockSignals(): void {
  const { i32, ptr: pointer } = FFIType;
  const { functions } = openLibc({ pthread_sigmask: { args: [i32, pointer, pointer], returns: i32 } });
  const set = new Uint8Array(SET_SIZE);
  for (const number of BLOCKED) set[(number - 1) >> 3]! |= 1 << ((number - 1) & 7);
  functions.pthread_sigmask(SIG_UNBLOCK, ptr(set), null);
}

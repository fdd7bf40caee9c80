// What has lost its parent: a daemon that forked twice, a background process of a shell that has ended.
//
// Contract: on Linux such a process becomes a child of ours from `adoptOrphans` on, instead of the system's first
// process, whatever group or session it has moved to, so that it is found with the tree that it comes from. When it has
// ended it is taken note of, as a parent must, or it would stay in the process table.
//
// Surprising: the engine waits for the processes that it has started, each by its number. Those must be left to it.
import { FFIType } from "./ffi.ts";
import { isGuarded } from "./guardian.ts";
import { openLibc } from "./libc.ts";
import { listZombies, type ProcessEntry, type TreeRoot } from "./process-table.ts";

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const SYMBOLS = {
  prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
  waitpid: { args: [FFIType.i32, FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
} as const;

/** They end in swarms. */
const REAP_AFTER = 100; // ms
let isAdopting = false;
let reaping: Timer | undefined;

export function adoptOrphans(): void {
  if (isAdopting || process.platform !== "linux") return;
  if (openLibc(SYMBOLS).functions.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) return;
  isAdopting = true;
  process.on("SIGCHLD", () => {
    reaping ??= setTimeout(reap, REAP_AFTER).unref();
  });
}

/** The roots of all trees, what we have adopted among them. */
export function withOrphans(
  roots: readonly TreeRoot[],
  processes: readonly ProcessEntry[],
): readonly TreeRoot[] {
  if (!isAdopting) return roots;
  const orphans = processes.filter(({ pid, parent }) => parent === process.pid && !isGuarded(pid));
  return [...roots, ...orphans.map(({ pid }) => ({ pid, ownsSession: false }))];
}

function reap(): void {
  reaping = undefined;
  const { waitpid } = openLibc(SYMBOLS).functions;
  for (const pid of listZombies(process.pid)) if (!isGuarded(pid)) waitpid(pid, null, WNOHANG);
}

// The subreaper: rt inherits orphaned descendants (daemons that forked twice, background processes of an exited shell) and reaps
// them. It is one if it is the first process of a container, and after `adoptOrphans` (PR_SET_CHILD_SUBREAPER).
//
// Invariants:
// - On Linux an orphan belongs to the tree that it comes from, whatever its group or session: a marker variable identifies it.
// - rt reaps exited orphans, which would otherwise fill the process table, but not children that the engine waits for.
//
// Non-obvious: a zombie is reaped on the second scan. The engine has reaped its own children by then. Without pidfds the engine's
// SIGCHLD handler replaces rt's, so orphans are reaped when rt exits.
import { FFIType } from "../../native/posix/ffi.ts";
import { findInMemory } from "./environment-copy.ts";
import { isWatched, watchOrphans } from "./kill-watchdog.ts";
import { openLibc } from "../../native/posix/libc.ts";
import { listProcesses, listZombies, type ProcessEntry, type TreeRoot } from "./process-table.ts";

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const SECOND_SCAN = 100; // ms
const SYMBOLS = {
  prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
  waitpid: { args: [FFIType.i32, FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
} as const;

let isAdopting = false;
let isReaping = false;

/** Makes rt a subreaper (Linux only). */
export function adoptOrphans(): void {
  if (isAdopting || process.platform !== "linux") return;
  if (openLibc(SYMBOLS).functions.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) return;
  isAdopting = true;
  reapOrphans();
}

/** Must be called before the first child starts. No effect if rt is not a subreaper. */
export function reapOrphans(): void {
  if (isReaping || !(isAdopting || process.pid === 1)) return;
  isReaping = true;
  let timer: Timer | undefined;
  process.on("SIGCHLD", () => {
    if (timer) return;
    const seen = listOrphans();
    timer = setTimeout(() => {
      timer = undefined;
      const { waitpid } = openLibc(SYMBOLS).functions;
      for (const pid of listOrphans()) if (seen.includes(pid)) waitpid(pid, null, WNOHANG);
      if (listOrphans().length > 0) process.emit("SIGCHLD", "SIGCHLD");
    }, SECOND_SCAN);
    timer.unref();
  });
}

/** Marker variable of a child's descendants. */
const FAMILY = "RT_FAMILY";

export function withFamily(environment: Record<string, string>, family?: string): Record<string, string> {
  return isAdopting && family !== undefined ? { ...environment, [FAMILY]: family } : environment;
}

/** Returns the roots of all trees, including orphans; with `families`, only orphans with these markers. */
export function withOrphans(
  roots: readonly TreeRoot[],
  processes: readonly ProcessEntry[],
  families?: readonly string[],
): readonly TreeRoot[] {
  if (!isAdopting) return roots;
  const isOfThese = ({ pid, isEnding }: ProcessEntry) => {
    if (!families) return true;
    const environment = environmentOf(pid);
    // An exiting process has no environment, so it may belong to any tree. Waiting for it is short, signalling it has no effect.
    if (environment === "" && isEnding) return true;
    return families.includes(familyIn(environment) ?? copiedFamily(pid) ?? "");
  };
  const all = processes.filter(({ pid, parent }) => parent === process.pid && !isWatched(pid));
  for (const pid of copiedFamilies.keys())
    if (!all.some((entry) => entry.pid === pid)) copiedFamilies.delete(pid);
  const orphans = all.filter(isOfThese);
  return [...roots, ...orphans.map(({ pid }) => ({ pid, ownsSession: false }))];
}

/** Returns undefined if the process has a new environment, or has overwritten it. */
function familyIn(environment: string): string | undefined {
  const start = `${FAMILY}=`;
  return environment
    .split("\0")
    .find((entry) => entry.startsWith(start))
    ?.slice(start.length);
}

/** Families of orphans by the copy of their environment. Searching memory takes milliseconds. */
const copiedFamilies = new Map<number, string | undefined>();

function copiedFamily(pid: number): string | undefined {
  if (!copiedFamilies.has(pid)) copiedFamilies.set(pid, findInMemory(pid, FAMILY));
  return copiedFamilies.get(pid);
}

/** Reads the environment from any thread: exited threads have none. Returns "" if it is unreadable. */
function environmentOf(pid: number): string {
  const { readdirSync, readFileSync } = process.getBuiltinModule("node:fs");
  const threads = (): readonly string[] => {
    try {
      return readdirSync(`/proc/${pid}/task`);
    } catch {
      return [];
    }
  };
  for (const thread of threads()) {
    try {
      const environment = readFileSync(`/proc/${pid}/task/${thread}/environ`, "latin1");
      if (environment !== "") return environment;
    } catch {
      // The process has exited concurrently.
    }
  }
  return "";
}

/** Watches the living orphans with this marker variable, until the family is over. */
export function guardOrphans(family: string, isOver: boolean): void {
  const orphans = isOver || !isAdopting ? [] : withOrphans([], listProcesses(), [family]);
  watchOrphans(
    family,
    orphans.map(({ pid }) => pid),
  );
}

function listOrphans(): number[] {
  return listZombies(process.pid).filter((pid) => !isWatched(pid));
}

// Process trees on Linux and macOS: signals and ends children with their descendants.
//
// Invariants:
// - One signal reaches the process group of a child that leads its own session. The process table shows members that moved to
//   another group.
// - If rt is killed, the kill watchdog (kill-watchdog.ts) ends the children.
//
// Non-obvious: the start of children is loaded on demand, because a run of cache hits starts none.
import type { Child, ProcessTreeOperations } from "../contract/process-tree.ts";
import { FFIType } from "../../native/posix/ffi.ts";
import { errorCode, type Libc, openLibc } from "../../native/posix/libc.ts";
import type { PosixChild } from "./child-start.ts";
import { descriptorLimit } from "./process.ts";
import { listProcesses, type ProcessEntry, runs, selectTrees, type TreeRoot } from "./process-table.ts";
import { isHandledByRt, stopLikeTerminal } from "./signals.ts";

/** Per child: pipe ends, the streams' duplicates, and the engine's pidfd. */
const DESCRIPTORS_PER_CHILD = 5;
/** Per traced child in addition: listener, wakeup and stop pipes, journal, store marker. */
const DESCRIPTORS_TO_FOLLOW = 10;
const DESCRIPTORS_RESERVED = 48;

function childStart() {
  return require("./child-start.ts") as typeof import("./child-start.ts");
}

function subreaper() {
  return require("./subreaper.ts") as typeof import("./subreaper.ts");
}

/** Another rt in the tree forwards these signals; its children would receive them twice. */
const RELAYED: readonly string[] = ["SIGINT", "SIGTERM", "SIGHUP"];

const signalTrees = (
  children: readonly Child[],
  signal: NodeJS.Signals,
  families?: readonly string[],
): void => {
  const relay = RELAYED.includes(signal) ? process.execPath : null;
  const roots = (children as readonly PosixChild[]).map(({ pid, ownsSession }) => ({ pid, ownsSession }));
  const adopt = (known: readonly TreeRoot[], processes: readonly ProcessEntry[]) =>
    subreaper().withOrphans(known, processes, families);
  const targets = signal === "SIGCONT" ? targetsOf(roots, relay, adopt) : freezeTrees(roots, relay, adopt);
  if (signal === "SIGSTOP") return;
  for (const target of targets) send(target, signal);
  if (RELAYED.includes(signal)) for (const target of targets) send(target, "SIGCONT");
};

type Adopt = (roots: readonly TreeRoot[], processes: readonly ProcessEntry[]) => readonly TreeRoot[];

/** Returns process groups (negative) and single processes. Members of a root's group are reached through the group. */
function targetsOf(roots: readonly TreeRoot[], relay: string | null, adopt: Adopt): number[] {
  const leads = new Set(roots.flatMap(({ pid, ownsSession }) => (ownsSession ? [pid] : [])));
  const processes = listProcesses();
  const members = selectTrees(processes, adopt(roots, processes), relay);
  const others = members.flatMap(({ pid, group }) => (leads.has(group) ? [] : [pid]));
  return [...Array.from(leads, (lead) => -lead), ...others];
}

/** Limit of rounds in which new members appear. */
const MAX_SCANS = 10;

/**
 * Stops all members with SIGSTOP before they are ended (race), because the process table is not read atomically. A member that
 * forks or creates a session just before its parent ends would be lost.
 */
function freezeTrees(roots: readonly TreeRoot[], relay: string | null, adopt: Adopt): number[] {
  const frozen = new Set<number>();
  for (const { pid, ownsSession } of roots) freeze(ownsSession ? -pid : pid);
  const known = [...roots];
  for (let reading = 0; reading < MAX_SCANS; reading += 1) {
    const fresh = targetsOf(known, relay, adopt).filter((target) => !frozen.has(target));
    if (fresh.length === 0) break;
    for (const pid of fresh) {
      freeze(pid);
      known.push({ pid, ownsSession: false });
    }
  }
  return [...frozen];

  function freeze(target: number): void {
    frozen.add(target);
    send(target, "SIGSTOP");
  }
}

/**
 * Children receive SIGSTOP, because the kernel ignores terminal stops in sessions without a shell. This process stops itself with
 * SIGTSTP. Without a job-control shell that has no effect, and everything continues at once.
 */
const shareSuspension: ProcessTreeOperations["shareSuspension"] = ({ children, onSuspend, onResume }) => {
  const suspend = () => {
    const stopped = children();
    onSuspend();
    signalTrees(stopped, "SIGSTOP");
    stopLikeTerminal();
    signalTrees(stopped, "SIGCONT");
    onResume();
  };
  if (isHandledByRt(["SIGTSTP"]).length === 0) return () => {};
  process.on("SIGTSTP", suspend);
  return () => process.off("SIGTSTP", suspend);
};

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has already exited.
  }
}

const hasSurvivors: ProcessTreeOperations["hasSurvivors"] = (children, families) => {
  const processes = listProcesses();
  const roots = subreaper().withOrphans(children as readonly PosixChild[], processes, families);
  return selectTrees(processes, roots, null).length > 0;
};

const listMembers: ProcessTreeOperations["listMembers"] = (children, families) => {
  if (process.platform !== "linux") return [];
  const processes = listProcesses();
  const roots = subreaper().withOrphans(children as readonly PosixChild[], processes, families);
  return selectTrees(processes, roots, null).map(({ pid, isBusy = false }) => ({ pid, isBusy }));
};

/**
 * Checks each process group with one call, and reads the process table only if a group exists. A pid is reused only after its group
 * and session are gone; a process that reuses one is excluded by its group and session.
 */
const findSurvivingChildren: ProcessTreeOperations["findSurvivingChildren"] = (children) => {
  const candidates = (children as readonly PosixChild[]).filter(
    ({ pid, ownsSession }) => ownsSession && hasGroup(pid),
  );
  if (candidates.length === 0) return [];
  const processes = listProcesses();
  const names = new Set(processes.map(({ pid }) => pid));
  const groups = new Set(processes.map(({ group }) => group));
  return candidates.filter(({ pid }) => groups.has(pid) && !names.has(pid));
};

const KILL = { kill: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 } } as const;
let groups: Libc<typeof KILL> | undefined;

/** Also true if the group contains only zombies. The engine's call takes up to 0.1 ms to throw ESRCH. */
function hasGroup(group: number): boolean {
  groups ??= openLibc(KILL);
  return groups.functions.kill(-group, 0) === 0 || errorCode(groups.errno()) === "EPERM"; // another user's process
}

const hasAncestor: ProcessTreeOperations["hasAncestor"] = (program) => {
  const parents = new Map(listProcesses().map(({ pid, parent }) => [pid, parent]));
  for (let pid = process.ppid; pid > 1; pid = parents.get(pid) ?? 0) if (runs(pid, program)) return true;
  return false;
};

const childLimit: ProcessTreeOperations["childLimit"] = (areFollowed) => {
  const available = descriptorLimit() - DESCRIPTORS_RESERVED;
  const each = DESCRIPTORS_PER_CHILD + (areFollowed ? DESCRIPTORS_TO_FOLLOW : 0);
  return Math.max(1, Math.floor(available / each));
};

export const operations: ProcessTreeOperations = {
  startChild: (request) => childStart().startChild(request),
  signalTrees,
  shareSuspension,
  adoptOrphans: () => subreaper().adoptOrphans(),
  findSurvivingChildren,
  listMembers,
  guardOrphans: (...families) => subreaper().guardOrphans(...families),
  hasAncestor,
  hasSurvivors,
  childLimit,
  prepareExec: async () => await (await import("./kill-watchdog.ts")).stopWatchdog(),
  terminalSignalsInherited: true,
};

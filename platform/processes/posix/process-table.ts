// Reads the process table and selects the members of a process tree.
//
// Invariants:
// - A tree contains the processes of each session or group that a root leads, and all their descendants.
// - Zombies are not included.
// Non-obvious: Linux shows a process as a zombie as soon as its first thread has exited. Its other threads may live on and hold its
// descriptors, such as a listening port.
import { FFIType } from "../../native/posix/ffi.ts";
import { openLibc } from "../../native/posix/libc.ts";
import { programOf } from "./libproc.ts";

/** Fields of /proc/PID/stat after the command: the number of threads, and memory in bytes. */
const [THREADS, MEMORY] = [17, 20];
const SYMBOLS = { getsid: { args: [FFIType.i32], returns: FFIType.i32 } } as const;

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Linux: the process is exiting, but may still hold descriptors. */
  readonly isEnding?: boolean;
  /** Linux: its first thread is running or waits for a disk. */
  readonly isBusy?: boolean;
}

export interface TreeRoot {
  readonly pid: number;
  /** False for a child in rt's own session: then only descendants count. */
  readonly ownsSession: boolean;
}

export function listProcesses(): ProcessEntry[] {
  return process.platform === "linux" ? readProc() : readPs();
}

/** Linux only. */
export function readProc(): ProcessEntry[] {
  return readStates().flatMap(({ state, threads, ...entry }) => (hasEnded(state, threads) ? [] : [entry]));
}

/** Linux: returns the zombie children of a process. */
export function listZombies(parent: number): number[] {
  return readStates().flatMap((entry) =>
    entry.parent === parent && hasEnded(entry.state, entry.threads) ? [entry.pid] : [],
  );
}

/** Linux: returns whether a member of the group is not stopped. */
export function isRunning(group: number): boolean {
  return readStates().some((entry) => entry.group === group && !"TtZX".includes(entry.state));
}

function hasEnded(state: string, threads: number): boolean {
  return state === "X" || (state === "Z" && threads <= 1);
}

interface ProcessState extends ProcessEntry {
  readonly state: string;
  readonly threads: number;
}

function readStates(): ProcessState[] {
  const { readdirSync, readFileSync } = process.getBuiltinModule("node:fs"); // lazy: most runs end no tree
  const entries: ProcessState[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      // The command is in parentheses and may contain any character.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ", MEMORY + 1);
      const [state = "", parent, group, session] = fields;
      entries.push({
        state,
        threads: Number(fields[THREADS]),
        pid: Number(name),
        parent: Number(parent),
        group: Number(group),
        session: Number(session),
        isEnding: fields[MEMORY] === "0",
        isBusy: state === "R" || state === "D",
      });
    } catch {
      // The process has exited concurrently.
    }
  }
  return entries;
}

/** macOS. `ps` shows a session as an address, so getsid() is called for each process. */
export function readPs(): ProcessEntry[] {
  const columns = ["pid=", "ppid=", "pgid=", "stat="].flatMap((column) => ["-o", column]);
  const { stdout } = Bun.spawnSync(["/bin/ps", "-ax", ...columns], { stdin: "ignore", stderr: "ignore" });
  const { getsid } = openLibc(SYMBOLS).functions;
  return stdout
    .toString()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([pid, , , state]) => pid && !state?.startsWith("Z"))
    .map(([pid, parent, group]) => {
      const session = getsid(Number(pid)); // -1 if it has exited
      return { pid: Number(pid), parent: Number(parent), group: Number(group), session };
    });
}

/**
 * @param relay path of a program that forwards signals to its own children: what it has started in another session is omitted
 */
export function selectTrees(
  processes: readonly ProcessEntry[],
  roots: readonly TreeRoot[],
  relay: string | null,
): ProcessEntry[] {
  const sessions = new Set(roots.flatMap(({ pid, ownsSession }) => (ownsSession ? [pid] : [])));
  const members = new Set(roots.map(({ pid }) => pid));
  const byPid = new Map(processes.map((entry) => [entry.pid, entry]));
  let grew = true;
  while (grew) {
    grew = false;
    for (const { pid, parent, group, session } of processes) {
      if (members.has(pid)) continue;
      const isOurs = sessions.has(session) || sessions.has(group);
      const isChild =
        members.has(parent) &&
        !(relay !== null && session !== byPid.get(parent)?.session && runs(parent, relay));
      if (!isOurs && !isChild) continue;
      members.add(pid);
      grew = true;
    }
  }
  return processes.filter(({ pid }) => members.has(pid));
}

export function runs(pid: number, program: string): boolean {
  if (process.platform === "darwin") return programOf(pid) === program;
  try {
    return process.getBuiltinModule("node:fs").readlinkSync(`/proc/${pid}/exe`) === program;
  } catch {
    return false;
  }
}

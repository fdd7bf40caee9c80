// The running processes, and which of them belong to a tree.
//
// Contract: a tree is everything in a session or group that one of its roots leads, and everything that
// descends from those. Zombies do not count: nothing can be done to them.
//
// Surprising: Linux shows a process as a zombie as soon as its first thread has ended. The others may live on, and while
// they end, what the process has open is not closed: its port is not free yet.
import { FFIType } from "../../native/posix/ffi.ts";
import { openLibc } from "../../native/posix/libc.ts";
import { programOf } from "./libproc.ts";

/** Places in /proc/PID/stat behind the command: how many threads it has, and how many bytes of memory. */
const [THREADS, MEMORY] = [17, 20];
const SYMBOLS = { getsid: { args: [FFIType.i32], returns: FFIType.i32 } } as const;

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Linux: its memory is given back, or its first thread has ended; it holds what it has open until all have. */
  readonly isEnding?: boolean;
}

export interface TreeRoot {
  readonly pid: number;
  /** False for a child in our own session: then only descent counts. */
  readonly ownsSession: boolean;
}

export function listProcesses(): ProcessEntry[] {
  return process.platform === "linux" ? readProc() : askPs();
}

/** Linux. */
export function readProc(): ProcessEntry[] {
  return readStates().flatMap(({ state, threads, ...entry }) => (hasEnded(state, threads) ? [] : [entry]));
}

/** Linux: the children of a process that have ended, and whose end it has not asked for. */
export function listZombies(parent: number): number[] {
  return readStates().flatMap((entry) =>
    entry.parent === parent && hasEnded(entry.state, entry.threads) ? [entry.pid] : [],
  );
}

/** Linux: whether a member of the group does not stand still. */
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
  const { readdirSync, readFileSync } = process.getBuiltinModule("node:fs"); // only ended trees need it
  const entries: ProcessState[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      // The command stands in parentheses and may contain anything, spaces and parentheses included.
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
      });
    } catch {
      // It ended while we read.
    }
  }
  return entries;
}

/** macOS. What `ps` there shows as a session is an address, so each process is asked for its own. */
export function askPs(): ProcessEntry[] {
  const columns = ["pid=", "ppid=", "pgid=", "stat="].flatMap((column) => ["-o", column]);
  const { stdout } = Bun.spawnSync(["/bin/ps", "-ax", ...columns], { stdin: "ignore", stderr: "ignore" });
  const { getsid } = openLibc(SYMBOLS).functions;
  return stdout
    .toString()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([pid, , , state]) => pid && !state?.startsWith("Z"))
    .map(([pid, parent, group]) => {
      const session = getsid(Number(pid)); // -1 when it has ended meanwhile
      return { pid: Number(pid), parent: Number(parent), group: Number(group), session };
    });
}

/**
 * With `relay`, the path of a program that passes signals on to its own children, what such a program has
 * put into another session is left out.
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

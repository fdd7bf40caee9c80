// The running processes, and which of them belong to a tree.
//
// Contract: a tree is everything in a session or group that one of its roots leads, and everything that
// descends from those. Zombies do not count: nothing can be done to them.
import { FFIType } from "./ffi.ts";
import { openLibc } from "./libc.ts";
import { programOf } from "./libproc.ts";

const SYMBOLS = { getsid: { args: [FFIType.i32], returns: FFIType.i32 } } as const;

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
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
  return readStates().flatMap(({ state, ...entry }) => (state === "Z" || state === "X" ? [] : [entry]));
}

/** Linux: the children of a process that have ended, and whose end it has not asked for. */
export function listZombies(parent: number): number[] {
  return readStates().flatMap((entry) => (entry.state === "Z" && entry.parent === parent ? [entry.pid] : []));
}

function readStates(): (ProcessEntry & { readonly state: string })[] {
  const { readdirSync, readFileSync } = process.getBuiltinModule("node:fs"); // only ended trees need it
  const entries: (ProcessEntry & { readonly state: string })[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      // The command stands in parentheses and may contain anything, spaces and parentheses included.
      const [state = "", parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ", 4);
      entries.push({
        state,
        pid: Number(name),
        parent: Number(parent),
        group: Number(group),
        session: Number(session),
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

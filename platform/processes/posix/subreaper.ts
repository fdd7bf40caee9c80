// What has lost its parent: a daemon that forked twice, a background process of a shell that has ended. It becomes a child
// of rt where rt is the first process of a container, and from `adoptOrphans` on.
//
// Contract: on Linux such a process is found with the tree that it comes from, whatever group or session it has moved to.
// When it has ended, rt asks how, as a parent must: it would stay in the process table and count against its limit. What rt
// itself has started, and the engine waits for, is left alone.
//
// Surprising: a zombie is taken on the second look, a moment later. One that the engine waits for is gone by then, and of
// many that end at once there is one look. Where the kernel tells the engine of its children by this signal alone, its
// handler comes after ours and stays in our place: then orphans wait for rt's end.
import { FFIType } from "../../native/posix/ffi.ts";
import { isGuarded } from "./kill-watchdog.ts";
import { openLibc } from "../../native/posix/libc.ts";
import { listZombies, type ProcessEntry, type TreeRoot } from "./process-table.ts";

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const SECOND_LOOK = 100; // ms
const SYMBOLS = {
  prctl: { args: [FFIType.i32, FFIType.u64, FFIType.u64, FFIType.u64, FFIType.u64], returns: FFIType.i32 },
  waitpid: { args: [FFIType.i32, FFIType.ptr, FFIType.i32], returns: FFIType.i32 },
} as const;

let isAdopting = false;
let isReaping = false;

/** From here on rt, and not the system's first process, is the parent of what has lost its own. On Linux alone. */
export function adoptOrphans(): void {
  if (isAdopting || process.platform !== "linux") return;
  if (openLibc(SYMBOLS).functions.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) !== 0) return;
  isAdopting = true;
  reapOrphans();
}

/** To be called before the first child is started; who is no parent of orphans has none to ask for. */
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
    }, SECOND_LOOK);
    timer.unref();
  });
}

/** What a child's descendants are known by when it is no longer above them. */
const FAMILY = "RT_FAMILY";

export function withFamily(environment: Record<string, string>, family?: string): Record<string, string> {
  return isAdopting && family !== undefined ? { ...environment, [FAMILY]: family } : environment;
}

/** The roots of all trees, what we have adopted among them; with `families`, only what is of one of these. */
export function withOrphans(
  roots: readonly TreeRoot[],
  processes: readonly ProcessEntry[],
  families?: readonly string[],
): readonly TreeRoot[] {
  if (!isAdopting) return roots;
  const isOfThese = ({ pid, isEnding }: ProcessEntry) => {
    if (!families) return true;
    const environment = environmentOf(pid);
    // What is ending may be of any: to wait for it is short, and to signal it does nothing.
    return environment === "" ? isEnding === true : families.includes(familyIn(environment) ?? "");
  };
  const orphans = processes.filter(
    (entry) => entry.parent === process.pid && !isGuarded(entry.pid) && isOfThese(entry),
  );
  return [...roots, ...orphans.map(({ pid }) => ({ pid, ownsSession: false }))];
}

/** Undefined where somebody has made an environment of their own, or another rt's run is in between. */
function familyIn(environment: string): string | undefined {
  const start = `${FAMILY}=`;
  return environment
    .split("\0")
    .find((entry) => entry.startsWith(start))
    ?.slice(start.length);
}

/** As any of its threads has it: those that have ended have none. Empty where nobody has any, or may not read it. */
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
      // It has ended meanwhile.
    }
  }
  return "";
}

function listOrphans(): number[] {
  return listZombies(process.pid).filter((pid) => !isGuarded(pid));
}

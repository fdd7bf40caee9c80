// The process table, seen through a mark: a variable that a test puts into the environment of what it starts
// and that every descendant inherits, whatever group, session or parent it has moved to.
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface MarkedProcess {
  readonly pid: number;
  readonly command: string;
}

const MARK = "RT_TEST_MARK";

export interface Mark {
  readonly env: Record<string, string>;
  /** Those that have it and live. */
  find(): MarkedProcess[];
  /** Sends a signal to all of them, SIGKILL where none is named. */
  kill(signal?: NodeJS.Signals): void;
}

export function createMark(): Mark {
  const mark = crypto.randomUUID();
  /** They cannot have it. One that ends may leave its number to one that has. */
  let others = new Set(processNames());
  const find = () => {
    const all = processNames();
    others = others.intersection(new Set(all));
    return findMarked(
      `${MARK}=${mark}`,
      all.filter((name) => !others.has(name)),
    );
  };
  return { env: { [MARK]: mark }, find, kill: (signal = "SIGKILL") => endAll(find(), signal) };
}

function processNames(): string[] {
  return existsSync("/proc/self/environ") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
}

/** Every living process among these that carries the mark, this test's own program included. */
function findMarked(entry: string, names: readonly string[]): MarkedProcess[] {
  return names.flatMap((name) => {
    try {
      if (!readFileSync(`/proc/${name}/environ`, "latin1").split("\0").includes(entry)) return [];
      const state = readFileSync(`/proc/${name}/stat`, "latin1").split(") ").at(-1)?.[0];
      readlinkSync(`/proc/${name}/exe`); // fails for a zombie
      const command = readFileSync(`/proc/${name}/cmdline`, "latin1").split("\0").join(" ").trim();
      return state === "Z" ? [] : [{ pid: Number(name), command }];
    } catch {
      return [];
    }
  });
}

/** Kills all that has this variable in its environment; nothing on systems without /proc. */
export function endProcesses(name: string, value: string): void {
  endAll(findMarked(`${name}=${value}`, processNames()), "SIGKILL");
}

/** Kills all whose program lies below this directory, deleted or not; nothing on systems without /proc. */
export function endPrograms(directory: string): void {
  const isBelow = (name: string) => {
    try {
      return readlinkSync(`/proc/${name}/exe`).startsWith(`${directory}/`);
    } catch {
      return false; // it has ended, or is another user's
    }
  };
  endAll(
    processNames()
      .filter(isBelow)
      .map((name) => ({ pid: Number(name), command: "" })),
    "SIGKILL",
  );
}

function endAll(processes: readonly MarkedProcess[], signal: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      if (pid !== process.pid) process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
}

const LOOK_AGAIN = 5; // ms

/**
 * Looks again until `condition` holds: for what nobody tells of, as what a foreign program does, and the only place of the
 * tests that sleeps. The test's own time limit ends the wait.
 */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await Bun.sleep(LOOK_AGAIN);
}

/**
 * The process that ends the scripts of an rt which is killed outright (platform/processes/posix/kill-watchdog.ts), as soon as it has so many
 * of them on its list. Before that, at the very moment that a script starts, a killed rt leaves it behind. Linux.
 */
export async function guardianOf(rt: number, scripts: number): Promise<number> {
  let guardian = 0;
  await waitUntil(() => {
    guardian = childrenOf(rt).find((pid) => commandOf(pid).includes("rt-watchdog")) ?? 0;
    return guardian > 0 && listOf(guardian).length >= scripts;
  });
  return guardian;
}

function childrenOf(pid: number): number[] {
  const names = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ");
  return names.filter((name) => name !== "").map(Number);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return ""; // it has ended meanwhile
  }
}

/** The file without a name that it reads when rt has ended. */
function listOf(guardian: number): string[] {
  return readFileSync(`/proc/${guardian}/fd/3`, "latin1").match(/\d+/g) ?? [];
}

/**
 * A program in Python that says "serving" and the port, in another thread than its first. That one ends: to the system the
 * process is a zombie from then on. It ends by itself if nobody else ends it.
 */
export function serverOfSecondThread(port: number): string {
  return `
import ctypes, platform, signal, socket, threading
signal.alarm(60)
def serve():
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", ${port}))
        server.listen()
        print("serving", ${port}, flush=True)
        while True: server.accept()[0].close()
threading.Thread(target=serve).start()
exit = 60 if platform.machine() == "x86_64" else 93
ctypes.CDLL(None).syscall(exit, 0)
`;
}

// Finds processes by a mark: an environment variable that all descendants inherit, in any process group, session or parent.
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

export interface MarkedProcess {
  readonly pid: number;
  readonly command: string;
}

const MARK = "RT_TEST_MARK";

export interface Mark {
  readonly env: Record<string, string>;
  /** Returns the living processes with the mark. */
  find(): MarkedProcess[];
  /** Sends a signal to all of them, by default SIGKILL. */
  kill(signal?: NodeJS.Signals): void;
}

export function createMark(): Mark {
  const mark = crypto.randomUUID();
  /** Processes that existed before the mark. The id of one that exits may be reused by a marked process. */
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

/** Returns the living processes among these that have the mark, including this process. */
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

/** Kills all processes that have this variable; does nothing on systems without /proc. */
export function endProcesses(name: string, value: string): void {
  endAll(findMarked(`${name}=${value}`, processNames()), "SIGKILL");
}

/** Kills all processes whose program is below this directory, deleted or not; does nothing on systems without /proc. */
export function endPrograms(directory: string): void {
  const isBelow = (name: string) => {
    try {
      return readlinkSync(`/proc/${name}/exe`).startsWith(`${directory}/`);
    } catch {
      return false; // it has exited, or belongs to another user
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
      // It has exited in between.
    }
  }
}

const MIN_POLL_INTERVAL = 5; // ms
const MAX_POLL_INTERVAL = 50; // ms
/** The pause after a check, relative to its duration: checks of the process table would slow the program down. */
const PAUSE = 4;

/**
 * Polls until `condition` holds, where no event exists, as for a foreign program. This is the only place in the tests that
 * sleeps. The test's own time limit ends the wait.
 */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (;;) {
    const begin = performance.now();
    if (await condition()) return;
    const pause = PAUSE * (performance.now() - begin);
    await Bun.sleep(Math.min(Math.max(pause, MIN_POLL_INTERVAL), MAX_POLL_INTERVAL));
  }
}

/**
 * Returns rt's kill watchdog (platform/processes/posix/kill-watchdog.ts) when its list has this many scripts. Until then, a
 * killed rt leaves a script running that is just starting. Linux only.
 */
export async function watchdogOf(rt: number, scripts: number): Promise<number> {
  let watchdog = 0;
  await waitUntil(() => {
    watchdog = findWatchdog(rt) ?? 0;
    return watchdog > 0 && listOf(watchdog).length >= scripts;
  });
  return watchdog;
}

/** Returns the process ids that the kill watchdog ends if rt is killed. Linux only. */
export function watchedBy(rt: number): number[] {
  return listOf(findWatchdog(rt)!).map(Number);
}

function findWatchdog(rt: number): number | undefined {
  return childrenOf(rt).find((pid) => commandOf(pid).includes("rt-watchdog"));
}

function childrenOf(pid: number): number[] {
  const names = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ");
  return names.filter((name) => name !== "").map(Number);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return ""; // it has exited in between
  }
}

/** Returns the process ids in the watchdog's unlinked file, which it reads when rt has exited. */
function listOf(watchdog: number): string[] {
  return readFileSync(`/proc/${watchdog}/fd/3`, "latin1").match(/\d+/g) ?? [];
}

/**
 * Returns a Python program that prints "serving" and the port from its second thread. Its first thread exits, so the process is a
 * zombie to the system. It exits by itself after a minute.
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

// The socket at which the engine's own debugger is: a file in a directory of this user's (see run/engine/debugger.ts).
//
// It is kept under another name, because --watch starts the engine again with the same words, and it makes no socket where
// one is. A process that is killed leaves its file; the next one to come removes it.
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The engine makes it in a thread of its own, for tests later than it loads this. */
const AGAIN = 1; // ms

/** @returns where it is from now on */
export async function takeSocket(path: string): Promise<string> {
  removeOthers(dirname(path), basename(path));
  while (!existsSync(path)) await Bun.sleep(AGAIN);
  const kept = `${path}.${crypto.randomUUID().slice(0, 4)}`;
  renameSync(path, kept);
  return kept;
}

export function removeSocket(path: string): void {
  rmSync(path, { force: true });
}

/** What this process had before it was started again, and what others left that were killed. */
function removeOthers(directory: string, own: string): void {
  for (const name of readdirSync(directory)) {
    const owner = Number(/^debug-(\d+)-\w+\.sock(?:\.\w+)?$/.exec(name)?.[1]);
    if (owner === process.pid ? name !== own : owner > 0 && !isAlive(owner))
      rmSync(join(directory, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

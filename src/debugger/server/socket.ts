// The socket at which the engine's own debugger is: a file in a directory of this user's (see run/engine/debugger.ts).
//
// With --watch it is kept under another name, because the engine starts again with the same words, and makes no socket where
// one is.
import { isPidInUse } from "../../process-id.ts";

/** The engine makes it in a thread of its own, for tests later than it loads this. */
const AGAIN = 1; // ms

/** @returns where it is from now on */
export async function takeSocket(path: string, isAgain: boolean): Promise<string> {
  while (!(await isThere(path))) await Bun.sleep(AGAIN);
  if (!isAgain) return path;
  const kept = `${path}.again`;
  process.getBuiltinModule("node:fs").renameSync(path, kept);
  return kept;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Bun.file(path).stat();
    return true;
  } catch {
    return false;
  }
}

export async function removeSocket(path: string): Promise<void> {
  await Bun.file(path)
    .unlink()
    .catch(() => {});
}

/** Beside this one those of processes that were killed: their names have the process (see run/engine/debugger.ts). */
export function removeAbandoned(path: string): void {
  const { readdirSync, rmSync } = process.getBuiltinModule("node:fs");
  const directory = path.slice(0, path.lastIndexOf("/"));
  for (const name of readdirSync(directory)) {
    const [, owner] = /-(\d+)-\w+\.sock(?:\.\w+)?$/.exec(name) ?? [];
    if (owner !== undefined && !isPidInUse(Number(owner))) rmSync(`${directory}/${name}`, { force: true });
  }
}

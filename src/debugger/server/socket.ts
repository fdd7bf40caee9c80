// Manages the engine's debugger socket, a file in a private directory of this user (see ../runner/engine/debugger.ts).
//
// Non-obvious:
// - With --watch the socket is renamed: the engine restarts with the same arguments, and creates no socket where a file exists.
import { isPidInUse } from "../../process-id.ts";

/** The engine creates the socket in another thread; for tests, later than it loads this code. */
const POLL_INTERVAL_MS = 1;

/** Waits for the socket and returns its path. */
export async function takeSocket(path: string, isRestart: boolean): Promise<string> {
  while (!(await exists(path))) await Bun.sleep(POLL_INTERVAL_MS);
  if (!isRestart) return path;
  const renamed = `${path}.again`;
  process.getBuiltinModule("node:fs").renameSync(path, renamed);
  return renamed;
}

async function exists(path: string): Promise<boolean> {
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

/** Removes sockets of killed processes in the same directory. Their names contain the process ID. */
export function removeAbandoned(path: string): void {
  const { readdirSync, rmSync } = process.getBuiltinModule("node:fs");
  const directory = path.slice(0, path.lastIndexOf("/"));
  for (const name of readdirSync(directory)) {
    const [, owner] = /-(\d+)-\w+\.sock(?:\.\w+)?$/.exec(name) ?? [];
    if (owner !== undefined && !isPidInUse(Number(owner))) rmSync(`${directory}/${name}`, { force: true });
  }
}

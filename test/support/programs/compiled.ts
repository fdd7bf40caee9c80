// Programs that several test files need and that are slow to build. Each is built once in a run of `npm test`, whose files share
// a temporary directory: the first file builds it, and the others wait.
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../../../build/compile.ts";
import { type BuildTarget, hostTarget } from "../../../build/targets.ts";
import { waitUntil } from "../processes.ts";
import { RT } from "../rt.ts";

/**
 * Time limit in ms for a test that may build such a program or wait for it. The engine of another system may have to be
 * downloaded. A builder that is aborted would block all others.
 */
export const PREPARATION_TIMEOUT = 900_000;

const making = new Map<string, Promise<string>>();

/**
 * @param make creates a file or directory at the given path, which is private
 *
 * @returns the path
 */
export function buildOnce(path: string, make: (draft: string) => Promise<unknown>): Promise<string> {
  const known = making.get(path) ?? makeAlone(path, make);
  making.set(path, known);
  return known;
}

async function makeAlone(path: string, make: (draft: string) => Promise<unknown>): Promise<string> {
  const lock = `${path}.maker`;
  while (!existsSync(path)) {
    if (!(await takeLock(lock))) {
      // After the builder has failed, this call builds it.
      await waitUntil(() => existsSync(path) || !isHeld(lock));
      continue;
    }
    const draft = `${path}.${process.pid}`;
    try {
      if (existsSync(path)) break;
      await make(draft);
      await rename(draft, path);
    } finally {
      await rm(draft, { recursive: true, force: true });
      await rm(lock);
    }
  }
  return path;
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Returns whether the builder is alive; removes the lock of one that was killed. */
function isHeld(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, "utf8")), 0); // 0 is this process itself, until an id is written
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") rmSync(lock, { force: true });
    return false;
  }
}

/** Builds a program for this run and this dist/rt. */
export function compileOnce(name: string, make: (path: string) => Promise<unknown>): Promise<string> {
  return buildOnce(join(tmpdir(), `rt-test-${name}-${statSync(RT).mtimeMs}`), make);
}

/** Builds rt for a target, like a release. */
export function compileFor(target: BuildTarget): Promise<string> {
  if (target.name === hostTarget().name) return Promise.resolve(RT);
  return compileOnce(target.name, (path) => compile(target, path));
}

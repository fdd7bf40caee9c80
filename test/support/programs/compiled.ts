// What several test files need and what is dear to make: programs that they start or look into. Each is made once in a run
// of `npm test`, whose files share a directory for what is temporary: who comes first makes it, and others wait for it.
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../../../build/compile.ts";
import { type BuildTarget, hostTarget } from "../../../build/targets.ts";
import { waitUntil } from "../processes.ts";
import { RT } from "../rt.ts";

/**
 * Milliseconds for who may be the first to need one of them, or has to wait for that one: the engine of another system may
 * have to be fetched. Whoever gives up while it makes something leaves all others waiting.
 */
export const PREPARATION = 300_000;

const making = new Map<string, Promise<string>>();

/**
 * @param make puts a file or directory at the path that it gets, which nobody else sees yet
 * @returns the path
 */
export function madeOnce(path: string, make: (draft: string) => Promise<unknown>): Promise<string> {
  const known = making.get(path) ?? makeAlone(path, make);
  making.set(path, known);
  return known;
}

async function makeAlone(path: string, make: (draft: string) => Promise<unknown>): Promise<string> {
  const lock = `${path}.maker`;
  while (!existsSync(path)) {
    if (!(await takeLock(lock))) {
      // Where making it has failed, this one fails by itself.
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

/** One whose maker was killed is nobody's, and goes. */
function isHeld(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, "utf8")), 0); // itself, as long as nobody is written there
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") rmSync(lock, { force: true });
    return false;
  }
}

/** A program for this run; another one where dist/rt is another. */
export function compiledOnce(name: string, make: (path: string) => Promise<unknown>): Promise<string> {
  return madeOnce(join(tmpdir(), `rt-test-${name}-${statSync(RT).mtimeMs}`), make);
}

/** rt for a target, as a release has it. */
export function compiledFor(target: BuildTarget): Promise<string> {
  if (target.name === hostTarget().name) return Promise.resolve(RT);
  return compiledOnce(target.name, (path) => compile(target, path));
}

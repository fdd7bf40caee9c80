// Programs that several test files start or look into: each is compiled once in a run of `npm test`, whose files share a
// directory for what is temporary.
import { existsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../../build/compile.ts";
import { type BuildTarget, hostTarget } from "../../build/targets.ts";
import { RT } from "./rt.ts";

const made = new Map<string, Promise<string>>();

/**
 * @param make puts the program at a path, in one go
 * @returns the path; made again where dist/rt is another
 */
export function compiledOnce(name: string, make: (path: string) => Promise<unknown>): Promise<string> {
  const path = join(tmpdir(), `rt-test-${name}-${statSync(RT).mtimeMs}`);
  const making = made.get(path) ?? (existsSync(path) ? Promise.resolve() : make(path)).then(() => path);
  made.set(path, making);
  return making;
}

/** rt for a target, as a release has it. */
export function compiledFor(target: BuildTarget): Promise<string> {
  if (target.name === hostTarget().name) return Promise.resolve(RT);
  return compiledOnce(target.name, (path) => compile(target, path));
}

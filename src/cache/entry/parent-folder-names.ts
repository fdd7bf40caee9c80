// Selects the names that count in a folder above the project, where names come and go (/tmp, a folder of projects).
//
// Invariants:
// - A folder must be listed on a walk from `/` down into the project, as esbuild and Bun do. After any other listing
//   (`ls ..`) all names count.
// - Packages, configuration, lockfiles and repositories always count.
// - Names with another ending than a path that the script used there count too.
import { basename, dirname } from "node:path";
import type { TracedPath } from "../../../platform/tracing/contract/tracing.ts";
import { isBelow } from "./relocation.ts";

const FOLDERS = /^(?:node_modules|\.git|\.hg|\.svn|\.yarn|\.config|\.pnp.*)$/;
const FILES =
  /\.(?:json[5c]?|toml|ya?ml|lockb?)$|(?:config|file|rc)\.[cm]?[jt]sx?$|^\.(?:env.*|pnp.*|git|.*rc|.*ignore|.*config|.*-version|tool-versions)$|^(?:Makefile|BUILD|WORKSPACE)$/i;

/** @param name with the letter of its kind in front */
export function isSought(name: string, stems: readonly string[]): boolean {
  const text = name.slice(1);
  const isFolder = name[0] !== "f" && FOLDERS.test(text);
  return isFolder || (name[0] !== "d" && FILES.test(text)) || stems.includes(stemOf(text));
}

/** Returns the stems that count; undefined if all names count. */
export function stemsFor(
  { path, walks, isListedAlone }: TracedPath,
  root: string,
  used: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] | undefined {
  const isAbove = path !== root && (path === "/" || isBelow(root, path));
  if (!isAbove || isListedAlone || !walks || walks.length === 0) return undefined;
  const isWalk = walks.every((end) => end === root || isBelow(end, root));
  return isWalk ? [...(used.get(path) ?? [])].sort() : undefined;
}

/** Collects, for each folder above the project, the stems of the paths in it that the script used. */
export function collectUsed(
  paths: readonly TracedPath[],
  root: string,
): ReadonlyMap<string, ReadonlySet<string>> {
  const used = new Map<string, Set<string>>();
  for (const { path } of paths) {
    const folder = dirname(path);
    const isAbove = folder === "/" || isBelow(root, folder);
    if (!isAbove || path === root || isBelow(root, path) || path === "/") continue;
    const stems = used.get(folder) ?? new Set();
    stems.add(stemOf(basename(path)));
    used.set(folder, stems);
  }
  return used;
}

/** `page` of `page.test.ts`, and `.env` of `.env.local`. */
function stemOf(name: string): string {
  const end = name.indexOf(".", 1);
  return end < 0 ? name : name.slice(0, end);
}

// What links lead to, of files that are listed and not followed while a script runs: that counts as well as their texts.
//
// Contract: a file counts by its content, wherever it lies; a directory outside of the project with all that is in it. One inside
// is listed by whoever lists its files, and one that the project lies in would be too much. A link that leads nowhere, or in a
// circle, counts by its text and by what is not there.
import { readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { FileSystemView } from "../entry/entry-validation.ts";
import { listFiles } from "./rule-globs.ts";
import { isBelow } from "../entry/relocation.ts";

interface SymlinkView extends Pick<FileSystemView, "stat" | "isIgnored"> {
  readonly root: string;
  isDeclared(path: string): boolean;
}

/** With all that is added; absolute, sorted. */
export async function followLinks(paths: readonly string[], project: SymlinkView): Promise<string[]> {
  const { stat, isIgnored, isDeclared } = project;
  const links = paths.filter((path) => stat(path).kind === "link");
  if (links.length === 0) return [...paths];
  const found = new Set(paths);
  // It grows.
  for (const link of links) {
    const end = endOf(link);
    for (const path of [end, ...(isOutside(end, project) ? await listFiles(["**"], end) : [])]) {
      // What the script makes of it is told by its outputs.
      if (found.has(path) || isIgnored(path) || isDeclared(path)) continue;
      found.add(path);
      if (stat(path).kind === "link") links.push(path);
    }
  }
  return [...found].sort();
}

/** Where a link leads in the end, or would. */
export function endOf(link: string): string {
  try {
    return realpathSync(link);
  } catch {
    return resolve(dirname(link), readTarget(link));
  }
}

function readTarget(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return link; // it has just been taken away
  }
}

function isOutside(path: string, { stat, root }: SymlinkView): boolean {
  if (path === root || isBelow(path, root) || path === "/" || isBelow(root, path)) return false;
  return stat(path).kind === "directory";
}

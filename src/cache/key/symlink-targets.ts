// Resolves symlinks among declared inputs. Their targets are inputs too, in addition to the link texts.
//
// Invariants:
// - A target file counts by its content. A target directory outside the project counts with all files in it.
// - A target directory in the project is listed by the caller. A directory that contains the project is ignored.
// - A dangling or cyclic link counts by its text and as a negative dependency.
import { readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { FileSystemView } from "../entry/entry-validation.ts";
import { listFiles } from "./rule-globs.ts";
import { isBelow } from "../relocation/stored-path.ts";

interface SymlinkView extends Pick<FileSystemView, "stat" | "isIgnored"> {
  readonly root: string;
  isDeclared(path: string): boolean;
}

/** Returns the paths and all targets; absolute, sorted. */
export async function followLinks(paths: readonly string[], project: SymlinkView): Promise<string[]> {
  const { stat, isIgnored, isDeclared } = project;
  const links = paths.filter((path) => stat(path).kind === "link");
  if (links.length === 0) return [...paths];
  const found = new Set(paths);
  // The loop appends to `links`.
  for (const link of links) {
    const end = endOf(link);
    for (const path of [end, ...(isOutside(end, project) ? await listFiles(["**"], end) : [])]) {
      // Outputs of the script are not inputs.
      if (found.has(path) || isIgnored(path) || isDeclared(path)) continue;
      found.add(path);
      if (stat(path).kind === "link") links.push(path);
    }
  }
  return [...found].sort();
}

/** Returns the final target of a link, or the path that it would have. */
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
    return link; // the link was deleted concurrently
  }
}

function isOutside(path: string, { stat, root }: SymlinkView): boolean {
  if (path === root || isBelow(path, root) || path === "/" || isBelow(root, path)) return false;
  return stat(path).kind === "directory";
}

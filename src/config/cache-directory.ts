// Finds rt's directory in the user's cache directory.
//
// Non-obvious: if it is in a project, a task with permissions can write its memos, which name programs and tasks.
import { readOwner } from "../../platform/files/path-owner.ts";
import { findRealPath } from "../../platform/files/real-path.ts";
import { host } from "../../platform/processes/process.ts";
import { FILE_NAME } from "./config-file-name.ts";
import { parentDirectory } from "../workspace/package-json.ts";

/** Returns undefined if no variable defines one. */
export function cacheDirectory(): string | undefined {
  const { isAbsolute, join } = process.getBuiltinModule("node:path");
  const named = host.originalVariable("XDG_CACHE_HOME") ?? "";
  const home = host.originalVariable("HOME") ?? "";
  if (isAbsolute(named)) return join(named, "rt");
  if (isAbsolute(home)) return join(home, ".cache", "rt");
  // Windows.
  const local = host.originalVariable("LOCALAPPDATA") ?? "";
  return isAbsolute(local) ? join(local, "rt", "cache") : undefined;
}

/** The folder of a project has one of them. */
export const PROJECT_FILES: readonly string[] = [FILE_NAME, "package.json", "pnpm-workspace.yaml"];

/** Tasks of a project that contains HOME cannot have permissions, so the default directory is in none. */
export function isCacheInProject(directory: string): boolean {
  if (host.originalVariable("XDG_CACHE_HOME") === undefined) return false;
  for (let at: string | null = findRealPath(directory) ?? directory; at !== null; at = parentDirectory(at))
    if (PROJECT_FILES.some((name) => readOwner(`${at}/${name}`))) return true;
  return false;
}

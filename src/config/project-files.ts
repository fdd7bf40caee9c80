// Finds out whether the cache is in a project. A task with permissions could then write the memos, which name programs and tasks.
import { readOwner } from "../../platform/files/path-owner.ts";
import { findRealPath } from "../../platform/files/real-path.ts";
import { host } from "../../platform/processes/process.ts";
import { FILE_NAME } from "./config-file-name.ts";
import { parentDirectory } from "../workspace/package-json.ts";

/** The folder of a project has one of them. */
export const PROJECT_FILES: readonly string[] = [FILE_NAME, "package.json", "pnpm-workspace.yaml"];

/** Tasks of a project that contains HOME cannot have permissions, so the default folder is in none. */
export function isCacheInProject(directory: string): boolean {
  if (host.originalVariable("XDG_CACHE_HOME") === undefined) return false;
  for (let at: string | null = findRealPath(directory) ?? directory; at !== null; at = parentDirectory(at))
    if (PROJECT_FILES.some((name) => readOwner(`${at}/${name}`))) return true;
  return false;
}

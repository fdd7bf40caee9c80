// Lists the files of a package, and the members of its workspace that it depends on: the inputs that a user may change.
//
// Invariants:
// - Files that git does not ignore count, tracked or not; without git or a repository, all files. Files below node_modules and
//   .git never count. Paths are absolute. A nested repository is listed as its directory.
import { join } from "node:path";
import { SHARED_FILES } from "./affected.ts";
import { linkMembers, reachable } from "./dependencies.ts";
import { tryGit } from "./git.ts";
import { openWorkspace, type Workspace } from "./members.ts";

/** Returns the files that affect every package of the workspace. */
export function sharedFiles(root: string): string[] {
  return SHARED_FILES.map((name) => join(root, name));
}

export async function listPackageFiles(directory: string): Promise<string[]> {
  const words = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const listed = await tryGit(directory, words);
  const names = listed === null ? await listAll(directory) : listed.split("\0").filter((name) => name !== "");
  return [...new Set(names)]
    .filter((name) => !/(?:^|[\\/])(?:node_modules|\.git)(?:[\\/]|$)/.test(name))
    .map((name) => join(directory, name));
}

/** Returns the paths that git does not ignore; null without git. @param paths absolute paths */
export async function keepUnignored(
  directory: string,
  paths: readonly string[],
): Promise<Set<string> | null> {
  if (paths.length === 0) return new Set();
  const isSuccess = (code: number) => code === 0 || code === 1;
  const words = ["check-ignore", "-z", "--stdin"];
  const ignored = await tryGit(directory, words, isSuccess, paths.join("\0"));
  if (ignored === null) return null;
  const unignored = new Set(paths);
  for (const path of ignored.split("\0")) unignored.delete(path);
  return unignored;
}

/** Returns the absolute paths of the tracked files in a directory; none without git. */
export async function listTracked(directory: string): Promise<string[]> {
  const listed = await tryGit(directory, ["ls-files", "--cached", "-z"]);
  const names = (listed ?? "").split("\0").filter((name) => name !== "");
  return names.map((name) => join(directory, name));
}

async function listAll(directory: string): Promise<string[]> {
  const { readdirSync } = process.getBuiltinModule("node:fs");
  const names: string[] = [];
  const list = (below: string) => {
    for (const each of readdirSync(join(directory, below), { withFileTypes: true })) {
      const name = below === "" ? each.name : `${below}/${each.name}`;
      if (each.name === "node_modules" || each.name === ".git") continue;
      if (each.isDirectory()) list(name);
      else names.push(name);
    }
  };
  list("");
  return names;
}

const workspaces = new Map<string, Workspace>();

/** Returns the directories of a package's direct and transitive dependencies in the workspace. @throws UserError */
export function directoriesNeeded(root: string, packageDirectory: string): string[] {
  const workspace = workspaces.get(root) ?? openWorkspace(root);
  workspaces.set(root, workspace);
  const { members } = workspace;
  const own = members.findIndex(({ directory }) => directory === packageDirectory);
  if (own < 0) return [];
  const dependencies = reachable(linkMembers(members), new Set([own]));
  return [...dependencies].filter((each) => each !== own).map((each) => members[each]!.directory);
}

// The files of a package, and of the members of its workspace that it depends on: what somebody could change in them.
//
// Contract: what git does not ignore, tracked or not; without git, or outside of a repository, every file. Never what is
// below a node_modules or a .git. Paths are absolute; a directory with a repository of its own is among them.
import { join } from "node:path";
import { SHARED_FILES, tryGit } from "./affected.ts";
import { linkMembers, reachable } from "./dependencies.ts";
import { openWorkspace, type Workspace } from "./members.ts";

/** Those that decide for every package of the workspace. */
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

/** Those of some paths, absolute, that git does not ignore; none without git. */
export async function keepUnignored(directory: string, paths: readonly string[]): Promise<Set<string>> {
  if (paths.length === 0) return new Set();
  const isAnswer = (code: number) => code === 0 || code === 1;
  const words = ["check-ignore", "-z", "--stdin"];
  const ignored = await tryGit(directory, words, isAnswer, paths.join("\0"));
  if (ignored === null) return new Set();
  const left = new Set(paths);
  for (const path of ignored.split("\0")) left.delete(path);
  return left;
}

/** Absolute paths of what git has of a directory; none without git. */
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

/** The directories of the members that a package depends on, and of those that these depend on. Throws Failure. */
export function directoriesNeeded(root: string, packageDirectory: string): string[] {
  const workspace = workspaces.get(root) ?? openWorkspace(root);
  workspaces.set(root, workspace);
  const { members } = workspace;
  const own = members.findIndex(({ directory }) => directory === packageDirectory);
  if (own < 0) return [];
  const needed = reachable(linkMembers(members), new Set([own]));
  return [...needed].filter((each) => each !== own).map((each) => members[each]!.directory);
}

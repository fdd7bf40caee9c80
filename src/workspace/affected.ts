// Finds the packages that changed since a commit, for --affected (with their dependents) and for filters such as `[main]`.
//
// Invariants:
// - A changed file belongs to the innermost package around it; files outside all packages belong to the root only.
// - The root's package.json, lockfiles and workspace declarations affect all packages.
//
// Non-obvious: git reports a nested repository (a submodule, or an untracked one) as a directory. It affects the packages inside.
import { type ChangeSet, readChanges } from "./changes.ts";
import { type DependencyGraph, reverseGraph } from "./dependencies.ts";
import type { Workspace } from "./members.ts";
import { parentDirectory } from "./package-json.ts";

/** Loads node:path lazily: runs that do not need it load this module too. */
function join(...names: string[]): string {
  return process.getBuiltinModule("node:path").join(...names);
}

/** Why a package is affected: a file (absolute path), or a dependency (position). */
export type AffectedReason = { readonly file: string } | { readonly dependsOn: number };

/** Returns the changes, and the affected members by position. @throws UserError if git fails */
export async function affectedMembers(
  workspace: Workspace,
  graph: DependencyGraph,
  reference: string,
): Promise<{ readonly changes: ChangeSet; readonly reasons: Map<number, AffectedReason> }> {
  const changes = await readChanges(workspace.root, { reference, option: "--affected" });
  return { changes, reasons: affectedBy(workspace, graph, changes.files) };
}

/**
 * Returns the members that have changed since each revision of a filter.
 * @param revisions commits, or `base...head` for the changes between the merge base and a commit
 * @throws UserError if git fails
 */
export async function changedMembers(
  workspace: Workspace,
  revisions: readonly string[],
): Promise<Map<string, Set<number>>> {
  const changed = new Map<string, Set<number>>();
  for (const revision of revisions) {
    const [reference = "", head] = revision.split("...");
    const { files } = await readChanges(workspace.root, { reference, head, option: "--filter" });
    changed.set(revision, new Set(ownersOf(workspace, files).keys()));
  }
  return changed;
}

/** Returns the members that the files affect, by position (pure function). @param files absolute paths */
export function affectedBy(
  workspace: Workspace,
  graph: DependencyGraph,
  files: readonly string[],
): Map<number, AffectedReason> {
  const reasons = ownersOf(workspace, files);
  const dependents = reverseGraph(graph);
  // The iteration includes entries that are added during it.
  for (const [index] of reasons)
    for (const dependent of dependents.edges(index))
      if (!reasons.has(dependent)) reasons.set(dependent, { dependsOn: index });
  return reasons;
}

export const SHARED_FILES = [
  "package.json",
  "bun.lock",
  "bun.lockb",
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "yarn.lock",
] as const;

/** Returns the members that contain the files, each with its first file. @param files absolute paths */
function ownersOf(workspace: Workspace, files: readonly string[]): Map<number, AffectedReason> {
  const find = findOwners(workspace);
  const below = membersBelow(workspace);
  const reasons = new Map<number, AffectedReason>();
  for (const file of files) {
    const owner = find(file);
    const owners = owner === "all" ? workspace.members.keys() : owner === undefined ? [] : [owner];
    for (const each of owners) if (!reasons.has(each)) reasons.set(each, { file });
    for (const each of below.get(file) ?? []) if (!reasons.has(each)) reasons.set(each, { file });
  }
  return reasons;
}

/** Returns the members below each directory between the root and the packages, for changed nested repositories. */
function membersBelow({ root, members }: Workspace): Map<string, number[]> {
  const below = new Map<string, number[]>();
  for (const [index, { directory }] of members.entries()) {
    let ancestor = parentDirectory(directory);
    for (; ancestor !== null && ancestor.length > root.length; ancestor = parentDirectory(ancestor)) {
      const commit = below.get(ancestor);
      if (commit) commit.push(index);
      else below.set(ancestor, [index]);
    }
  }
  return below;
}

/** Returns a function from an absolute path to its innermost package: a position, "all" for shared files, or undefined. */
export function findOwners({ root, members }: Workspace): (file: string) => number | "all" | undefined {
  const shared = new Set<string>(SHARED_FILES.map((name) => join(root, name)));
  const byDirectory = new Map(members.map(({ directory }, index) => [directory, index]));
  return (file) => {
    if (shared.has(file)) return "all";
    for (let directory: string | null = file; directory !== null; directory = parentDirectory(directory)) {
      const owner = byDirectory.get(directory);
      if (owner !== undefined) return owner;
    }
    return undefined;
  };
}

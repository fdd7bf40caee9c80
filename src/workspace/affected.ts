// Finds the packages that changed since a commit, for --affected (with their dependents) and for filters such as `[main]`.
//
// Invariants:
// - Committed, staged, unstaged and untracked changes count, from the merge base with `reference`: later commits of others there do
//   not. A changed file belongs to the innermost package around it; files outside all packages belong to the root only.
// - The root's package.json, lockfiles and workspace declarations affect all packages.
//
// Non-obvious: git reports a nested repository (a submodule, or an untracked one) as a directory. It affects the packages inside.
// `reference` "" is the default branch: origin/HEAD, main or master. Git starts no hooks and no file system monitor.
import { errorReason } from "../../platform/caught-error.ts";
import { host } from "../../platform/processes/process.ts";
import { type DependencyGraph, reverseGraph } from "./dependencies.ts";
import type { Workspace } from "./members.ts";
import { explainUnreadable, parentDirectory } from "./package-json.ts";
import { UserError } from "../user-error.ts";

/** Loads node:path lazily: this module shares a chunk with runs that do not need it. */
function join(...names: string[]): string {
  return process.getBuiltinModule("node:path").join(...names);
}

/** Why a package is affected: a file (absolute path), or a dependency (position). */
export type AffectedReason = { readonly file: string } | { readonly dependsOn: number };

/** Returns the affected members by position. @throws UserError if git fails */
export async function affectedMembers(
  workspace: Workspace,
  graph: DependencyGraph,
  reference: string,
): Promise<Map<number, AffectedReason>> {
  const files = await changedFiles(workspace.root, { reference, option: "--affected" });
  return affectedBy(workspace, graph, files);
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
    const files = await changedFiles(workspace.root, { reference, head, option: "--filter" });
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

interface Comparison {
  readonly reference: string;
  /** Compared with instead of the working directory. */
  readonly head?: string | undefined;
  /** The option that needs git, for messages. */
  readonly option: string;
}

async function changedFiles(root: string, { reference, head, option }: Comparison): Promise<string[]> {
  const top = (await git(root, ["rev-parse", "--show-toplevel"], option)).trimEnd();
  const start = await findCommit(
    root,
    reference === "" && option === "--affected" ? await defaultBranch(root) : reference,
    option,
  );
  const end = head === undefined ? undefined : await findCommit(root, head, option);
  const base = await tryGit(root, ["merge-base", start, end ?? "HEAD"]);
  const commits = [(base ?? start).trim(), ...(end === undefined ? [] : [end])];
  const [changed, untracked] = await Promise.all([
    git(top, ["diff", "--name-only", "--no-renames", "-z", ...commits], option),
    end === undefined ? git(top, ["ls-files", "--others", "--exclude-standard", "-z"], option) : "",
  ]);
  return [...changed.split("\0"), ...untracked.split("\0")]
    .filter((file) => file !== "")
    .map((file) => join(top, file.replace(/\/$/, ""))); // an untracked repository ends with a slash
}

/** Returns the hash of a commit, so that a revision never becomes an option of git. @throws UserError */
async function findCommit(root: string, revision: string, option: string): Promise<string> {
  const commit = await tryGit(root, [
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${revision}^{commit}`,
  ]);
  if (commit !== null) return commit.trim();
  throw new UserError(
    `Unknown git revision "${revision}"`,
    option === "--affected" ? "fetch it or use --affected=<ref>" : "fetch it or use --filter '[<ref>]'",
  );
}

async function defaultBranch(root: string): Promise<string> {
  const remote = await tryGit(root, ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
  if (remote !== null) return remote.trim();
  for (const name of ["origin/main", "origin/master", "main", "master"]) {
    if ((await tryGit(root, ["rev-parse", "--verify", "--quiet", name])) !== null) return name;
  }
  throw new UserError("Git has no default branch to compare with", "use --affected=<ref>");
}

async function git(cwd: string, args: readonly string[], option: string): Promise<string> {
  const result = await runGit(cwd, args);
  if (typeof result === "string") return result;
  if ("code" in result) {
    const problem = result.code === "ENOENT" ? "no such program" : explainUnreadable(result.code);
    throw new UserError(`Cannot start git: ${problem}`, `install git, which ${option} needs`);
  }
  throw gitError(args[0]!, cwd, result.complaint, option);
}

/** Converts git's error to a UserError. @param complaint standard error; its line after "fatal:" is the reason */
function gitError(command: string, cwd: string, complaint: string, option: string): UserError {
  const lines = complaint.split("\n").map((line) => line.trim());
  const fatal = lines.findLast((line) => line.startsWith("fatal: "))?.slice("fatal: ".length);
  const reason = fatal ?? lines.findLast((line) => line !== "");
  const trust = lines.find((line) => line.startsWith("git config ") && line.includes("safe.directory"));
  let hint: string | undefined;
  if (trust !== undefined) hint = `another user owns the repository; if you trust it: ${trust}`;
  else if (reason?.startsWith("not a git repository"))
    hint = `${option === "--filter" ? "a git revision in --filter" : option} needs a git repository with a commit`;
  return new UserError(`git ${command} failed in ${cwd}${reason === undefined ? "" : `: ${reason}`}`, hint);
}

/**
 * Prevents code execution by a hostile repository: git starts the file system monitor before a comparison and a hook after
 * refreshing the index. A checkout may contain a bare repository with such a configuration.
 */
const SAFE_OPTIONS = [
  "--no-optional-locks",
  ...["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit"],
];

/** Counts a submodule with untracked files as changed, unless .gitmodules overrides it. */
const WHOLE_SUBMODULES = ["-c", "diff.ignoreSubmodules=none"];

/**
 * Runs git and returns its output; null if git is missing or fails.
 * @param isSuccess returns whether an exit code means success
 * @param input standard input
 */
export async function tryGit(
  cwd: string,
  args: readonly string[],
  isSuccess?: (code: number) => boolean,
  input?: string,
): Promise<string | null> {
  const result = await runGit(cwd, args, isSuccess, input);
  return typeof result === "string" ? result : null;
}

/** Runs git and returns its output, its standard error, or the system's error code if it cannot be started. */
async function runGit(
  cwd: string,
  args: readonly string[],
  isSuccess: (code: number) => boolean = (code) => code === 0,
  input?: string,
): Promise<string | { readonly complaint: string } | { readonly code: string }> {
  try {
    const child = Bun.spawn(["git", ...SAFE_OPTIONS, ...WHOLE_SUBMODULES, ...args], {
      cwd,
      env: { ...host.originalEnvironment(), LC_ALL: "C" }, // its errors are parsed
      stdin: input === undefined ? "ignore" : Buffer.from(input),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, complaint] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return isSuccess(await child.exited) ? output : { complaint };
  } catch (error) {
    return { code: errorReason(error) };
  }
}

// Which packages have changed since a commit, with everything that depends on them.
//
// Contract: committed, staged, unstaged and untracked changes count, from where the branch left `reference`
// (its merge base), so that what others have done there meanwhile does not. A changed file belongs to the
// innermost package around it; what lies outside every package belongs to the root alone. Of a repository inside this one
// (a submodule, or one that nobody has added) git gives the directory, which stands for the packages that it holds. The
// root's package.json, lockfiles and workspace declarations decide what every package gets, so they affect all.
//
// Surprising: "" asks for the default branch: what origin/HEAD points at, else main, else master. Git is only asked, so of
// what a repository's own configuration would start it starts no hooks and no file system monitor.
import { errorReason } from "../../platform/caught-error.ts";
import { host } from "../../platform/processes/process.ts";
import { type DependencyGraph, reverseGraph } from "./dependencies.ts";
import type { Workspace } from "./members.ts";
import { explainUnreadable, parentDirectory } from "./package-json.ts";
import { UserError } from "../user-error.ts";

/** Loaded when it is needed: this module shares a chunk with runs that need none of it. */
function join(...names: string[]): string {
  return process.getBuiltinModule("node:path").join(...names);
}

/** What makes a package an affected one: a file, by its absolute path, or another package that it depends on. */
export type AffectedReason = { readonly file: string } | { readonly dependsOn: number };

/** By positions of members. Throws Failure when git cannot tell. */
export async function affectedMembers(
  workspace: Workspace,
  graph: DependencyGraph,
  reference: string,
): Promise<Map<number, AffectedReason>> {
  const files = await changedFiles(workspace.root, reference);
  return affectedBy(workspace, graph, files);
}

/** Pure: absolute paths in, positions of members out. */
export function affectedBy(
  workspace: Workspace,
  graph: DependencyGraph,
  files: readonly string[],
): Map<number, AffectedReason> {
  const causes = ownersOf(workspace, files);
  const dependents = reverseGraph(graph);
  // A Map is walked while it grows.
  for (const [index] of causes)
    for (const dependent of dependents.edges(index))
      if (!causes.has(dependent)) causes.set(dependent, { dependsOn: index });
  return causes;
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

/** Pure: absolute paths in; out the positions of the packages that hold them, each with the first. */
function ownersOf(workspace: Workspace, files: readonly string[]): Map<number, AffectedReason> {
  const find = findOwners(workspace);
  const held = membersBelow(workspace);
  const causes = new Map<number, AffectedReason>();
  for (const file of files) {
    const owner = find(file);
    const owners = owner === "all" ? workspace.members.keys() : owner === undefined ? [] : [owner];
    for (const each of owners) if (!causes.has(each)) causes.set(each, { file });
    for (const each of held.get(file) ?? []) if (!causes.has(each)) causes.set(each, { file });
  }
  return causes;
}

/** By the directories between the root and the packages: no file has such a path, but a repository of its own may. */
function membersBelow({ root, members }: Workspace): Map<string, number[]> {
  const below = new Map<string, number[]>();
  for (const [index, { directory }] of members.entries()) {
    let above = parentDirectory(directory);
    for (; above !== null && above.length > root.length; above = parentDirectory(above)) {
      const known = below.get(above);
      if (known) known.push(index);
      else below.set(above, [index]);
    }
  }
  return below;
}

/** Pure: of an absolute path the position of the innermost package that holds it, or is it; undefined where none does. */
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

async function changedFiles(root: string, reference: string): Promise<string[]> {
  const top = (await git(root, ["rev-parse", "--show-toplevel"])).trimEnd();
  const base = await mergeBase(root, reference === "" ? await defaultBranch(root) : reference);
  const [changed, untracked] = await Promise.all([
    git(top, ["diff", "--name-only", "--no-renames", "-z", base]),
    git(top, ["ls-files", "--others", "--exclude-standard", "-z"]),
  ]);
  return [...changed.split("\0"), ...untracked.split("\0")]
    .filter((file) => file !== "")
    .map((file) => join(top, file.replace(/\/$/, ""))); // behind a repository that nobody has added
}

async function mergeBase(root: string, reference: string): Promise<string> {
  const known = await tryGit(root, [
    "rev-parse",
    "--verify",
    "--quiet",
    "--end-of-options",
    `${reference}^{commit}`,
  ]);
  if (known === null)
    throw new UserError(
      `Git knows no commit "${reference}"`,
      "fetch it, or name another one: --affected=REF",
    );
  const base = await tryGit(root, ["merge-base", known.trim(), "HEAD"]);
  return (base ?? known).trim();
}

async function defaultBranch(root: string): Promise<string> {
  const remote = await tryGit(root, ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
  if (remote !== null) return remote.trim();
  for (const name of ["origin/main", "origin/master", "main", "master"]) {
    if ((await tryGit(root, ["rev-parse", "--verify", "--quiet", name])) !== null) return name;
  }
  throw new UserError("Git has no default branch to compare with", "name a commit: --affected=REF");
}

async function git(cwd: string, args: readonly string[]): Promise<string> {
  const answer = await askGit(cwd, args);
  if (typeof answer === "string") return answer;
  if ("code" in answer) {
    const problem = answer.code === "ENOENT" ? "there is no such program" : explainUnreadable(answer.code);
    throw new UserError(`Cannot start git: ${problem}`, "--affected asks git what has changed: install it");
  }
  throw refusalOf(args[0]!, cwd, answer.complaint);
}

/** What git says of it, and what to do. @param complaint what it wrote, of which the line behind "fatal:" is the reason */
function refusalOf(command: string, cwd: string, complaint: string): UserError {
  const lines = complaint.split("\n").map((line) => line.trim());
  const fatal = lines.findLast((line) => line.startsWith("fatal: "))?.slice("fatal: ".length);
  const reason = fatal ?? lines.findLast((line) => line !== "");
  const trust = lines.find((line) => line.startsWith("git config ") && line.includes("safe.directory"));
  let hint: string | undefined;
  if (trust !== undefined) hint = `its files are another user's; if you trust them: ${trust}`;
  else if (reason?.startsWith("not a git repository"))
    hint = "--affected needs a repository with a commit: git init makes one";
  return new UserError(`git ${command} failed in ${cwd}${reason === undefined ? "" : `: ${reason}`}`, hint);
}

/**
 * Git asks the monitor before every comparison, and tells a hook that it has refreshed the index. A bare repository
 * among a project's files, as a checkout can hold one, is none that the user has made.
 */
const CAUTION = [
  "--no-optional-locks",
  ...["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit"],
];

/** A submodule with new files in it has changed, unless the project's own .gitmodules says otherwise of it. */
const WHOLE_SUBMODULES = ["-c", "diff.ignoreSubmodules=none"];

/** Its output; null where it cannot tell, or is not there. @param isAnswer of its exit codes @param input what it reads */
export async function tryGit(
  cwd: string,
  args: readonly string[],
  isAnswer?: (code: number) => boolean,
  input?: string,
): Promise<string | null> {
  const answer = await askGit(cwd, args, isAnswer, input);
  return typeof answer === "string" ? answer : null;
}

/** Its output; or what it says instead; or the system's error code where it does not start. */
async function askGit(
  cwd: string,
  args: readonly string[],
  isAnswer: (code: number) => boolean = (code) => code === 0,
  input?: string,
): Promise<string | { readonly complaint: string } | { readonly code: string }> {
  try {
    const child = Bun.spawn(["git", ...CAUTION, ...WHOLE_SUBMODULES, ...args], {
      cwd,
      env: { ...host.originalEnvironment(), LC_ALL: "C" }, // its complaints are read
      stdin: input === undefined ? "ignore" : Buffer.from(input),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, complaint] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return isAnswer(await child.exited) ? output : { complaint };
  } catch (error) {
    return { code: errorReason(error) };
  }
}

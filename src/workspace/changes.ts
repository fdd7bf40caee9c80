// Asks git which files have changed since a commit.
//
// Invariants:
// - Committed, staged, unstaged and untracked changes count, from the merge base with `reference`: later commits of others there do
//   not.
//
// Non-obvious: git reports a nested repository (a submodule, or an untracked one) as a directory.
// `reference` "" is the default branch: origin/HEAD, main or master.
import { parentDirectory } from "./package-json.ts";
import { UserError } from "../user-error.ts";
import { git, tryGit } from "./git.ts";

/** Loads node:path lazily: runs that do not need it load this module too. */
function join(...names: string[]): string {
  return process.getBuiltinModule("node:path").join(...names);
}

interface Comparison {
  readonly reference: string;
  /** Compared with instead of the working directory. */
  readonly head?: string | undefined;
  /** The option that needs git, for messages. */
  readonly option: string;
}

/** The changes since a commit. All paths are absolute. */
export class ChangeSet {
  readonly files: readonly string[];
  /** Files that were added, deleted, or replaced by another type. */
  readonly #listed: readonly string[];
  /** The root of the working tree. */
  readonly #top: string;
  readonly #base: string;

  constructor(top: string, base: string, diff: string, untracked: string) {
    [this.#top, this.#base] = [top, base];
    const words = diff.split("\0");
    const added = namesIn(untracked);
    const listed = [...added];
    const files: string[] = [];
    for (let at = 0; at + 1 < words.length; at += 2) {
      files.push(words[at + 1]!);
      if (words[at] !== "M") listed.push(words[at + 1]!);
    }
    const toPath = (name: string) => join(top, name.replace(/\/$/, "")); // an untracked repository ends with a slash
    this.#listed = listed.map(toPath);
    this.files = [...new Set([...files, ...added])].map(toPath);
  }

  /** Returns the files and directories that exist only before or only after the changes. */
  async listExistence(): Promise<ReadonlySet<string>> {
    const found = new Set(this.#listed);
    if (found.size === 0) return found;
    const trees = namesIn(
      (await tryGit(this.#top, ["ls-tree", "-rdz", "--name-only", "--full-tree", this.#base])) ?? "",
    );
    const before = new Set(trees.map((name) => join(this.#top, name)));
    const { existsSync } = process.getBuiltinModule("node:fs");
    for (const file of this.#listed) {
      let directory = parentDirectory(file);
      for (
        ;
        directory !== null && directory.length > this.#top.length;
        directory = parentDirectory(directory)
      ) {
        if (found.has(directory) || (before.has(directory) && existsSync(directory))) break;
        found.add(directory);
      }
    }
    return found;
  }

  /** Returns the content of a file before the changes; null if it did not exist. */
  async readBefore(file: string): Promise<string | null> {
    const { relative } = process.getBuiltinModule("node:path");
    const name = relative(this.#top, file).replaceAll("\\", "/");
    return await tryGit(this.#top, ["show", `${this.#base}:${name}`]);
  }
}

function namesIn(list: string): string[] {
  return list.split("\0").filter((name) => name !== "");
}

/** @throws UserError if git fails */
export async function readChanges(root: string, { reference, head, option }: Comparison): Promise<ChangeSet> {
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
    git(top, ["diff", "--name-status", "--no-renames", "-z", ...commits], option),
    end === undefined ? git(top, ["ls-files", "--others", "--exclude-standard", "-z"], option) : "",
  ]);
  return new ChangeSet(top, commits[0]!, changed, untracked);
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

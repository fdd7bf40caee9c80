// What an action has made, as a list of files, links and directories: a result of a server's, read and checked.
//
// Contract: pure. Nothing in the list lies elsewhere than in the outputs that were asked for, or leads out of its output:
// names are single segments, no path is there twice, links are relative and stay below the output that holds them. The API
// knows neither devices nor pipes. No name is a repository's. Any violation is an error, and then there is no list at all.
//
// Non-obvious: a tree has each distinct directory once, so a message of some kilobytes can describe billions of paths. They
// are counted, once for each distinct directory, before the list is made.
import { withoutSlash } from "./action.ts";
import { decode } from "./grpc/channel.ts";
import { type Digest, digestOf, fromMessage } from "./digest.ts";
import { type ActionResult, Directory, Tree } from "./messages/remote_execution.ts";
import type { Codec } from "./grpc/methods.ts";
import { isRepositoryName } from "../repository-name.ts";
import { RemoteError } from "./grpc/retry.ts";

/** `path` begins with the output that it belongs to. */
export type ActionOutput =
  | { readonly kind: "file"; readonly path: string; readonly digest: Digest; readonly isExecutable: boolean }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  | { readonly kind: "directory"; readonly path: string };

/** Deeper than any output is. */
const DEEPEST = 200;
const MOST = 1_000_000;
/** Paths for each directory, file and link that a tree lists: outputs repeat some directories, but not all of them often. */
const MOST_REPEATED = 100;

/** Of the trees that a result names. Throws RemoteError. */
export function treesOf({ outputDirectories }: ActionResult): Digest[] {
  return outputDirectories.map(({ path, treeDigest }) => demand(fromMessage(treeDigest), path));
}

/** @param asked the outputs of the action @param trees the content of `treesOf`, by hash. Throws RemoteError. */
export function readOutputs(
  result: ActionResult,
  asked: readonly string[],
  trees: ReadonlyMap<string, Uint8Array>,
): ActionOutput[] {
  const roots = new Set<string>();
  const allowed = new Set(asked.map(withoutSlash));
  const claim = (path: string): string => {
    if (!allowed.has(path)) throw refuse("was not asked for", path);
    if (path.split("/").some(isRepositoryName)) throw refuse("is in a repository's own folder", path);
    if (roots.has(path)) throw refuse("is there twice", path);
    roots.add(path);
    return path;
  };
  const outputs: ActionOutput[] = [];
  for (const { path, digest, isExecutable } of result.outputFiles)
    outputs.push({
      kind: "file",
      path: claim(path),
      digest: demand(fromMessage(digest), path),
      isExecutable,
    });
  // Servers of 2.1 and later say each link twice, for older clients. There is nothing beside it that it could lead to.
  const [link] = [...result.outputSymlinks, ...result.outputFileSymlinks, ...result.outputDirectorySymlinks];
  if (link) throw refuse(`is a link, to ${link.target}`, link.path);
  for (const { path, treeDigest } of result.outputDirectories)
    readTree(claim(path), trees.get(demand(fromMessage(treeDigest), path).hash)!, outputs);
  return outputs;
}

function readTree(root: string, bytes: Uint8Array, outputs: ActionOutput[]): void {
  const tree = read(Tree, bytes);
  if (!tree.root) throw refuse("is no tree", root);
  const children = new Map(
    tree.children.map((child) => [digestOf(child).hash, read(Directory, child)] as const),
  );
  const top = read(Directory, tree.root);
  const listed = [top, ...children.values()].reduce((sum, each) => sum + sizeOf(each), 0);
  const counts = new Map<Directory, number>();
  const count = countPaths(top, 0);
  if (outputs.length + count > MOST || count > listed * MOST_REPEATED)
    throw refuse("is too deep, or has too much in it", root);
  readDirectory(top, root, 0);

  function read<Message>(codec: Codec<Message>, message: Uint8Array): Message {
    try {
      return decode(codec, message);
    } catch {
      throw refuse("is no tree", root);
    }
  }

  function childOf(digest: Parameters<typeof fromMessage>[0], path: string): Directory {
    const child = children.get(demand(fromMessage(digest), path).hash);
    if (!child) throw refuse("is missing", path);
    return child;
  }

  /** No directory contains itself, since its digest would have to be known before it. */
  function countPaths(directory: Directory, depth: number): number {
    if (depth > DEEPEST) throw refuse("is too deep, or has too much in it", root);
    const known = counts.get(directory);
    if (known !== undefined) return known;
    const own = 1 + directory.files.length + directory.symlinks.length;
    const below = directory.directories.map(({ name, digest }) =>
      countPaths(childOf(digest, `${root}/.../${name}`), depth + 1),
    );
    const count = below.reduce((sum, each) => sum + each, own);
    counts.set(directory, count);
    return count;
  }

  function readDirectory(directory: Directory, path: string, depth: number): void {
    if (depth > DEEPEST) throw refuse("is too deep, or has too much in it", root);
    outputs.push({ kind: "directory", path });
    const names = new Set<string>();
    const place = (name: string): string => {
      if (name === "" || name === "." || name === ".." || /[/\0]/.test(name) || !name.isWellFormed())
        throw refuse("has a name in it that is none", `${path}/${name}`);
      if (isRepositoryName(name)) throw refuse("is a repository's own folder", `${path}/${name}`);
      if (names.has(name)) throw refuse("is there twice", `${path}/${name}`);
      names.add(name);
      return `${path}/${name}`;
    };
    for (const { name, digest, isExecutable } of directory.files) {
      const at = place(name);
      outputs.push({ kind: "file", path: at, digest: demand(fromMessage(digest), at), isExecutable });
    }
    for (const { name, target } of directory.symlinks) {
      const at = place(name);
      if (!staysBelow(target, depth)) throw refuse(`is a link to ${target}, which is not in ${root}`, at);
      outputs.push({ kind: "link", path: at, target });
    }
    for (const { name, digest } of directory.directories) {
      const at = place(name);
      readDirectory(childOf(digest, at), at, depth + 1);
    }
  }
}

function sizeOf({ files, symlinks, directories }: Directory): number {
  return 1 + files.length + symlinks.length + directories.length;
}

/** @param depth how many directories below the output's own the link lies in */
function staysBelow(target: string, depth: number): boolean {
  if (target === "" || target.startsWith("/") || target.includes("\0")) return false;
  let level = depth;
  let hasGoneDown = false;
  for (const name of target.split("/")) {
    // Up from what may be a link itself is not where its name says.
    if (name === ".." && (hasGoneDown || --level < 0)) return false;
    hasGoneDown ||= name !== ".." && name !== "." && name !== "";
  }
  return true;
}

function demand(digest: Digest | undefined, path: string): Digest {
  if (!digest) throw refuse("has no digest", path);
  return digest;
}

function refuse(reason: string, path: string): RemoteError {
  return new RemoteError(`among what the script has made, ${path} ${reason}`);
}

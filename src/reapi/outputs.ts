// Validates an action result and lists its output files, links and directories.
//
// Invariants: pure. All paths are inside the requested outputs (no path traversal). Names are single segments, paths are unique, and
// links are relative and stay inside their output. No name is a .git folder. Any violation is an error for the whole result.
//
// Non-obvious: a tree message contains each distinct directory once, so a small message can describe billions of paths. They are
// counted, once for each distinct directory, before they are listed.
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

const MAX_DEPTH = 200;
const MAX_PATHS = 1_000_000;
/** Maximum paths for each entry of a tree. Real outputs repeat some directories, but few of them often. */
const MAX_REPETITION = 100;

/** Digests of the trees in a result. @throws RemoteError */
export function treesOf({ outputDirectories }: ActionResult): Digest[] {
  return outputDirectories.map(({ path, treeDigest }) => requireDigest(fromMessage(treeDigest), path));
}

/** @param requested the outputs of the action @param trees the content of `treesOf`, by hash @throws RemoteError */
export function readOutputs(
  result: ActionResult,
  requested: readonly string[],
  trees: ReadonlyMap<string, Uint8Array>,
): ActionOutput[] {
  const roots = new Set<string>();
  const allowed = new Set(requested.map(withoutSlash));
  const addRoot = (path: string): string => {
    if (!allowed.has(path)) throw invalidOutput("was not requested", path);
    if (path.split("/").some(isRepositoryName)) throw invalidOutput("is in a .git folder", path);
    if (roots.has(path)) throw invalidOutput("is listed twice", path);
    roots.add(path);
    return path;
  };
  const outputs: ActionOutput[] = [];
  for (const { path, digest, isExecutable } of result.outputFiles)
    outputs.push({
      kind: "file",
      path: addRoot(path),
      digest: requireDigest(fromMessage(digest), path),
      isExecutable,
    });
  // Servers of 2.1 and later list each link twice, for older clients. A top-level link has no target inside its
  // output.
  const [link] = [...result.outputSymlinks, ...result.outputFileSymlinks, ...result.outputDirectorySymlinks];
  if (link) throw invalidOutput(`is a link, to ${link.target}`, link.path);
  for (const { path, treeDigest } of result.outputDirectories)
    readTree(addRoot(path), trees.get(requireDigest(fromMessage(treeDigest), path).hash)!, outputs);
  return outputs;
}

function readTree(root: string, bytes: Uint8Array, outputs: ActionOutput[]): void {
  const tree = read(Tree, bytes);
  if (!tree.root) throw invalidOutput("is not a valid tree", root);
  const children = new Map(
    tree.children.map((child) => [digestOf(child).hash, read(Directory, child)] as const),
  );
  const top = read(Directory, tree.root);
  const listed = [top, ...children.values()].reduce((sum, each) => sum + sizeOf(each), 0);
  const counts = new Map<Directory, number>();
  const count = countPaths(top, 0);
  if (outputs.length + count > MAX_PATHS || count > listed * MAX_REPETITION)
    throw invalidOutput("is too deep or has too many entries", root);
  readDirectory(top, root, 0);

  function read<Message>(codec: Codec<Message>, message: Uint8Array): Message {
    try {
      return decode(codec, message);
    } catch {
      throw invalidOutput("is not a valid tree", root);
    }
  }

  function childOf(digest: Parameters<typeof fromMessage>[0], path: string): Directory {
    const child = children.get(requireDigest(fromMessage(digest), path).hash);
    if (!child) throw invalidOutput("is missing", path);
    return child;
  }

  /** Cycles are impossible, because a directory would have to contain its own digest. */
  function countPaths(directory: Directory, depth: number): number {
    if (depth > MAX_DEPTH) throw invalidOutput("is too deep or has too many entries", root);
    const counted = counts.get(directory);
    if (counted !== undefined) return counted;
    const own = 1 + directory.files.length + directory.symlinks.length;
    const below = directory.directories.map(({ name, digest }) =>
      countPaths(childOf(digest, `${root}/.../${name}`), depth + 1),
    );
    const count = below.reduce((sum, each) => sum + each, own);
    counts.set(directory, count);
    return count;
  }

  function readDirectory(directory: Directory, path: string, depth: number): void {
    if (depth > MAX_DEPTH) throw invalidOutput("is too deep or has too many entries", root);
    outputs.push({ kind: "directory", path });
    const names = new Set<string>();
    const addName = (name: string): string => {
      if (name === "" || name === "." || name === ".." || /[/\0]/.test(name) || !name.isWellFormed())
        throw invalidOutput("has an invalid name", `${path}/${name}`);
      if (isRepositoryName(name)) throw invalidOutput("is a .git folder", `${path}/${name}`);
      if (names.has(name)) throw invalidOutput("is listed twice", `${path}/${name}`);
      names.add(name);
      return `${path}/${name}`;
    };
    for (const { name, digest, isExecutable } of directory.files) {
      const at = addName(name);
      outputs.push({ kind: "file", path: at, digest: requireDigest(fromMessage(digest), at), isExecutable });
    }
    for (const { name, target } of directory.symlinks) {
      const at = addName(name);
      if (!staysBelow(target, depth)) throw invalidOutput(`is a link to ${target}, outside ${root}`, at);
      outputs.push({ kind: "link", path: at, target });
    }
    for (const { name, digest } of directory.directories) {
      const at = addName(name);
      readDirectory(childOf(digest, at), at, depth + 1);
    }
  }
}

function sizeOf({ files, symlinks, directories }: Directory): number {
  return 1 + files.length + symlinks.length + directories.length;
}

/** @param depth number of directories between the output's root and the link */
function staysBelow(target: string, depth: number): boolean {
  if (target === "" || target.startsWith("/") || target.includes("\0")) return false;
  let level = depth;
  let hasDescended = false;
  for (const name of target.split("/")) {
    // `..` after a name is rejected, because the name may be a link itself.
    if (name === ".." && (hasDescended || --level < 0)) return false;
    hasDescended ||= name !== ".." && name !== "." && name !== "";
  }
  return true;
}

function requireDigest(digest: Digest | undefined, path: string): Digest {
  if (!digest) throw invalidOutput("has no digest", path);
  return digest;
}

function invalidOutput(reason: string, path: string): RemoteError {
  return new RemoteError(`invalid output: ${path} ${reason}`);
}

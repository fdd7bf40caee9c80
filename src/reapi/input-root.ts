// The input root of an action: files and links by their paths, as the Merkle tree that the Remote Execution API wants.
//
// Contract: pure, and canonical: the same files give the same digest, in whichever order they are told. Names in a
// directory are sorted by their UTF-8 bytes, each is one segment, and none is there twice.
import { type Digest, digestOf, type Encoded } from "./digest.ts";
import { encodeDirectory } from "./directory.ts";

/** Paths are relative to the root, with forward slashes. */
export type Input =
  | { readonly kind: "file"; readonly path: string; readonly digest: Digest; readonly isExecutable: boolean }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  /** A directory with all that is in it, by the digest of its message. */
  | { readonly kind: "tree"; readonly path: string; readonly digest: Digest }
  /** One that may have nothing in it. */
  | { readonly kind: "directory"; readonly path: string };

export interface InputRoot {
  readonly digest: Digest;
  /** The directories, but for those that came by their digests. */
  readonly messages: readonly Encoded[];
}

interface Folder {
  readonly files: Map<string, Extract<Input, { kind: "file" }>>;
  readonly links: Map<string, string>;
  readonly trees: Map<string, Digest>;
  readonly folders: Map<string, Folder>;
}

/** Throws RangeError for paths that cannot be in one tree. */
export function buildInputRoot(inputs: readonly Input[]): InputRoot {
  const root = createFolder();
  for (const input of inputs) place(root, input);
  const messages = new Map<string, Encoded>();
  const { digest } = encodeFolder(root, messages);
  return { digest, messages: [...messages.values()] };
}

function createFolder(): Folder {
  return { files: new Map(), links: new Map(), trees: new Map(), folders: new Map() };
}

function place(root: Folder, input: Input): void {
  const names = input.path === "." && input.kind === "directory" ? [] : input.path.split("/");
  if (names.some((name) => name === "" || name === "." || name === ".." || name.includes("\0")))
    throw new RangeError(`not a path in a tree: ${input.path}`);
  const last = input.kind === "directory" ? undefined : names.pop();
  let folder = root;
  for (const name of names) {
    if (isLeaf(folder, name)) throw twice(input.path);
    let next = folder.folders.get(name);
    if (!next) folder.folders.set(name, (next = createFolder()));
    folder = next;
  }
  if (last === undefined) return;
  if (isLeaf(folder, last) || folder.folders.has(last)) throw twice(input.path);
  if (input.kind === "file") folder.files.set(last, input);
  else if (input.kind === "link") folder.links.set(last, input.target);
  else if (input.kind === "tree") folder.trees.set(last, input.digest);
}

function isLeaf({ files, links, trees }: Folder, name: string): boolean {
  return files.has(name) || links.has(name) || trees.has(name);
}

function twice(path: string): RangeError {
  return new RangeError(`in the tree twice, or below what is no directory: ${path}`);
}

function encodeFolder(folder: Folder, messages: Map<string, Encoded>): Encoded {
  const { files, links, trees, folders } = folder;
  const directories = new Map(trees);
  for (const [name, each] of folders) directories.set(name, encodeFolder(each, messages).digest);
  const bytes = encodeDirectory({
    files: byName(files),
    directories: byName(directories),
    links: byName(links),
  });
  const encoded = { digest: digestOf(bytes), bytes };
  messages.set(encoded.digest.hash, encoded);
  return encoded;
}

/** By their bytes, which is another order than that of UTF-16 where one of them has a character of two units. */
function byName<Value>(entries: ReadonlyMap<string, Value>): [string, Value][] {
  const sorted = [...entries];
  const isSimple = sorted.every(([name]) => !/[\ud800-\udfff]/.test(name));
  if (!isSimple) return sorted.sort(([a], [b]) => compareBytes(a, b));
  // As git lists them they mostly are.
  if (sorted.every(([name], at) => at === 0 || sorted[at - 1]![0] < name)) return sorted;
  return sorted.sort(([a], [b]) => (a < b ? -1 : 1));
}

export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

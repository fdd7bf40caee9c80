// Builds the input root of an action: a Merkle tree of Directory messages.
//
// Invariants: pure and canonical: the same files give the same digest in any order. Names are single segments,
// unique, and sorted by UTF-8 bytes.
import { type Digest, digestOf, type Encoded } from "./digest.ts";
import { encodeDirectory } from "./directory.ts";

/** Paths are relative to the root, with forward slashes. */
export type Input =
  | { readonly kind: "file"; readonly path: string; readonly digest: Digest; readonly isExecutable: boolean }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  /** A whole directory, by the digest of its message. */
  | { readonly kind: "tree"; readonly path: string; readonly digest: Digest }
  /** A directory that may be empty. */
  | { readonly kind: "directory"; readonly path: string };

export interface InputRoot {
  readonly digest: Digest;
  /** The encoded directories, except those given by digest. */
  readonly messages: readonly Encoded[];
}

interface Folder {
  readonly files: Map<string, Extract<Input, { kind: "file" }>>;
  readonly links: Map<string, string>;
  readonly trees: Map<string, Digest>;
  readonly folders: Map<string, Folder>;
}

/** @throws RangeError for paths that cannot be in one tree */
export function buildInputRoot(inputs: readonly Input[]): InputRoot {
  const root = createFolder();
  for (const input of inputs) insert(root, input);
  const messages = new Map<string, Encoded>();
  const { digest } = encodeFolder(root, messages);
  return { digest, messages: [...messages.values()] };
}

function createFolder(): Folder {
  return { files: new Map(), links: new Map(), trees: new Map(), folders: new Map() };
}

function insert(root: Folder, input: Input): void {
  const names = input.path === "." && input.kind === "directory" ? [] : input.path.split("/");
  if (names.some((name) => name === "" || name === "." || name === ".." || name.includes("\0")))
    throw new RangeError(`invalid path: ${input.path}`);
  const last = input.kind === "directory" ? undefined : names.pop();
  let folder = root;
  for (const name of names) {
    if (isLeaf(folder, name)) throw conflict(input.path);
    let next = folder.folders.get(name);
    if (!next) folder.folders.set(name, (next = createFolder()));
    folder = next;
  }
  if (last === undefined) return;
  if (isLeaf(folder, last) || folder.folders.has(last)) throw conflict(input.path);
  if (input.kind === "file") folder.files.set(last, input);
  else if (input.kind === "link") folder.links.set(last, input.target);
  else if (input.kind === "tree") folder.trees.set(last, input.digest);
}

function isLeaf({ files, links, trees }: Folder, name: string): boolean {
  return files.has(name) || links.has(name) || trees.has(name);
}

function conflict(path: string): RangeError {
  return new RangeError(`listed twice, or below a file: ${path}`);
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

/** Sorted by UTF-8 bytes, which differs from UTF-16 order for surrogate pairs. */
function byName<Value>(entries: ReadonlyMap<string, Value>): [string, Value][] {
  const sorted = [...entries];
  const isSimple = sorted.every(([name]) => !/[\ud800-\udfff]/.test(name));
  if (!isSimple) return sorted.sort(([a], [b]) => compareBytes(a, b));
  // Lists from git are sorted already.
  if (sorted.every(([name], at) => at === 0 || sorted[at - 1]![0] < name)) return sorted;
  return sorted.sort(([a], [b]) => (a < b ? -1 : 1));
}

export function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

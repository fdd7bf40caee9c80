// Lists, stats and hashes workspace files once for all remote tasks of a run.
//
// Invariants:
// - Cached states are valid until `invalidate`, which is called when a local script may have changed files. Files
//   are then hashed again only if their stat fingerprint changed.
// - A node_modules folder is one tree with one digest, so that it costs a task one entry.
// - A symlink out of the workspace is an error, because its target does not exist on the server.
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { errorReason } from "../../platform/caught-error.ts";
import type { PathState } from "../../platform/tracing/contract/tracing.ts";
import { statPath } from "../../platform/files/path-state.ts";
import type { FileHashCache } from "../cache/store/file-hash-cache.ts";
import { TOOL_CACHES } from "../cache/key/rule-globs.ts";
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import { type Blob, blobOf } from "../reapi/cas-client.ts";
import { type Digest, digestOf, isOf } from "../reapi/digest.ts";
import { buildInputRoot, type Input } from "../reapi/input-root.ts";
import { RemoteError } from "../reapi/grpc/retry.ts";
import { tryGit } from "../workspace/git.ts";

/** A file or link that a task may read. `blob` is set for files. */
export interface WorkspaceFile {
  readonly input: Input;
  readonly blob?: Blob;
}

export interface Tree {
  readonly digest: Digest;
  readonly blobs: readonly Blob[];
  readonly files: number;
  /** Total size of the files. */
  readonly bytes: number;
}

type WorkspaceFileState = Extract<PathState, { kind: "file" }>;

const NOT_FOUND_CODES: readonly string[] = ["ENOENT", "ENOTDIR"];
const MAX_SYNC_HASH_SIZE = 1 << 20;
/** Number of lookups after which other events are handled. */
const LOOKUPS_PER_TURN = 64;
/** Maximum number of packages that are passed to git; above it, the whole workspace is listed. */
const MAX_NAMED_PACKAGES = 100;

export class WorkspaceFiles {
  readonly root: string;
  readonly #packages: readonly string[];
  readonly #hashes: FileHashCache;
  #listed: Promise<readonly string[]> | undefined;
  #files = new Map<string, WorkspaceFile | undefined | Promise<WorkspaceFile | undefined>>();
  #trees = new Map<string, Promise<Tree | undefined>>();
  #lookups = 0;

  /** @param packages absolute paths; only these are listed */
  constructor(root: string, packages: readonly string[], hashes: FileHashCache) {
    this.root = root;
    this.#packages = packages;
    this.#hashes = hashes;
  }

  /** Discards cached states, because files may have changed. */
  invalidate(): void {
    this.#listed = undefined;
    this.#files = new Map();
    this.#trees = new Map();
  }

  /** Discards the file-hash cache, because a hash was wrong. */
  invalidateHashes(): void {
    this.#hashes.forget();
    this.invalidate();
  }

  /** Discards the states below these paths, which are relative to the root. */
  invalidateBelow(tops: readonly string[]): void {
    for (const path of this.#files.keys())
      if (tops.some((top) => path === top || path.startsWith(`${top}/`))) this.#files.delete(path);
  }

  /** Tracked and untracked files of a package that git does not ignore, relative to the root. @throws UserError */
  async listPackage(directory: string): Promise<readonly string[]> {
    const all = await (this.#listed ??= this.#list());
    const own = this.pathOf(directory);
    if (own === "") return all;
    const start = firstAtLeast(all, `${own}/`);
    return all.slice(start, firstAtLeast(all, `${own}0`)); // "0" follows "/"
  }

  async #list(): Promise<readonly string[]> {
    const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"];
    const packages = this.#packages.length > MAX_NAMED_PACKAGES ? [this.root] : this.#packages;
    const listed = await tryGit(this.root, [...words, ...packages.map((path) => `:(literal)${path}`)]);
    if (listed !== null) return [...new Set(listed.split("\0").filter((path) => path !== ""))].sort();
    throw new UserError(
      `git cannot list the files of ${oneLine(this.root)}`,
      "--remote needs git and a repository",
    );
  }

  /** Path relative to the root, with forward slashes; "" for the root. */
  pathOf(directory: string): string {
    return relative(this.root, directory).split(sep).join("/");
  }

  /** All files below a path, including ignored ones: outputs of scripts. */
  listOutputs(path: string): string[] {
    const state = lstatSync(join(this.root, path), { throwIfNoEntry: false });
    if (!state?.isDirectory()) return state ? [path] : [];
    return readdirSync(join(this.root, path)).flatMap((name) => this.listOutputs(`${path}/${name}`));
  }

  /** Undefined if the path is neither a file nor a link. Git also lists removed files and submodules. */
  async find(path: string): Promise<WorkspaceFile | undefined> {
    if (++this.#lookups % LOOKUPS_PER_TURN === 0) await new Promise((next) => setImmediate(next));
    const cached = this.#files.get(path);
    if (cached !== undefined || this.#files.has(path)) return cached;
    const found = this.#find(path);
    this.#files.set(path, found);
    return found;
  }

  #find(path: string): WorkspaceFile | undefined | Promise<WorkspaceFile | undefined> {
    const file = `${this.root}/${path}`;
    const state = statPath(file);
    if (state.kind === "link")
      return { input: { kind: "link", path, target: this.#readLink(path, state.target) } };
    if (state.kind === "absent" && !NOT_FOUND_CODES.includes(state.code)) throw unreadable(file, state.code);
    if (state.kind !== "file") return undefined;
    const { size, mode } = state;
    const hash = this.#hashes.find(file, state);
    if (hash !== undefined) return describeFile(path, file, mode, { hash, size });
    return this.#hash(file, state, (digest) => describeFile(path, file, mode, digest));
  }

  /** Undefined for a file that was removed concurrently. */
  #hash(file: string, state: WorkspaceFileState, describe: (digest: Digest) => WorkspaceFile) {
    const store = (digest: Digest): WorkspaceFile => {
      if (digest.size === state.size) this.#hashes.note(file, state, digest.hash);
      return describe(digest);
    };
    const explain = (error: unknown) => {
      const code = errorReason(error);
      if (NOT_FOUND_CODES.includes(code)) return undefined;
      throw unreadable(file, code);
    };
    if (state.size > MAX_SYNC_HASH_SIZE) return digestLarge(file).then(store, explain);
    let bytes;
    try {
      bytes = readFileSync(file);
    } catch (error) {
      return explain(error);
    }
    return store(digestOf(bytes));
  }

  #readLink(path: string, target: string): string {
    const end = relative(this.root, resolve(dirname(join(this.root, path)), target));
    if (!isAbsolute(target) && end !== ".." && !end.startsWith(`..${sep}`)) return target;
    throw new UserError(
      `${oneLine(path)} leads out of the workspace, to ${oneLine(target)}`,
      "move the target into the workspace; a remote script has no other files",
    );
  }

  /** A node_modules folder as one tree; undefined if it does not exist. */
  tree(path: string): Promise<Tree | undefined> {
    let tree = this.#trees.get(path);
    if (!tree) this.#trees.set(path, (tree = this.#buildTree(path)));
    return tree;
  }

  async #buildTree(path: string): Promise<Tree | undefined> {
    const paths: string[] = [];
    this.#listModules(path, paths);
    if (paths.length === 0) return undefined;
    const inputs: Input[] = [];
    const blobs = new Map<string, Blob>();
    let files = 0;
    let bytes = 0;
    for (const each of paths) {
      const found = await this.find(each);
      if (!found) continue;
      inputs.push({ ...found.input, path: each.slice(path.length + 1) });
      if (!found.blob) continue;
      blobs.set(found.blob.digest.hash, found.blob);
      files++;
      bytes += found.blob.digest.size;
    }
    const { digest, messages } = buildInputRoot(inputs);
    for (const message of messages) blobs.set(message.digest.hash, blobOf(message));
    return { digest, blobs: [...blobs.values()], files, bytes };
  }

  #listModules(path: string, paths: string[]): void {
    let listed;
    try {
      listed = readdirSync(join(this.root, path), { withFileTypes: true });
    } catch {
      return;
    }
    for (const each of listed) {
      if (TOOL_CACHES.includes(each.name)) continue;
      const at = `${path}/${each.name}`;
      if (each.isDirectory()) this.#listModules(at, paths);
      else if (each.isFile() || each.isSymbolicLink()) paths.push(at);
    }
  }
}

function unreadable(file: string, code: string): UserError {
  return new UserError(`Cannot read ${oneLine(file)}: ${code}`);
}

function describeFile(path: string, file: string, mode: number, digest: Digest): WorkspaceFile {
  return {
    input: { kind: "file", path, digest, isExecutable: (mode & 0o100) !== 0 },
    blob: { digest, read: (start, end) => readPart(file, digest, start, end) },
  };
}

/** Position of the first text that is not less, in ascending texts. */
function firstAtLeast(texts: readonly string[], text: string): number {
  let [low, high] = [0, texts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (texts[middle]! < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function digestLarge(file: string): Promise<Digest> {
  const hasher = new Bun.CryptoHasher("sha256");
  let size = 0;
  for await (const piece of Bun.file(file).stream()) {
    hasher.update(piece);
    size += piece.length;
  }
  return { hash: hasher.digest("hex"), size };
}

/**
 * Reads a part of a file. @throws RemoteError (damaged) if the file changed since it was hashed, so that it is read
 * again
 */
async function readPart(file: string, digest: Digest, start: number, end: number): Promise<Uint8Array> {
  const handle = await open(file, "r").catch(() => undefined);
  try {
    const bytes = new Uint8Array(end - start);
    let length = 0;
    while (handle && length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, start + length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    const isAll = start === 0 && end === digest.size;
    if (length === bytes.length && (!isAll || isOf(digest, bytes))) return bytes;
    throw new RemoteError(`${file} changed during the upload`, undefined, true);
  } finally {
    await handle?.close();
  }
}

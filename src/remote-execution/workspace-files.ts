// The files of a workspace as a run sees them: listed, looked at and hashed once, however many scripts read them.
//
// Contract: what is known holds until `look` says that something may have changed, which is what scripts that run here do;
// then each is looked at again, and hashed where its size, its times or its place on the disk are others; so too where an
// earlier run has remembered it. A folder of node_modules is one tree with one digest, and so costs a script one entry. A link
// that leads out of the workspace is an error: it would lead nowhere there.
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
import { tryGit } from "../workspace/affected.ts";

/** Something that a script may read. `blob` is of a file. */
export interface WorkspaceFile {
  readonly input: Input;
  readonly blob?: Blob;
}

export interface Tree {
  readonly digest: Digest;
  readonly blobs: readonly Blob[];
  readonly files: number;
  /** Of the files. */
  readonly bytes: number;
}

type WorkspaceFileState = Extract<PathState, { kind: "file" }>;

const GONE: readonly string[] = ["ENOENT", "ENOTDIR"];
const WHOLE = 1 << 20;
/** How many files are looked at before what runs meanwhile is heard. */
const AT_ONCE = 64;
/** Packages that git is asked for by name; of more it lists everything. */
const MOST_NAMED = 100;

export class WorkspaceFiles {
  readonly root: string;
  readonly #packages: readonly string[];
  readonly #hashes: FileHashCache;
  #listed: Promise<readonly string[]> | undefined;
  #found = new Map<string, WorkspaceFile | undefined | Promise<WorkspaceFile | undefined>>();
  #trees = new Map<string, Promise<Tree | undefined>>();
  #asked = 0;

  /** @param packages absolute; nothing else is listed */
  constructor(root: string, packages: readonly string[], hashes: FileHashCache) {
    this.root = root;
    this.#packages = packages;
    this.#hashes = hashes;
  }

  /** Something may be other than it was. */
  invalidate(): void {
    this.#listed = undefined;
    this.#found = new Map();
    this.#trees = new Map();
  }

  /** What is remembered of files is not true of one of them. */
  distrust(): void {
    this.#hashes.forget();
    this.invalidate();
  }

  /** Below these, from the root on, something is other than it was. */
  forget(tops: readonly string[]): void {
    for (const path of this.#found.keys())
      if (tops.some((top) => path === top || path.startsWith(`${top}/`))) this.#found.delete(path);
  }

  /** What git knows or would take below a package, from the root on. Throws Failure. */
  async listPackage(directory: string): Promise<readonly string[]> {
    const all = await (this.#listed ??= this.#list());
    const own = this.pathOf(directory);
    if (own === "") return all;
    const start = firstAtLeast(all, `${own}/`);
    return all.slice(start, firstAtLeast(all, `${own}0`)); // "0" follows "/"
  }

  async #list(): Promise<readonly string[]> {
    const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"];
    const named = this.#packages.length > MOST_NAMED ? [this.root] : this.#packages;
    const listed = await tryGit(this.root, [...words, ...named.map((path) => `:(literal)${path}`)]);
    if (listed !== null) return [...new Set(listed.split("\0").filter((path) => path !== ""))].sort();
    throw new UserError(
      `git cannot say which files of ${oneLine(this.root)} a script may read`,
      "--remote needs git, and a repository",
    );
  }

  /** From the root, with forward slashes; "" for that itself. */
  pathOf(directory: string): string {
    return relative(this.root, directory).split(sep).join("/");
  }

  /** All below a path, as git does not know it: what scripts have made. */
  listMade(path: string): string[] {
    const state = lstatSync(join(this.root, path), { throwIfNoEntry: false });
    if (!state?.isDirectory()) return state ? [path] : [];
    return readdirSync(join(this.root, path)).flatMap((name) => this.listMade(`${path}/${name}`));
  }

  /** Undefined for what is neither file nor link, or not there: git names what was removed, and submodules. */
  async find(path: string): Promise<WorkspaceFile | undefined> {
    if (++this.#asked % AT_ONCE === 0) await new Promise((next) => setImmediate(next));
    const known = this.#found.get(path);
    if (known !== undefined || this.#found.has(path)) return known;
    const found = this.#find(path);
    this.#found.set(path, found);
    return found;
  }

  #find(path: string): WorkspaceFile | undefined | Promise<WorkspaceFile | undefined> {
    const file = `${this.root}/${path}`;
    const state = statPath(file);
    if (state.kind === "link")
      return { input: { kind: "link", path, target: this.#readLink(path, state.target) } };
    if (state.kind === "absent" && !GONE.includes(state.code)) throw unreadable(file, state.code);
    if (state.kind !== "file") return undefined;
    const { size, mode } = state;
    const hash = this.#hashes.find(file, state);
    if (hash !== undefined) return describeFile(path, file, mode, { hash, size });
    return this.#hash(file, state, (digest) => describeFile(path, file, mode, digest));
  }

  /** Undefined for one that is gone. */
  #hash(file: string, state: WorkspaceFileState, describe: (digest: Digest) => WorkspaceFile) {
    const keep = (digest: Digest): WorkspaceFile => {
      if (digest.size === state.size) this.#hashes.note(file, state, digest.hash);
      return describe(digest);
    };
    const explain = (error: unknown) => {
      const code = errorReason(error);
      if (GONE.includes(code)) return undefined;
      throw unreadable(file, code);
    };
    if (state.size > WHOLE) return digestLarge(file).then(keep, explain);
    let bytes;
    try {
      bytes = readFileSync(file);
    } catch (error) {
      return explain(error);
    }
    return keep(digestOf(bytes));
  }

  #readLink(path: string, target: string): string {
    const end = relative(this.root, resolve(dirname(join(this.root, path)), target));
    if (!isAbsolute(target) && end !== ".." && !end.startsWith(`..${sep}`)) return target;
    throw new UserError(
      `${oneLine(path)} leads out of the workspace, to ${oneLine(target)}`,
      "what runs elsewhere has nothing that is not in the workspace",
    );
  }

  /** A folder of node_modules, whole; undefined where there is none. */
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

/** In ascending texts. */
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

/** Throws RemoteError where the file is another by now, so that it is looked at again. */
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
    throw new RemoteError(`${file} has changed while it was sent`, undefined, true);
  } finally {
    await handle?.close();
  }
}

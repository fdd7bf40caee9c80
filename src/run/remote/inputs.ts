// What a script reads, as far as that can be told without running it: the files that git knows of its package and of what
// that depends on in the workspace, what they need of the workspace's root, node_modules, and what rtfig.toml names.
//
// Contract: files of credentials (.env, .npmrc and the like) are no inputs unless rtfig.toml names them. What is ignored by
// git is none but node_modules. A link that leads out of the workspace is an error: it would lead nowhere there.
import { lstat, open, readdir, readFile, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Failure } from "../../failure.ts";
import { oneLine } from "../../printable.ts";
import type { Blob } from "../../reapi/content.ts";
import { type Digest, digestOf } from "../../reapi/digest.ts";
import type { Input } from "../../reapi/input-root.ts";
import { tryGit } from "../../workspace/affected.ts";
import { findWorkspaceRoot } from "../../workspace/members.ts";
import { directoriesNeeded } from "../../workspace/package-files.ts";

export interface Inputs {
  /** Absolute. */
  readonly root: string;
  readonly entries: readonly Input[];
  readonly blobs: readonly Blob[];
}

const ROOT_FILES =
  /^(?:package\.json|bun\.lockb?|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|yarn\.lock|tsconfig[^/]*\.json|rtfig\.toml)$/;
const CREDENTIALS = /(?:^|\/)(?:\.env(?:\.[^/]*)?|\.npmrc|\.yarnrc\.yml|\.netrc)$/;
/** That of tools, which is in no way of a project's. */
const CACHES = [".cache", ".vite", ".vite-temp"];
const WHOLE = 1 << 20;
/** Files that are read at a time. */
const AT_ONCE = 16;

/** @param directory the package's, absolute. Throws Failure. */
export async function collectInputs(
  directory: string,
  declared: readonly string[],
  outputs: readonly string[],
): Promise<Inputs> {
  const root = findWorkspaceRoot(directory) ?? directory;
  const packages = root === directory ? [directory] : [directory, ...directoriesNeeded(root, directory)];
  const paths = new Set<string>();
  for (const path of await listFiles(root, packages)) if (!CREDENTIALS.test(path)) paths.add(path);
  for (const name of await readdir(root)) if (ROOT_FILES.test(name)) paths.add(name);
  for (const path of await declaredFiles(declared, directory, root)) paths.add(path);
  const own = relative(root, directory).split(sep).join("/");
  const made = outputs.map((output) => join(own, output).replace(/\/$/, ""));
  for (const path of paths)
    if (made.some((each) => path === each || path.startsWith(`${each}/`))) paths.delete(path);
  for (const folder of new Set([root, ...packages])) {
    const path = join(relative(root, folder), "node_modules").split(sep).join("/");
    await listModules(root, path, paths);
  }
  const blobs = new Map<string, Blob>();
  const entries: Input[] = [{ kind: "directory", path: own === "" ? "." : own }];
  const waiting = [...paths];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
        const entry = await readEntry(root, path, blobs);
        if (entry) entries.push(entry);
      }
    }),
  );
  return { root, entries, blobs: [...blobs.values()] };
}

async function listFiles(root: string, packages: readonly string[]): Promise<string[]> {
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"];
  const listed = await tryGit(root, [...words, ...packages.map(literal)]);
  if (listed !== null) return [...new Set(listed.split("\0").filter((path) => path !== ""))];
  throw new Failure(
    `git cannot say which files of ${oneLine(root)} a script may read`,
    "--remote needs git, and a repository",
  );
}

function literal(path: string): string {
  return `:(literal)${path}`;
}

async function declaredFiles(globs: readonly string[], directory: string, root: string): Promise<string[]> {
  const found: string[] = [];
  for (const glob of globs) {
    const options = { cwd: directory, dot: true, absolute: true, onlyFiles: true };
    for await (const file of new Bun.Glob(glob).scan(options)) {
      const path = relative(root, file);
      if (path.startsWith("..") || isAbsolute(path))
        throw new Failure(`The input ${oneLine(file)} is outside of the workspace`, "inputs lie in it");
      found.push(path.split(sep).join("/"));
    }
  }
  return found;
}

async function listModules(root: string, path: string, paths: Set<string>): Promise<void> {
  const listed = await readdir(join(root, path), { withFileTypes: true }).catch(() => []);
  for (const each of listed) {
    if (CACHES.includes(each.name)) continue;
    const at = `${path}/${each.name}`;
    if (each.isDirectory()) await listModules(root, at, paths);
    else if (each.isFile() || each.isSymbolicLink()) paths.add(at);
  }
}

/** Undefined for what is neither file nor link, or not there: git names what was removed, and submodules. */
async function readEntry(root: string, path: string, blobs: Map<string, Blob>): Promise<Input | undefined> {
  const file = join(root, path);
  const state = await lstat(file).catch(() => undefined);
  if (state?.isSymbolicLink()) {
    const target = await readlink(file);
    const end = relative(root, resolve(dirname(file), target));
    if (isAbsolute(target) || end === ".." || end.startsWith(`..${sep}`))
      throw new Failure(
        `${oneLine(path)} leads out of the workspace, to ${oneLine(target)}`,
        "what runs elsewhere has nothing that is not in the workspace",
      );
    return { kind: "link", path, target };
  }
  if (!state?.isFile()) return undefined;
  const digest = state.size <= WHOLE ? digestOf(await readFile(file)) : await digestLarge(file);
  if (!blobs.has(digest.hash))
    blobs.set(digest.hash, { digest, read: (start, end) => readPart(file, start, end) });
  return { kind: "file", path, digest, isExecutable: (state.mode & 0o100) !== 0 };
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

async function readPart(file: string, start: number, end: number): Promise<Uint8Array> {
  const handle = await open(file, "r");
  try {
    const bytes = new Uint8Array(end - start);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, start + length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return bytes.subarray(0, length);
  } finally {
    await handle.close();
  }
}

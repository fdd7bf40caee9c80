// What a script reads, as far as that can be told without running it: the files that git knows of its package and of what
// that depends on in the workspace, what scripts have made in the latter, what they need of the workspace's root,
// node_modules, and what rtfig.toml names.
//
// Contract: files of credentials (.env, .npmrc and the like) are no inputs unless rtfig.toml names them, and a name that
// only stands for everything is none; so with a repository's own folder, in whose config CI leaves its token. What is ignored by
// git is none but node_modules and what rtfig.toml says that scripts of other packages make. What the script itself makes is
// none.
import { readdir } from "node:fs/promises";
import { isAbsolute, posix, relative, sep } from "node:path";
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import { withoutSlash } from "../reapi/action.ts";
import type { Blob } from "../reapi/cas-client.ts";
import type { Input } from "../reapi/input-root.ts";
import { type RemoteScript, type RemoteSettings, remoteScript } from "../config/settings/remote.ts";
import { readPackageJson, scriptNames, textField } from "../workspace/package-json.ts";
import { directoriesNeeded } from "../workspace/package-files.ts";
import type { WorkspaceFile, Tree, WorkspaceFiles } from "./workspace-files.ts";

export interface ActionInputs {
  readonly entries: readonly Input[];
  readonly blobs: readonly Blob[];
  /** What others have made: the server has it, or it has to be made and fetched before it can be sent. */
  readonly late: readonly Blob[];
  readonly trees: readonly Tree[];
  readonly files: number;
  /** Of the files. */
  readonly bytes: number;
}

/** Of a script that has run elsewhere, in the place of what the disk has. */
export interface UpstreamOutputs {
  /** The outputs that it was asked for, from the workspace's root on. */
  readonly outputs: readonly string[];
  readonly found: readonly WorkspaceFile[];
}

const ROOT_FILES =
  /^(?:package\.json|bun\.lockb?|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|yarn\.lock|tsconfig[^/]*\.json|rtfig\.toml)$/;
const CREDENTIALS = /(?:^|\/)(?:\.env(?:\.[^/]*)?|\.npmrc|\.yarnrc\.yml|\.netrc)$/;
const REPOSITORY = ".git";

/** The packages whose files a script of one reads, with that itself, absolute. */
export function packagesRead(root: string, directory: string): string[] {
  return root === directory ? [directory] : [directory, ...directoriesNeeded(root, directory)];
}

/** @param directory the package's, absolute @param made by those that the script waits for, in order. Throws Failure. */
export async function collectInputs(
  files: WorkspaceFiles,
  directory: string,
  script: RemoteScript,
  settings: RemoteSettings,
  made: readonly UpstreamOutputs[],
): Promise<ActionInputs> {
  const { root } = files;
  const packages = packagesRead(root, directory);
  const own = files.pathOf(directory);
  const paths = new Set<string>();
  for (const each of packages)
    for (const path of await files.listPackage(each)) if (!CREDENTIALS.test(path)) paths.add(path);
  for (const name of await readdir(root)) if (ROOT_FILES.test(name)) paths.add(name);
  for (const path of await declaredFiles(script.inputs, directory, root)) paths.add(path);
  // Of its own package it would be what comes after it too: a report of tests would have everything built again.
  for (const each of packages.slice(1))
    for (const output of outputsOf(each, settings))
      for (const path of files.listMade(posix.join(files.pathOf(each), output))) paths.add(path);
  const modules = [...new Set([root, ...packages])].map((each) =>
    posix.join(files.pathOf(each), "node_modules"),
  );
  const entries = new Map<string, Input>();
  const found = new Map<string, WorkspaceFile>();
  const blobs = new Map<string, Blob>();
  const dropped = [...modules, ...script.outputs.map((output) => posix.join(own, withoutSlash(output)))];
  const replaced = made.flatMap(({ outputs }) => outputs);
  removeBelow([...dropped, ...replaced], paths);
  for (const path of paths) {
    const each = await files.find(path);
    if (each) found.set(path, each);
    if (each?.blob) blobs.set(each.blob.digest.hash, each.blob);
  }
  for (const each of made) {
    removeBelow(each.outputs, found);
    for (const one of each.found) found.set(one.input.path, one);
  }
  const trees: Tree[] = [];
  for (const path of modules) {
    const tree = await files.tree(path);
    if (!tree) continue;
    trees.push(tree);
    entries.set(path, { kind: "tree", path, digest: tree.digest });
  }
  entries.set(own, { kind: "directory", path: own === "" ? "." : own });
  const late = new Map<string, Blob>();
  const sum = { files: 0, bytes: 0 };
  for (const tree of trees) count(sum, tree.files, tree.bytes);
  for (const [path, { input, blob }] of found) {
    entries.set(path, input);
    if (!blob) continue;
    if (!blobs.has(blob.digest.hash)) late.set(blob.digest.hash, blob);
    count(sum, 1, blob.digest.size);
  }
  return {
    entries: [...entries.values()],
    blobs: [...blobs.values()],
    late: [...late.values()],
    trees,
    ...sum,
  };
}

function count(sum: { files: number; bytes: number }, files: number, bytes: number): void {
  sum.files += files;
  sum.bytes += bytes;
}

function removeBelow(
  tops: readonly string[],
  paths: { keys(): Iterable<string>; delete(path: string): void },
) {
  const wanted = new Set(tops);
  if (wanted.size === 0) return;
  for (const path of paths.keys())
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1))
      if (wanted.has(path.slice(0, end))) {
        paths.delete(path);
        break;
      }
}

/** What the scripts of a package make, as rtfig.toml says. */
function outputsOf(directory: string, settings: RemoteSettings): string[] {
  if (settings.scripts.length === 0) return [];
  const manifest = readPackageJson(directory) ?? {};
  const packageName = textField(manifest, "name");
  return scriptNames(manifest).flatMap((name) =>
    remoteScript(settings, packageName, name).outputs.map(withoutSlash),
  );
}

async function declaredFiles(globs: readonly string[], directory: string, root: string): Promise<string[]> {
  const found: string[] = [];
  for (const glob of globs) {
    const options = { cwd: directory, dot: true, absolute: true, onlyFiles: true };
    for await (const file of new Bun.Glob(glob).scan(options)) {
      const path = relative(root, file);
      if (path.startsWith("..") || isAbsolute(path))
        throw new UserError(`The input ${oneLine(file)} is outside of the workspace`, "inputs lie in it");
      const names = path.split(sep);
      if (isMeant(glob, names)) found.push(names.join("/"));
    }
  }
  return found;
}

/** Whether somebody had it in mind: each name that is nobody else's affair stands in the glob, as more than a "*". */
function isMeant(glob: string, names: readonly string[]): boolean {
  const own = names.filter(
    (name, at) => name === REPOSITORY || (at === names.length - 1 && CREDENTIALS.test(name)),
  );
  if (own.length === 0) return true;
  const parts = glob.split("/").filter((part) => /[^*?]/.test(part));
  return own.every((name) => parts.some((part) => new Bun.Glob(part).match(name)));
}

// Collects the inputs of a remote task without running it. These are files that git lists in its package and its workspace
// dependencies, their outputs, files of the workspace root, node_modules and declared inputs.
//
// Invariants:
// - Credential files (.env, .npmrc, .netrc, .yarnrc.yml) and .git folders are inputs only if a glob names them explicitly,
//   because CI stores tokens there.
// - Git-ignored files are not inputs, except node_modules and declared outputs of other packages.
// - The task's own outputs are not inputs.
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
  /**
   * Outputs of other remote tasks. The server has them, or they have to be downloaded before they can be uploaded.
   */
  readonly lateBlobs: readonly Blob[];
  readonly trees: readonly Tree[];
  readonly files: number;
  /** Total size of the files. */
  readonly bytes: number;
}

/** Outputs of another remote task, which replace the local files. */
export interface UpstreamOutputs {
  /** The declared outputs, relative to the workspace's root. */
  readonly outputs: readonly string[];
  readonly files: readonly WorkspaceFile[];
}

const ROOT_FILES =
  /^(?:package\.json|bun\.lockb?|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pnpm-workspace\.yaml|yarn\.lock|tsconfig[^/]*\.json|rtfig\.toml)$/;
const CREDENTIALS = /(?:^|\/)(?:\.env(?:\.[^/]*)?|\.npmrc|\.yarnrc\.yml|\.netrc)$/;
const REPOSITORY = ".git";

/** Packages whose files a script of this package reads, including the package itself; absolute paths. */
export function packagesRead(root: string, directory: string): string[] {
  return root === directory ? [directory] : [directory, ...directoriesNeeded(root, directory)];
}

/**
 * @param directory the package's, absolute @param upstream outputs of the task's dependencies, in order @throws
 * UserError
 */
export async function collectInputs(
  files: WorkspaceFiles,
  directory: string,
  script: RemoteScript,
  settings: RemoteSettings,
  upstream: readonly UpstreamOutputs[],
): Promise<ActionInputs> {
  const { root } = files;
  const packages = packagesRead(root, directory);
  const packagePath = files.pathOf(directory);
  const paths = new Set<string>();
  for (const each of packages)
    for (const path of await files.listPackage(each)) if (!CREDENTIALS.test(path)) paths.add(path);
  for (const name of await readdir(root)) if (ROOT_FILES.test(name)) paths.add(name);
  for (const path of await declaredFiles(script.inputs, directory, root)) paths.add(path);
  // The package's own outputs are excluded, because they include outputs of later scripts: a test report would
  // invalidate every build.
  for (const each of packages.slice(1))
    for (const output of declaredOutputsOf(each, settings))
      for (const path of files.listOutputs(posix.join(files.pathOf(each), output))) paths.add(path);
  const modules = [...new Set([root, ...packages])].map((each) =>
    posix.join(files.pathOf(each), "node_modules"),
  );
  const entries = new Map<string, Input>();
  const foundFiles = new Map<string, WorkspaceFile>();
  const blobs = new Map<string, Blob>();
  const dropped = [
    ...modules,
    ...script.outputs.map((output) => posix.join(packagePath, withoutSlash(output))),
  ];
  const replaced = upstream.flatMap(({ outputs }) => outputs);
  removeBelow([...dropped, ...replaced], paths);
  for (const path of paths) {
    const each = await files.find(path);
    if (each) foundFiles.set(path, each);
    if (each?.blob) blobs.set(each.blob.digest.hash, each.blob);
  }
  for (const each of upstream) {
    removeBelow(each.outputs, foundFiles);
    for (const one of each.files) foundFiles.set(one.input.path, one);
  }
  const trees: Tree[] = [];
  for (const path of modules) {
    const tree = await files.tree(path);
    if (!tree) continue;
    trees.push(tree);
    entries.set(path, { kind: "tree", path, digest: tree.digest });
  }
  entries.set(packagePath, { kind: "directory", path: packagePath === "" ? "." : packagePath });
  const lateBlobs = new Map<string, Blob>();
  const sum = { files: 0, bytes: 0 };
  for (const tree of trees) count(sum, tree.files, tree.bytes);
  for (const [path, { input, blob }] of foundFiles) {
    entries.set(path, input);
    if (!blob) continue;
    if (!blobs.has(blob.digest.hash)) lateBlobs.set(blob.digest.hash, blob);
    count(sum, 1, blob.digest.size);
  }
  return {
    entries: [...entries.values()],
    blobs: [...blobs.values()],
    lateBlobs: [...lateBlobs.values()],
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

/** Outputs that rtfig.toml declares for the scripts of a package. */
function declaredOutputsOf(directory: string, settings: RemoteSettings): string[] {
  if (settings.scripts.length === 0 && !settings.tasks) return [];
  const manifest = readPackageJson(directory) ?? {};
  const located = { name: textField(manifest, "name"), directory };
  return scriptNames(manifest).flatMap((name) =>
    remoteScript(settings, located, name).outputs.map(withoutSlash),
  );
}

async function declaredFiles(globs: readonly string[], directory: string, root: string): Promise<string[]> {
  const foundFiles: string[] = [];
  for (const glob of globs) {
    const options = { cwd: directory, dot: true, absolute: true, onlyFiles: true };
    for await (const file of new Bun.Glob(glob).scan(options)) {
      const path = relative(root, file);
      if (path.startsWith("..") || isAbsolute(path))
        throw new UserError(`Input ${oneLine(file)} is outside the workspace`, "move it into the workspace");
      const names = path.split(sep);
      if (isNamedExplicitly(glob, names)) foundFiles.push(names.join("/"));
    }
  }
  return foundFiles;
}

/**
 * Whether the glob names the file explicitly: each credential or .git segment matches a segment that is not only
 * wildcards.
 */
function isNamedExplicitly(glob: string, names: readonly string[]): boolean {
  const packagePath = names.filter(
    (name, at) => name === REPOSITORY || (at === names.length - 1 && CREDENTIALS.test(name)),
  );
  if (packagePath.length === 0) return true;
  const parts = glob.split("/").filter((part) => /[^*?]/.test(part));
  return packagePath.every((name) => parts.some((part) => new Bun.Glob(part).match(name)));
}

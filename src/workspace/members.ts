// Which packages belong to a workspace.
//
// Contract: the root is the nearest directory upward that declares members, in package.json's `workspaces`
// (an array, or `packages` in an object) or in pnpm-workspace.yaml, provided that the package we stand in is
// one of them. Patterns may be negated, may lead outside (`../shared`), and see no difference between upper
// and lower case. Without a declaration every package.json below the current directory counts, node_modules
// apart. A package reached twice through symbolic links is one member. Members come in path order, so that
// everything that follows from them is the same on every machine.
//
// Surprising: the root is a member that only an exact name or path selects (`isRoot`), or a script of the
// root that runs `--filter '*'` would start itself. A member that does not parse is not fatal here: it is
// listed in `broken`, and the caller decides.
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import {
  PackageJsonError,
  parentDirectory,
  readPackageJsonWith,
  textField,
  type PackageJson,
} from "./package-json.ts";
import { compilePattern, type DirectoryEntry, expandPattern, type MemberPattern } from "./member-patterns.ts";
import { WorkspaceError } from "./workspace-error.ts";

export interface Member {
  readonly directory: string;
  /** From the root, with forward slashes; "." for the root itself. */
  readonly path: string;
  /** "" when the package has none: it is then selected by path only. */
  readonly name: string;
  readonly manifest: PackageJson;
  readonly isRoot: boolean;
}

export interface Workspace {
  readonly root: string;
  /** False when there is no declaration and the packages were merely found. */
  readonly isDeclared: boolean;
  readonly members: readonly Member[];
  readonly broken: readonly PackageJsonError[];
}

const readText = (file: string) => readFileSync(file, "utf8");

interface Declaration {
  readonly root: string;
  readonly patterns: readonly string[];
}

/** Throws WorkspaceError for a declaration that cannot be used, PackageJsonError for an unreadable root. */
export function openWorkspace(from: string): Workspace {
  const declaration = findDeclaration(from);
  if (declaration) {
    const workspace = collectMembers(declaration.root, declaration.patterns, true);
    if (belongsTo(workspace, from)) return rejectDuplicates(workspace);
  }
  return collectMembers(realpathSync(from), ["**"], false);
}

function findDeclaration(from: string): Declaration | null {
  for (let directory: string | null = from; directory !== null; directory = parentDirectory(directory)) {
    const manifest = readPackageJsonWith(readText, directory);
    const patterns = (manifest && declaredInManifest(manifest, directory)) ?? declaredForPnpm(directory);
    if (patterns) return { root: realpathSync(directory), patterns };
  }
  return null;
}

function declaredInManifest(manifest: PackageJson, directory: string): string[] | null {
  const { workspaces } = manifest;
  if (workspaces === undefined || workspaces === null) return null;
  const list = Array.isArray(workspaces) ? workspaces : (workspaces as { packages?: unknown }).packages;
  if (list === undefined && typeof workspaces === "object") return null; // only settings, such as catalogs
  return requirePatterns(list, `"workspaces" in ${join(directory, "package.json")}`);
}

function declaredForPnpm(directory: string): string[] | null {
  const file = join(directory, "pnpm-workspace.yaml");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return null;
  }
  let value: unknown;
  try {
    value = Bun.YAML.parse(text);
  } catch (error) {
    throw new WorkspaceError(
      `Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const packages = (value as { packages?: unknown } | null)?.packages;
  return packages === undefined || packages === null
    ? null
    : requirePatterns(packages, `"packages" in ${file}`);
}

function requirePatterns(value: unknown, where: string): string[] {
  if (Array.isArray(value) && value.every((pattern) => typeof pattern === "string")) return value;
  throw new WorkspaceError(
    `Cannot use ${where}: expected a list of path patterns`,
    'Write it as ["packages/*"]',
  );
}

function belongsTo({ members, broken }: Workspace, from: string): boolean {
  const nearest = nearestPackage(realpathSync(from));
  if (nearest === null || members.some(({ directory }) => directory === nearest)) return true;
  return broken.some(({ file }) => parentDirectory(file) === nearest);
}

function nearestPackage(from: string): string | null {
  for (let directory: string | null = from; directory !== null; directory = parentDirectory(directory)) {
    if (isFile(join(directory, "package.json"))) return directory;
  }
  return null;
}

function collectMembers(root: string, patterns: readonly string[], isDeclared: boolean): Workspace {
  const compiled = patterns.map(compilePattern);
  const members = new Map<string, Member>();
  const broken: PackageJsonError[] = [];
  const add = (directory: string): boolean => {
    const path = pathFrom(root, directory);
    if (members.has(path)) return true;
    let manifest: PackageJson | null;
    try {
      manifest = readPackageJsonWith(readText, directory);
    } catch (error) {
      if (!(error instanceof PackageJsonError)) throw error;
      if (!broken.some(({ file }) => file === error.file)) broken.push(error);
      return true;
    }
    if (!manifest) return false;
    const isRoot = isDeclared && path === ".";
    members.set(path, { directory, path, name: textField(manifest, "name"), manifest, isRoot });
    return true;
  };

  const negated = compiled.filter(({ isNegated }) => isNegated);
  add(root);
  for (const pattern of compiled.filter(({ isNegated }) => !isNegated)) {
    let found = false;
    for (const directory of expandPattern(root, pattern, listDirectory)) {
      if (negated.length > 0 && isExcluded(negated, pathFrom(root, directory))) found = true;
      else if (add(directory)) found = true;
    }
    if (!found && pattern.isLiteral) broken.push(missingMember(root, pattern));
  }
  const inOrder = [...members.keys()].sort().map((path) => members.get(path)!);
  return { root, isDeclared, members: inOrder, broken };
}

function missingMember(root: string, pattern: MemberPattern): PackageJsonError {
  return new PackageJsonError(
    join(root, pattern.source, "package.json"),
    0,
    0,
    "the workspace lists it, but it is not there",
  );
}

function isExcluded(patterns: readonly MemberPattern[], path: string): boolean {
  return patterns.some(({ matches }) => matches(path));
}

/** The directories in a directory, real paths; [] when it cannot be listed. */
function listDirectory(directory: string): DirectoryEntry[] {
  const found: DirectoryEntry[] = [];
  let entries: Dirent[];
  try {
    entries = readdirSync(directory, { withFileTypes: true });
  } catch {
    return found;
  }
  const start = directory.endsWith(sep) ? directory : directory + sep;
  for (const entry of entries) {
    const { name } = entry;
    if (entry.isDirectory()) found.push({ name, path: start + name, isLink: false });
    else if (entry.isSymbolicLink() && isDirectory(start + name)) {
      found.push({ name, path: realpathSync(start + name), isLink: true });
    }
  }
  return found;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** With forward slashes; "." for the same directory. */
function pathFrom(root: string, directory: string): string {
  if (directory === root) return ".";
  const isBelow = directory.startsWith(root) && directory[root.length] === sep;
  const path = isBelow ? directory.slice(root.length + 1) : relative(root, directory);
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

function rejectDuplicates(workspace: Workspace): Workspace {
  const byName = new Map<string, Member>();
  for (const member of workspace.members) {
    const other = member.name === "" ? undefined : byName.get(member.name);
    if (other) {
      throw new WorkspaceError(
        `Two packages are named "${member.name}": ${other.path} and ${member.path}`,
        "Rename one of them",
      );
    }
    byName.set(member.name, member);
  }
  return workspace;
}

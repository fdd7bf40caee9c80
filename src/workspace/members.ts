// Finds the workspace root and its member packages.
//
// Invariants:
// - The root is the nearest directory upward that declares members (`workspaces` in package.json, or pnpm-workspace.yaml) and
//   has the current package as a member. Without a declaration, every package below the current directory is a member.
// - Real paths identify members, so links create no duplicates. Members are sorted by path: all machines get the same order.
//
// Non-obvious: only an exact name or path selects the root (`isRoot`), or a root script that runs `--filter '*'` would start
// itself. Unreadable members and unlistable folders are not fatal: `broken` lists them, and the caller decides.
import { directories } from "../../platform/files/directories.ts";
import { files } from "../../platform/files/files.ts";
import {
  explainUnreadable,
  findPackageJson,
  isUndecodable,
  undecodableFolder,
  PackageJsonError,
  parentDirectory,
  parsePlainPackageJson,
  readPackageJson,
  requireDecodable,
  textField,
  type PackageJson,
} from "./package-json.ts";
import { compilePatterns, type MemberPattern, openSearch, startOf } from "./member-patterns.ts";
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";

export interface MemberPackage {
  readonly directory: string;
  /** Path relative to the root, with forward slashes; "." for the root. */
  readonly path: string;
  /** "" for a package without a name, which only its path selects. */
  readonly name: string;
  readonly manifest: PackageJson;
  readonly isRoot: boolean;
}

export interface Workspace {
  readonly root: string;
  /** False if the packages were found without a declaration. */
  readonly isDeclared: boolean;
  readonly members: readonly MemberPackage[];
  readonly broken: readonly PackageJsonError[];
}

interface Declaration {
  readonly root: string;
  readonly patterns: readonly string[];
  /** Description of the declaration in messages. */
  readonly where: string;
}

/** Opens the workspace of a directory. @throws UserError for an invalid declaration, PackageJsonError for an unreadable root */
export function openWorkspace(from: string): Workspace {
  return openDeclared(from) ?? collectMembers(resolveDirectory(from), ["**"], "");
}

/**
 * Opens the declared workspace that has the nearest package as a member. Without one, that package is the only
 * member. Without a package, the workspace is empty.
 * @throws UserError, PackageJsonError
 */
export function openOwnWorkspace(from: string): Workspace {
  const declared = openDeclared(from);
  if (declared) return declared;
  const located = findPackageJson(from);
  const root = resolveDirectory(located?.directory ?? from);
  const members = located ? [aloneIn(root, located.manifest)] : [];
  return { root, isDeclared: false, members, broken: [] };
}

/** Returns undefined if no workspace is declared, or if the nearest package is not a member of it. */
function openDeclared(from: string): Workspace | undefined {
  const declaration = findDeclaration(from);
  if (!declaration) return undefined;
  const workspace = collectMembers(declaration.root, declaration.patterns, declaration.where);
  return belongsTo(workspace, resolveDirectory(from)) ? workspace : undefined;
}

function aloneIn(directory: string, manifest: PackageJson): MemberPackage {
  return { directory, path: ".", name: textField(manifest, "name"), manifest, isRoot: false };
}

/**
 * Returns the root of the declared workspace that has the nearest package as a member, or null.
 * @throws UserError, PackageJsonError
 */
export function findWorkspaceRoot(from: string): string | null {
  const declaration = findDeclaration(from);
  if (!declaration) return null;
  const { root, patterns, where } = declaration;
  const own = findPackageJson(from)?.directory;
  if (own !== undefined && resolveDirectory(own) === root) return root;
  return belongsTo(collectMembers(root, patterns, where), resolveDirectory(from)) ? root : null;
}

/** Returns the real path; the path itself if the directory has been removed since. */
function resolveDirectory(directory: string): string {
  return directories.resolveDirectory(directory) ?? directory;
}

function findDeclaration(from: string): Declaration | null {
  for (let directory: string | null = from; directory !== null; directory = parentDirectory(directory)) {
    const manifest = readPackageJson(directory);
    const declared = (manifest && declaredInManifest(manifest, directory)) ?? declaredForPnpm(directory);
    if (declared) return { root: resolveDirectory(directory), ...declared };
    if (!manifest) requireDecodable(directory);
  }
  return null;
}

type Patterns = Omit<Declaration, "root">;

function declaredInManifest(manifest: PackageJson, directory: string): Patterns | null {
  const { workspaces } = manifest;
  if (workspaces === undefined || workspaces === null) return null;
  const list = Array.isArray(workspaces) ? workspaces : (workspaces as { packages?: unknown }).packages;
  if (list === undefined && typeof workspaces === "object") return null; // only settings, such as catalogs
  return requirePatterns(list, `"workspaces" in ${startOf(directory)}package.json`);
}

function declaredForPnpm(directory: string): Patterns | null {
  const file = `${startOf(directory)}pnpm-workspace.yaml`;
  const content = files.readFile(file, MAX_YAML_SIZE + 1);
  if (content === "ENOENT" || content === "ENOTDIR") return null;
  if (typeof content === "string") throw new UserError(`Cannot read ${file}: ${explainUnreadable(content)}`);
  if (content.length > MAX_YAML_SIZE) throw new UserError(`Cannot read ${file}: it is larger than 1 MiB`);
  const text = new TextDecoder().decode(content);
  const packages = parsePnpmWorkspace(text, file);
  return packages === undefined || packages === null
    ? null
    : requirePatterns(packages, `"packages" in ${file}`);
}

/** Returns the value of `packages`. @param file path for messages @throws UserError */
export function parsePnpmWorkspace(text: string, file: string): unknown {
  try {
    return (Bun.YAML.parse(text) as { packages?: unknown } | null)?.packages;
  } catch (error) {
    const { lineOfSyntaxError } =
      require("./syntax-error-line.ts") as typeof import("./syntax-error-line.ts");
    const { name, message } = error as Error;
    const reason = name === "RangeError" ? "nested too deeply" : message.replace(/^YAML Parse error: /, "");
    throw new UserError(
      `Cannot read ${file}:${lineOfSyntaxError(text, Bun.YAML.parse)}: ${printable(reason)}`,
    );
  }
}

/** Bytes; the file may contain catalogs of thousands of dependencies. */
const MAX_YAML_SIZE = 1024 * 1024;

function requirePatterns(value: unknown, where: string): Patterns {
  if (Array.isArray(value) && value.every((pattern) => typeof pattern === "string"))
    return { patterns: value, where };
  throw new UserError(`Cannot use ${where}: expected a list of path patterns`, 'write it as ["packages/*"]');
}

/** Returns whether the nearest package is a member. */
function belongsTo({ members }: Workspace, from: string): boolean {
  for (let directory: string | null = from; directory !== null; directory = parentDirectory(directory)) {
    if (members.some((member) => member.directory === directory)) return true;
    if (hasPackageJson(directory)) return false;
  }
  return true;
}

function hasPackageJson(directory: string): boolean {
  const start = files.readFile(`${startOf(directory)}package.json`, 1);
  return typeof start !== "string" || !["ENOENT", "ENOTDIR", "EISDIR", "ELOOP"].includes(start);
}

/** @param where description of the declaration; "" without one */
function collectMembers(root: string, patterns: readonly string[], where: string): Workspace {
  const compiled = compilePatterns(patterns, where);
  const search = openSearch(root, where);
  const isDeclared = where !== "";
  const members = new Map<string, MemberPackage>();
  const paths: string[] = [];
  const broken: PackageJsonError[] = [];
  const reader = directories.openReader(root);
  const add = (directory: string): boolean => {
    const below = pathBelow(root, directory);
    const path = below ?? pathFrom(root, directory);
    if (members.has(path)) return true;
    const text = below === null ? "" : reader.readText(`${below}/package.json`);
    const manifest = text === null ? null : (parsePlainPackageJson(text) ?? readLeniently(directory, broken));
    if (!manifest) {
      if (manifest === null && isUndecodable(directory) && holdsPackage(directory))
        addUndecodable(directory, broken);
      return manifest === undefined;
    }
    members.set(path, { directory, path, name: textField(manifest, "name"), manifest, isRoot: path === "." });
    paths.push(path);
    return true;
  };

  /** Returns whether an unlistable folder may contain the match; that folder is reported instead. */
  const isHidden = ({ source }: MemberPattern): boolean =>
    [...search.unlistable.keys()].some(
      (directory) => directory === root || source.startsWith(`${pathFrom(root, directory)}/`),
    );
  const negated = compiled.filter(({ isNegated }) => isNegated);
  add(root);
  for (const pattern of compiled.filter(({ isNegated }) => !isNegated)) {
    let hasMatch = false;
    for (const directory of search.expand(pattern)) {
      if (negated.length > 0 && search.isMatched(negated, pathFrom(root, directory))) hasMatch = true;
      else if (add(directory)) hasMatch = true;
    }
    if (!hasMatch && pattern.isLiteral && !isHidden(pattern)) broken.push(missingMember(root, pattern));
  }
  reader.close();
  for (const [directory, code] of isDeclared ? search.unlistable : []) {
    const isReported = broken.some(({ file }) => parentDirectory(file) === directory);
    if (isReported || search.isMatched(negated, `${pathFrom(root, directory)}/*`)) continue;
    if (code === "ENOENT") addUndecodable(directory, broken);
    else broken.push(new PackageJsonError(directory, 0, 0, explainUnreadable(code), true));
  }
  const sorted: MemberPackage[] = [];
  for (const path of paths.sort()) sorted.push(members.get(path)!);
  // A single package is not the root of others.
  if (!isDeclared && sorted.length === 1) sorted[0] = { ...sorted[0]!, isRoot: false };
  return { root, isDeclared, members: sorted, broken };
}

function missingMember(root: string, pattern: MemberPattern): PackageJsonError {
  return new PackageJsonError(
    process.getBuiltinModule("node:path").join(root, pattern.source, "package.json"),
    0,
    0,
    "the workspace lists it, but it does not exist",
  );
}

/** Returns whether a folder whose name is not UTF-8 contains a package, by the bytes of its name. */
function holdsPackage(directory: string): boolean {
  const { existsSync, readdirSync } = process.getBuiltinModule("node:fs");
  const start = startOf(parentDirectory(directory)!);
  if (isUndecodable(start)) return true; // unknown, so it is reported
  return readdirSync(start, { encoding: "buffer" }).some(
    (name) =>
      start + name.toString() === directory &&
      existsSync(Buffer.concat([Buffer.from(start), name, Buffer.from("/package.json")])),
  );
}

/** Reports a folder once: several folders may decode to the same name. */
function addUndecodable(directory: string, broken: PackageJsonError[]): void {
  if (!broken.some(({ file }) => file === directory)) broken.push(undecodableFolder(directory));
}

/** Reads a package.json with comments; adds an error to `broken` and returns undefined if it is invalid. */
function readLeniently(directory: string, broken: PackageJsonError[]): PackageJson | null | undefined {
  try {
    return readPackageJson(directory);
  } catch (error) {
    if (!(error instanceof PackageJsonError)) throw error;
    if (!broken.some(({ file }) => file === error.file)) broken.push(error);
    return undefined;
  }
}

/** Returns the relative path with forward slashes; "." for the same directory. */
function pathFrom(root: string, directory: string): string {
  return (
    pathBelow(root, directory) ?? withSlashes(process.getBuiltinModule("node:path").relative(root, directory))
  );
}

/** Returns the relative path, or null for a directory outside the root. */
function pathBelow(root: string, directory: string): string | null {
  if (directory === root) return ".";
  const { separator } = directories;
  if (!directory.startsWith(root) || directory[root.length] !== separator) return null;
  const path = directory.slice(root.length + 1);
  return separator === "/" ? path : withSlashes(path);
}

function withSlashes(path: string): string {
  return path.replaceAll(directories.separator, "/"); // no effect on POSIX
}

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
// root that runs `--filter '*'` would start itself. Without a declaration the current directory's package is the root,
// if there are others below. A member that does not parse, and a folder that cannot be
// listed though a declared pattern leads through it, are not fatal here: they are listed in `broken`, and the
// caller decides.
import { directories } from "../../platform/files/directories.ts";
import { files } from "../../platform/files/files.ts";
import {
  explainUnreadable,
  findPackageJson,
  isLost,
  lostFolder,
  PackageJsonError,
  parentDirectory,
  parsePlainPackageJson,
  readPackageJson,
  refuseLost,
  textField,
  type PackageJson,
} from "./package-json.ts";
import { compilePatterns, type MemberPattern, openSearch, startOf } from "./member-patterns.ts";
import { UserError } from "../user-error.ts";
import { printable } from "../printable.ts";

export interface MemberPackage {
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
  readonly members: readonly MemberPackage[];
  readonly broken: readonly PackageJsonError[];
}

interface Declaration {
  readonly root: string;
  readonly patterns: readonly string[];
  /** What holds the patterns, for messages. */
  readonly where: string;
}

/** Throws Failure for a declaration that cannot be used, PackageJsonError for an unreadable root. */
export function openWorkspace(from: string): Workspace {
  const declaration = findDeclaration(from);
  if (declaration) {
    const workspace = collectMembers(declaration.root, declaration.patterns, declaration.where);
    if (belongsTo(workspace, resolveDirectory(from))) return workspace;
  }
  return collectMembers(resolveDirectory(from), ["**"], "");
}

/**
 * The root of the declared workspace that the nearest package is a member of; null where there is none. Throws Failure,
 * PackageJsonError.
 */
export function findWorkspaceRoot(from: string): string | null {
  const declaration = findDeclaration(from);
  if (!declaration) return null;
  const { root, patterns, where } = declaration;
  const own = findPackageJson(from)?.directory;
  if (own !== undefined && resolveDirectory(own) === root) return root;
  return belongsTo(collectMembers(root, patterns, where), resolveDirectory(from)) ? root : null;
}

/** One that we have just been in. */
function resolveDirectory(directory: string): string {
  return directories.resolveDirectory(directory) ?? directory;
}

function findDeclaration(from: string): Declaration | null {
  for (let directory: string | null = from; directory !== null; directory = parentDirectory(directory)) {
    const manifest = readPackageJson(directory);
    const declared = (manifest && declaredInManifest(manifest, directory)) ?? declaredForPnpm(directory);
    if (declared) return { root: resolveDirectory(directory), ...declared };
    if (!manifest) refuseLost(directory);
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
  const content = files.readFile(file, LARGEST_YAML + 1);
  if (content === "ENOENT" || content === "ENOTDIR") return null;
  if (typeof content === "string") throw new UserError(`Cannot read ${file}: ${explainUnreadable(content)}`);
  if (content.length > LARGEST_YAML) throw new UserError(`Cannot read ${file}: it is larger than 1 MiB`);
  const text = new TextDecoder().decode(content);
  const packages = parsePnpmWorkspace(text, file);
  return packages === undefined || packages === null
    ? null
    : requirePatterns(packages, `"packages" in ${file}`);
}

/** What the file says of `packages`. @param file its name, for messages. Throws Failure. */
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

/** Bytes: there may be versions of thousands of dependencies in it. */
const LARGEST_YAML = 1024 * 1024;

function requirePatterns(value: unknown, where: string): Patterns {
  if (Array.isArray(value) && value.every((pattern) => typeof pattern === "string"))
    return { patterns: value, where };
  throw new UserError(`Cannot use ${where}: expected a list of path patterns`, 'write it as ["packages/*"]');
}

/** Whether the nearest package is one of them. */
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

/** @param where the patterns are declared; "" where nothing is */
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
    const manifest =
      text === null ? null : (parsePlainPackageJson(text) ?? readWithDoubts(directory, broken));
    if (!manifest) {
      if (manifest === null && isLost(directory) && holdsPackage(directory)) tellLost(directory, broken);
      return manifest === undefined;
    }
    members.set(path, { directory, path, name: textField(manifest, "name"), manifest, isRoot: path === "." });
    paths.push(path);
    return true;
  };

  /** By a folder that cannot be listed, which is told of instead. */
  const isHidden = ({ source }: MemberPattern): boolean =>
    [...search.unlistable.keys()].some(
      (directory) => directory === root || source.startsWith(`${pathFrom(root, directory)}/`),
    );
  const negated = compiled.filter(({ isNegated }) => isNegated);
  add(root);
  for (const pattern of compiled.filter(({ isNegated }) => !isNegated)) {
    let found = false;
    for (const directory of search.expand(pattern)) {
      if (negated.length > 0 && search.isMatched(negated, pathFrom(root, directory))) found = true;
      else if (add(directory)) found = true;
    }
    if (!found && pattern.isLiteral && !isHidden(pattern)) broken.push(missingMember(root, pattern));
  }
  reader.close();
  for (const [directory, code] of isDeclared ? search.unlistable : []) {
    const isTold = broken.some(({ file }) => parentDirectory(file) === directory);
    if (isTold || search.isMatched(negated, `${pathFrom(root, directory)}/*`)) continue;
    if (code === "ENOENT") tellLost(directory, broken);
    else broken.push(new PackageJsonError(directory, 0, 0, explainUnreadable(code), true));
  }
  const inOrder: MemberPackage[] = [];
  for (const path of paths.sort()) inOrder.push(members.get(path)!);
  // A single package is not the root of others.
  if (!isDeclared && inOrder.length === 1) inOrder[0] = { ...inOrder[0]!, isRoot: false };
  return { root, isDeclared, members: inOrder, broken };
}

function missingMember(root: string, pattern: MemberPattern): PackageJsonError {
  return new PackageJsonError(
    process.getBuiltinModule("node:path").join(root, pattern.source, "package.json"),
    0,
    0,
    "the workspace lists it, but it is not there",
  );
}

/** Of a folder whose name is not UTF-8: found by the bytes of its name. */
function holdsPackage(directory: string): boolean {
  const { existsSync, readdirSync } = process.getBuiltinModule("node:fs");
  const start = startOf(parentDirectory(directory)!);
  if (isLost(start)) return true; // nobody can tell
  return readdirSync(start, { encoding: "buffer" }).some(
    (name) =>
      start + name.toString() === directory &&
      existsSync(Buffer.concat([Buffer.from(start), name, Buffer.from("/package.json")])),
  );
}

/** Several folders may look the same. */
function tellLost(directory: string, broken: PackageJsonError[]): void {
  if (!broken.some(({ file }) => file === directory)) broken.push(lostFolder(directory));
}

/** Finds out what is wrong; undefined when something is. */
function readWithDoubts(directory: string, broken: PackageJsonError[]): PackageJson | null | undefined {
  try {
    return readPackageJson(directory);
  } catch (error) {
    if (!(error instanceof PackageJsonError)) throw error;
    if (!broken.some(({ file }) => file === error.file)) broken.push(error);
    return undefined;
  }
}

/** With forward slashes; "." for the same directory. */
function pathFrom(root: string, directory: string): string {
  return (
    pathBelow(root, directory) ?? withSlashes(process.getBuiltinModule("node:path").relative(root, directory))
  );
}

/** The same, when it is not outside; else null. */
function pathBelow(root: string, directory: string): string | null {
  if (directory === root) return ".";
  const { separator } = directories;
  if (!directory.startsWith(root) || directory[root.length] !== separator) return null;
  const path = directory.slice(root.length + 1);
  return separator === "/" ? path : withSlashes(path);
}

function withSlashes(path: string): string {
  return path.replaceAll(directories.separator, "/"); // changes nothing where it is one
}

// Reads package.json synchronously, without node: modules: every start of a script waits for this, and loading such a module
// would cost more than the read.
//
// Invariants:
// - Comments, trailing commas and a byte order mark are accepted. An invalid file is a PackageJsonError with the position and
//   the expected token. A missing file is null, never an error.
// - The content is untrusted: fields are `unknown` until a function of this module has checked them.
import { files } from "../../platform/files/files.ts";

export type PackageJson = Readonly<Record<string, unknown>>;

export interface LocatedPackage {
  /** Directory of the package.json; symbolic links are not resolved. */
  readonly directory: string;
  readonly manifest: PackageJson;
}

/**
 * An invalid or unreadable package.json, or a folder that may contain some. `line` and `column` count from 1, and are 0
 * without a position.
 */
export class PackageJsonError extends Error {
  override readonly name = "PackageJsonError";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** `file` is a folder whose packages are unknown. */
  readonly isFolder: boolean;
  /** Printed on a separate line. */
  readonly hint: string | undefined;

  constructor(file: string, line: number, column: number, problem: string, isFolder = false, hint?: string) {
    super(
      line === 0 ? `Cannot read ${file}: ${problem}` : `Cannot read ${file}:${line}:${column}: ${problem}`,
    );
    this.file = file;
    this.line = line;
    this.column = column;
    this.isFolder = isFolder;
    this.hint = hint;
  }
}

/** Returns the manifest of a directory, or null if it has none. @throws PackageJsonError */
export function readPackageJson(directory: string): PackageJson | null {
  const file = packageFile(directory);
  const text = readText(file);
  return text === null ? null : parsePackageJson(text, file);
}

function packageFile(directory: string): string {
  return directory.endsWith("/") ? `${directory}package.json` : `${directory}/package.json`;
}

/** Finds the nearest package.json at or above an absolute path. @throws PackageJsonError */
export function findPackageJson(from: string): LocatedPackage | null {
  for (let directory: string | null = from; directory !== null; directory = parentDirectory(directory)) {
    const manifest = readPackageJson(directory);
    if (manifest) return { directory, manifest };
    requireDecodable(directory);
  }
  return null;
}

/** Replaces invalid UTF-8 in decoded names. */
const REPLACEMENT = "\ufffd";

/**
 * Rejects a directory whose path contains a name that is not UTF-8, if it may contain a package. The decoded path does not
 * exist, so an upward search would skip that package and find an unrelated one. Only names with U+FFFD are checked.
 * @throws PackageJsonError
 */
export function requireDecodable(directory: string): void {
  if (isUndecodable(directory) && mayHoldPackage(directory)) throw undecodableFolder(directory);
}

/** Checks ancestors of the working directory by "../", which needs no names. Other directories may contain a package. */
function mayHoldPackage(directory: string): boolean {
  const cwd = process.cwd();
  if (cwd !== directory && !cwd.startsWith(`${directory}/`)) return true;
  const steps = cwd.slice(directory.length).split("/").length - 1;
  return files.readFile(`${"../".repeat(steps)}package.json`, 1) !== "ENOENT";
}

export function isUndecodable(directory: string): boolean {
  return directory.includes(REPLACEMENT) && files.readFile(directory, 0) === "ENOENT";
}

export function undecodableFolder(directory: string): PackageJsonError {
  const hint = "rename the folder: rt needs file names in UTF-8";
  return new PackageJsonError(
    directory,
    0,
    0,
    "its name, or that of a folder above, is not UTF-8",
    true,
    hint,
  );
}

/** @param file path for messages @throws PackageJsonError */
export function parsePackageJson(text: string, file: string): PackageJson {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = parseLeniently(text, file);
  }
  if (isRecord(value)) return value;
  throw new PackageJsonError(file, 1, 1, `expected an object in braces, found ${describeJson(value)}`);
}

/** Loads the lenient parser lazily, because every start of a script would wait for it. */
function parseLeniently(text: string, file: string): unknown {
  const { JsonSyntaxError, parseLenientJson } = require("./jsonc.ts") as typeof import("./jsonc.ts");
  try {
    return parseLenientJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new PackageJsonError(file, error.line, error.column, error.message);
  }
}

/** Parses a package.json without comments; returns undefined for everything else. */
export function parsePlainPackageJson(text: string): PackageJson | undefined {
  if (text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns a string field; "" if it is missing or has another type. */
export function textField(manifest: PackageJson, field: string): string {
  const value = manifest[field];
  return typeof value === "string" ? value : "";
}

/** Returns an object field; an empty object if it is missing or has another type. */
export function recordField(manifest: PackageJson, field: string): Readonly<Record<string, unknown>> {
  const value = manifest[field];
  return isRecord(value) ? value : {};
}

/** Returns the command of a script; null if it is missing, empty or not a string. */
export function scriptOf(manifest: PackageJson, name: string): string | null {
  const command = declaredScript(manifest, name);
  return typeof command === "string" && command !== "" ? command : null;
}

/** Returns whether the script exists but is not a string, which has a separate message. */
export function isMisdeclaredScript(manifest: PackageJson, name: string): boolean {
  const command = declaredScript(manifest, name);
  return command !== undefined && typeof command !== "string";
}

/** Returns the names of all valid scripts, in file order. */
export function scriptNames(manifest: PackageJson): string[] {
  return Object.keys(recordField(manifest, "scripts")).filter((name) => scriptOf(manifest, name) !== null);
}

export interface ScriptStep {
  readonly scriptName: string;
  readonly command: string;
  /** The script itself, not a hook. */
  readonly isMain: boolean;
}

/** Returns the existing steps in execution order. */
export function stepsOf(manifest: PackageJson, name: string): ScriptStep[] {
  const steps: ScriptStep[] = [];
  for (const scriptName of [`pre${name}`, name, `post${name}`]) {
    const command = scriptOf(manifest, scriptName);
    if (command !== null) steps.push({ scriptName, command, isMain: scriptName === name });
  }
  return steps;
}

/** Returns the parent of an absolute path; null for a root. */
export function parentDirectory(path: string): string | null {
  // The common case, ten times faster than the patterns below.
  if (path === "/") return null;
  if (path[0] === "/" && path[path.length - 1] !== "/") return path.slice(0, path.lastIndexOf("/")) || "/";
  const isWindowsPath = /^(?:[A-Za-z]:|\\\\)/.test(path);
  const trimmed = path.length > 1 ? path.replace(isWindowsPath ? /[\\/]+$/ : /\/+$/, "") : path;
  const slash = isWindowsPath
    ? Math.max(trimmed.lastIndexOf("/"), trimmed.lastIndexOf("\\"))
    : trimmed.lastIndexOf("/");
  if (slash < 0 || trimmed === "/") return null;
  if (slash === 0) return "/";
  return isWindowsPath && slash === 2 && trimmed[1] === ":" ? trimmed.slice(0, 3) : trimmed.slice(0, slash);
}

export function declaredScript(manifest: PackageJson, name: string): unknown {
  const scripts = recordField(manifest, "scripts");
  return Object.hasOwn(scripts, name) ? scripts[name] : undefined;
}

const decoder = new TextDecoder(); // removes a byte order mark

function readText(file: string): string | null {
  const content = files.readFile(file);
  if (typeof content !== "string") return decoder.decode(content);
  if (content === "ENOENT" || content === "ENOTDIR") return null;
  throw new PackageJsonError(file, 0, 0, explainUnreadable(content));
}

/** Describes why a file cannot be read. @param code error code of `files.readFile` */
export function explainUnreadable(code: string): string {
  if (code === "ENOENT") return "no such file";
  if (code === "EISDIR") return "it is a directory";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "ELOOP") return "its symbolic links form a loop";
  if (code === "EFBIG") return "it is larger than 64 MiB";
  if (code === "EAGAIN" || code === "ENXIO") return "it is not a regular file";
  return code;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describeJson(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

// Reads package.json: synchronously, with the engine's own calls, because a single `rt run script` waits for
// it (a node: import here would cost more than the whole read).
//
// Contract: what people write is accepted (comments, trailing commas, a byte order mark); what cannot be
// read is a PackageJsonError that says where it stops being JSON and what was expected there. A file that is
// not there is null, never an error. Nothing in the content is trusted: every field is `unknown` until one
// of the functions below has looked at it.
import { files } from "../../platform/files/files.ts";

export type PackageJson = Readonly<Record<string, unknown>>;

export interface LocatedPackage {
  /** The directory that holds the package.json, as it was reached (symlinks are not resolved). */
  readonly directory: string;
  readonly manifest: PackageJson;
}

/**
 * A package.json that is there but cannot be used, or a folder that may hold some. `line` and `column` count from 1; 0 when
 * there is no place to point at.
 */
export class PackageJsonError extends Error {
  override readonly name = "PackageJsonError";
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Nobody can tell which packages are in it. */
  readonly isFolder: boolean;
  /** What to do about it; printed on a line of its own. */
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

/** The manifest of `directory`; null when it has none. Throws PackageJsonError. */
export function readPackageJson(directory: string): PackageJson | null {
  const file = packageFile(directory);
  const text = readText(file);
  return text === null ? null : parsePackageJson(text, file);
}

function packageFile(directory: string): string {
  return directory.endsWith("/") ? `${directory}package.json` : `${directory}/package.json`;
}

/** The nearest package.json at or above the absolute path `from`. Throws PackageJsonError. */
export function findPackageJson(from: string): LocatedPackage | null {
  for (let directory: string | null = from; directory !== null; directory = parentDirectory(directory)) {
    const manifest = readPackageJson(directory);
    if (manifest) return { directory, manifest };
    refuseLost(directory);
  }
  return null;
}

/** What the decoding of names puts in the place of bytes that are not UTF-8. */
const REPLACEMENT = "\ufffd";

/**
 * Where a name on the way to a directory is not UTF-8, the path that rt knows leads nowhere, and a search upwards would pass
 * by the package that is there and come to somebody else's. The system is asked only about names that look so. Throws
 * PackageJsonError.
 */
export function refuseLost(directory: string): void {
  if (isLost(directory) && mayHoldPackage(directory)) throw lostFolder(directory);
}

/** From the working directory there is a way without names to what is above it. */
function mayHoldPackage(directory: string): boolean {
  const cwd = process.cwd();
  if (cwd !== directory && !cwd.startsWith(`${directory}/`)) return true;
  const steps = cwd.slice(directory.length).split("/").length - 1;
  return files.readFile(`${"../".repeat(steps)}package.json`, 1) !== "ENOENT";
}

export function isLost(directory: string): boolean {
  return directory.includes(REPLACEMENT) && files.readFile(directory, 0) === "ENOENT";
}

export function lostFolder(directory: string): PackageJsonError {
  const hint = "rename the folder: rt finds files by names in UTF-8 alone";
  return new PackageJsonError(
    directory,
    0,
    0,
    "its name, or that of a folder above, is not UTF-8",
    true,
    hint,
  );
}

/** `file` only names the text in the error. Throws PackageJsonError. */
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

/** Loaded for those who write comments alone: every start of a script would wait for it. */
function parseLeniently(text: string, file: string): unknown {
  const { JsonSyntaxError, parseLenientJson } = require("./jsonc.ts") as typeof import("./jsonc.ts");
  try {
    return parseLenientJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new PackageJsonError(file, error.line, error.column, error.message);
  }
}

/** The same where any doubt, and what is wrong, can wait: then undefined. */
export function parsePlainPackageJson(text: string): PackageJson | undefined {
  if (text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A field that should be a string; "" when it is absent or something else. */
export function textField(manifest: PackageJson, field: string): string {
  const value = manifest[field];
  return typeof value === "string" ? value : "";
}

/** A field that should be an object; an empty one when it is absent or something else. */
export function recordField(manifest: PackageJson, field: string): Readonly<Record<string, unknown>> {
  const value = manifest[field];
  return isRecord(value) ? value : {};
}

/** The command of a script; null when it is missing, empty or not a string. */
export function scriptOf(manifest: PackageJson, name: string): string | null {
  const command = declaredScript(manifest, name);
  return typeof command === "string" && command !== "" ? command : null;
}

/** Whether the script is there, but is not a string: worth another message than "not found". */
export function isMisdeclaredScript(manifest: PackageJson, name: string): boolean {
  const command = declaredScript(manifest, name);
  return command !== undefined && typeof command !== "string";
}

/** The names of all scripts that can run, in the order of the file. */
export function scriptNames(manifest: PackageJson): string[] {
  return Object.keys(recordField(manifest, "scripts")).filter((name) => scriptOf(manifest, name) !== null);
}

/** One of the commands that a script consists of: itself, and its hooks. */
export interface ScriptStep {
  readonly scriptName: string;
  readonly command: string;
  /** Neither of the hooks. */
  readonly isMain: boolean;
}

/** Those that there are, in the order in which they run. */
export function stepsOf(manifest: PackageJson, name: string): ScriptStep[] {
  const steps: ScriptStep[] = [];
  for (const scriptName of [`pre${name}`, name, `post${name}`]) {
    const command = scriptOf(manifest, scriptName);
    if (command !== null) steps.push({ scriptName, command, isMain: scriptName === name });
  }
  return steps;
}

/** The directory above an absolute path; null above a root. */
export function parentDirectory(path: string): string | null {
  // Most often; a pattern takes ten times as long.
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

function declaredScript(manifest: PackageJson, name: string): unknown {
  const scripts = recordField(manifest, "scripts");
  return Object.hasOwn(scripts, name) ? scripts[name] : undefined;
}

const decoder = new TextDecoder(); // drops a byte order mark

function readText(file: string): string | null {
  const content = files.readFile(file);
  if (typeof content !== "string") return decoder.decode(content);
  if (content === "ENOENT" || content === "ENOTDIR") return null;
  throw new PackageJsonError(file, 0, 0, explainUnreadable(content));
}

/** Why a file cannot be read, in words. @param code what `files.readFile` gave */
export function explainUnreadable(code: string): string {
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a directory";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "ELOOP") return "its symbolic links form a loop";
  if (code === "EFBIG") return "it is larger than 64 MiB";
  if (code === "EAGAIN" || code === "ENXIO") return "it is not a file, and gives nothing";
  return code;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describeJson(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

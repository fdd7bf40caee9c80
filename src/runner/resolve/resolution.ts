// Resolver: finds what a name on the command line refers to.
//
// Invariants (specification, "Script runner command line", rules 4 and 5):
// - Order: scripts, source files, package binaries, system commands (only with `run`). Absolute paths and `./` are always
//   files. Without `run` a file with a source extension comes first.
// - A path to an ELF file or a shell script is a program. A file marked for Node.js is JavaScript and runs in rt. If it is found by
//   name, as a binary or command, it runs with Node.js unless --rt is given.
import { files } from "../../../platform/files/files.ts";
import { forbidReplay } from "../../../platform/files/lookup-recorder.ts";
import { host } from "../../../platform/processes/process.ts";
import { findPackageJson, type LocatedPackage, scriptOf } from "../../workspace/package-json.ts";
import { binaryDirectories } from "./bin-directories.ts";
import { isExplicitPath, type RunTarget } from "./target.ts";
import {
  DATA_EXTENSIONS,
  ENGINE_EXTENSIONS,
  extensionOf,
  SOURCE_EXTENSIONS,
} from "../../source-extensions.ts";

export interface ResolutionRequest {
  readonly name: string;
  readonly cwd: string;
  readonly explicitRun: boolean;
  /** Whether `node` is rt, and files marked for Node.js run in rt. */
  readonly forceRuntime: boolean;
}

export function resolveTarget(request: ResolutionRequest): RunTarget {
  const { name, cwd, explicitRun, forceRuntime } = request;
  if (name === "-") return { kind: "stdin" };
  if (isExplicitPath(name))
    return resolvePath(name, cwd) ?? resolveBackslashes(name, cwd) ?? describeMissing(name, cwd);
  const looksLikeSource = SOURCE_EXTENSIONS.includes(extensionOf(name));
  if (!explicitRun && looksLikeSource) {
    const file = resolveFile(name, cwd);
    if (file) return file;
  }
  const script = findScript(name, cwd);
  if (script) return { kind: "script", name, package: script };
  const file = resolveFile(name, cwd);
  if (file) return file;
  if (name === "node" && forceRuntime) return asNode([]);
  const source = name.includes("/") ? resolvePath(`./${name}`, cwd) : undefined;
  if (source?.kind === "file") return source;
  const binary = findBinary(name, cwd) ?? (explicitRun && findProgram(name, { cwd }));
  if (binary) return (forceRuntime && markedForNode(binary)) || { kind: "program", path: binary, name };
  if (name === "node" && explicitRun) return asNode([]); // none is installed
  // A file of exactly that name comes last, so that data cannot replace a command.
  const named = resolvePath(`./${name}`, cwd);
  return named ?? (looksLikeSource ? describeMissing(name, cwd) : { kind: "missing", name, what: "Script" });
}

/** `.\f.ts` is a path on every system (specification, rule 5). */
function resolveBackslashes(name: string, cwd: string): RunTarget | undefined {
  return /^\.{1,2}\\/.test(name) ? resolvePath(name.replaceAll("\\", "/"), cwd) : undefined;
}

function describeMissing(name: string, cwd: string): RunTarget {
  const path = absolutePath(name, cwd);
  const start = files.readFile(path, 1);
  const why = typeof start === "string" ? PROBLEMS[start] : describeDirectory(path);
  return why ? { kind: "unrunnable", path: name, why } : { kind: "missing", name, what: "Module" };
}

/** The engine finds files by listing directories. */
function describeDirectory(path: string): string | undefined {
  const isListed = files.readFile(path.slice(0, path.lastIndexOf("/") + 1) || ".", 1) !== "EACCES";
  return isListed ? undefined : "the directory that it is in cannot be listed";
}

/** Problems of a file that exists although the engine has not found it. */
const PROBLEMS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a directory without an index file or "main"',
  EACCES: "permission denied",
};

function findScript(name: string, cwd: string): LocatedPackage | undefined {
  const located = findPackageJson(cwd);
  return located && scriptOf(located.manifest, name) !== null ? located : undefined;
}

function resolvePath(name: string, cwd: string): RunTarget | undefined {
  const extension = extensionOf(name);
  if (!SOURCE_EXTENSIONS.includes(extension) && !ENGINE_EXTENSIONS.includes(extension)) {
    const program = recognizeProgram(absolutePath(name, cwd));
    // The path is kept as given, because a #! script receives it.
    if (program) return { kind: "program", path: name[0] === "." ? name : program, name };
  }
  return resolveFile(name, cwd, true);
}

function absolutePath(name: string, cwd: string): string {
  return name[0] !== "." ? name : `${cwd === "/" ? "" : cwd}/${name}`;
}

/** The engine's resolution: extension order, directory index, package main, symlinks. */
function resolveFile(name: string, cwd: string, explicit = false): RunTarget | undefined {
  forbidReplay(); // the engine's lookups are not recorded
  let path: string;
  try {
    path = Bun.resolveSync(isExplicitPath(name) ? name : `./${name}`, cwd);
  } catch {
    return undefined;
  }
  const extension = extensionOf(path);
  if (SOURCE_EXTENSIONS.includes(extension) || ENGINE_EXTENSIONS.includes(extension))
    return { kind: "file", path };
  const data = DATA_EXTENSIONS[extension];
  if (data) {
    const isNamed = explicit || extensionOf(name) === extension;
    return isNamed ? { kind: "unrunnable", path, why: `rt cannot run ${data} files directly` } : undefined;
  }
  if (!explicit) return undefined;
  const problem = describeProblem(path);
  return problem ? { kind: "unrunnable", path, why: problem } : { kind: "file", path };
}

/** The first bytes of a file; undefined if it is missing, empty or unreadable. */
function readStart(path: string): Uint8Array | undefined {
  const start = files.readFile(path, 256);
  return typeof start === "string" || start.length === 0 ? undefined : start;
}

const NATIVE_FORMATS: ReadonlyArray<readonly number[]> = [
  [0x7f, 0x45, 0x4c, 0x46], // ELF
  [0xcf, 0xfa, 0xed, 0xfe], // Mach-O, 64 bits
  [0xca, 0xfe, 0xba, 0xbe], // Mach-O, several architectures
  [0x4d, 0x5a], // MZ
];

function isNative(start: Uint8Array): boolean {
  return NATIVE_FORMATS.some((magic) => magic.every((byte, index) => start[index] === byte));
}

const RUNTIMES = /(?:^|[\s/])(?:rt|bun)(?:\s|$)/;
const NODE = /(?:^|[\s/])node(?:js)?(?:\s|$)/;

/** The #! line of a file. */
function interpreterLine(start: Uint8Array): string | undefined {
  if (start[0] !== 0x23 || start[1] !== 0x21) return undefined;
  return new TextDecoder().decode(start).split("\n")[0];
}

/** The path, if the system can execute the file itself. */
function recognizeProgram(path: string): string | undefined {
  const start = readStart(path);
  if (!start) return undefined;
  const interpreter = interpreterLine(start);
  if (interpreter === undefined && !isNative(start)) return undefined;
  if (interpreter && (RUNTIMES.test(interpreter) || NODE.test(interpreter))) return undefined;
  return findProgram(path, {}) ?? undefined;
}

/** rt, called as `node`. @param words arguments in front of the user's */
function asNode(words: readonly string[]): RunTarget {
  return { kind: "program", path: process.execPath, name: "node", words };
}

/** Node.js by any path, directly or through `env`, with options. Other uses of `env` are left to the system. */
const STARTS_NODE = /^#!\s*(?:\S*\/env\s+(?:-S\s*)?)?(?:\S*\/)?node(?:js)?(?:\s+(\S.*?))?\s*$/;

/** Runs a program marked for Node.js in rt; undefined for other programs. */
function markedForNode(path: string): RunTarget | undefined {
  const start = readStart(path);
  const options = start && STARTS_NODE.exec(interpreterLine(start) ?? "");
  return options ? asNode([...(options[1]?.split(/\s+/) ?? []), path]) : undefined;
}

/** An installed binary that is marked for Node.js, to run in rt. */
export function resolveNodeBinary(name: string, cwd: string): RunTarget | undefined {
  const binary = findBinary(name, cwd);
  return binary === undefined ? undefined : markedForNode(binary);
}

/** Why a file is not source code; undefined if it may be. */
function describeProblem(path: string): string | undefined {
  const start = readStart(path);
  if (!start) return undefined;
  const interpreter = interpreterLine(start);
  const isForeign = interpreter !== undefined && !RUNTIMES.test(interpreter) && !NODE.test(interpreter);
  if (isForeign || isNative(start)) return "it is a program, but not marked executable (chmod +x)";
  return start.includes(0) ? "it is a binary file, not source code" : undefined;
}

/** Linux' limit, the greatest of all systems; the engine throws above it. */
const MAX_PATH_LENGTH = 4095;

function findProgram(name: string, where: Bun.WhichOptions): string | null {
  if (name.length > MAX_PATH_LENGTH) return null;
  forbidReplay();
  return Bun.which(name, { PATH: host.originalVariable("PATH") ?? "", ...where });
}

/** An executable in the nearest `node_modules/.bin`. */
export function findBinary(name: string, cwd: string): string | undefined {
  if (name.includes("/")) return undefined;
  for (const directory of binaryDirectories(cwd)) {
    const path = findProgram(name, { PATH: directory });
    if (path) return path;
  }
  return undefined;
}

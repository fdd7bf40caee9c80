// Whether a source file can run inside this process, or needs the engine's own start.
//
// In this process it starts in half the time, but some things are decided before our code runs, so for them
// the engine must start anew: decorator settings of tsconfig.json (only the working directory's file counts,
// with what it extends), packages to be fetched on the fly when there is no node_modules, pages and
// WebAssembly modules. The checks read as little as possible: two small files, looked through as text.
import { files } from "../../platform/files.ts";
import { parentDirectory } from "../workspace/package-json.ts";
import { ENGINE_EXTENSIONS, extensionOf } from "./target.ts";

/** The reason to start the engine anew, for the plan's printout; undefined when there is none. */
export function engineReason(path: string, cwd: string): string | undefined {
  const extension = extensionOf(path);
  if (ENGINE_EXTENSIONS.includes(extension)) return `a ${extension} entry point`;
  if (changesDecorators(cwd)) return "decorator settings in tsconfig.json";
  if (needsPackages(path)) return "packages are imported and there is no node_modules";
  return undefined;
}

const decoder = new TextDecoder();

function readText(path: string): string | undefined {
  const content = files.readFile(path);
  return typeof content === "string" ? undefined : decoder.decode(content);
}

const DECORATOR_SETTINGS = /"(?:experimentalDecorators|emitDecoratorMetadata|useDefineForClassFields)"/;

/** A file that extends another is given to the engine when any file of the chain names a setting. */
function changesDecorators(cwd: string): boolean {
  let file = `${cwd}/tsconfig.json`;
  let directory = cwd;
  for (let depth = 0; depth < 16; depth += 1) {
    const text = readText(file);
    if (text === undefined) return false;
    if (DECORATOR_SETTINGS.test(text)) return true;
    const extended = /"extends"\s*:\s*(\[|"([^"]+)")/.exec(text);
    if (!extended) return false;
    if (extended[1] === "[") return true; // several parents: let the engine sort them out
    const next = resolveTsconfig(extended[2]!, directory);
    if (!next) return false;
    file = next;
    directory = parentDirectory(next) ?? "/";
  }
  return true;
}

function resolveTsconfig(specifier: string, from: string): string | undefined {
  for (const candidate of [specifier, `${specifier}.json`, `${specifier}/tsconfig.json`]) {
    try {
      return Bun.resolveSync(candidate, from);
    } catch {}
  }
  return undefined;
}

const MAY_IMPORT = /\b(?:import|require|from)\b/;

function needsPackages(path: string): boolean {
  if (hasNodeModules(path)) return false;
  const text = readText(path);
  if (text === undefined || !MAY_IMPORT.test(text)) return false;
  try {
    const imports = new Bun.Transpiler({ loader: "tsx" }).scanImports(text);
    return imports.some(({ path: specifier }) => isPackage(specifier) && !resolves(specifier, path));
  } catch {
    return false; // a syntax error is reported where the file is run
  }
}

function hasNodeModules(path: string): boolean {
  for (let directory = parentDirectory(path); directory !== null; directory = parentDirectory(directory)) {
    if (files.readFile(`${directory}/node_modules`, 1) === "EISDIR") return true;
  }
  return false;
}

function isPackage(specifier: string): boolean {
  return !/^(?:[./#]|[a-z-]+:|rt$)/.test(specifier);
}

/** Built-in modules, tsconfig paths and the package's own name resolve without node_modules. */
function resolves(specifier: string, from: string): boolean {
  try {
    Bun.resolveSync(specifier, from);
    return true;
  } catch {
    return false;
  }
}

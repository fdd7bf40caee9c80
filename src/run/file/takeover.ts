// What the engine can do for a program only where it was started as itself, and rt learns of when the program fails
// to load: then the engine takes over.
//
// - Packages that are imported where there is no node_modules are fetched while the program runs (specification,
//   `--install`).
// - A file that is imported, whose extension means nothing to the engine, becomes its path. In this process such a file
//   is read as TypeScript, but for the extensions that the build has told the engine of.
//
// A line that has run must not run twice, so it has to be certain that nothing of the program has run yet:
// - ECMAScript modules are linked before the first one is evaluated. What is wrong with a module reachable through
//   import declarations alone stopped the program before its start. A declaration of TypeScript whose names are not
//   used, or as types alone, is none.
// - A CommonJS module has run up to its `require`. Only declarations that require something, directives and
//   comments may stand before it.
// - CommonJS modules that either of them leads to run as they are read. The engine's cache has what has run.
import { files } from "../../../platform/files.ts";
import { parentDirectory } from "../../workspace/package-json.ts";
import { extensionOf } from "../target/target.ts";

/** Whether `error` came from loading `main` before any of its code ran, for want of what the engine can do. */
export function canTakeOver(error: unknown, main: string): boolean {
  if (hasRun()) return false;
  const misread = misreadFile(error);
  if (misread !== undefined && modulesLinkedFrom(main).has(misread)) return true;
  if (!(error instanceof ResolveMessage)) return false;
  const { specifier, referrer } = error;
  if (!isPackage(specifier) || hasNodeModules(main)) return false;
  const declared = modulesLinkedFrom(main).get(referrer);
  return (
    (declared !== undefined && (declared.includes(specifier) || isForJsx(specifier, referrer))) ||
    isRequiredFirst(referrer, main, specifier)
  );
}

/** Data, and rt's own modules. */
const RUNS_NOTHING = /\.(?:jsonc?|json5|toml|ya?ml)$|^(?:\/\$bunfs|B:.~BUN)[\\/]/;

/** Whether any other module than the main one has. */
function hasRun(): boolean {
  const { _cache } = process.getBuiltinModule("node:module") as unknown as { _cache: object };
  return Object.keys(_cache).some((path) => !RUNS_NOTHING.test(path));
}

/** Declared by no one: the engine adds it to a module with JSX. */
function isForJsx(specifier: string, path: string): boolean {
  return /\/jsx-(?:dev-)?runtime$/.test(specifier) && !readText(path)?.includes(specifier);
}

function isPackage(specifier: string): boolean {
  return !/^(?:[./#]|[a-z-]+:)/.test(specifier);
}

function hasNodeModules(path: string): boolean {
  for (let directory = parentDirectory(path); directory !== null; directory = parentDirectory(directory)) {
    if (files.readFile(`${directory}/node_modules`, 1) === "EISDIR") return true;
  }
  return false;
}

/** What the engine has a reader for. */
const READ_EXTENSION = /^\.(?:[cm]?[jt]s|[jt]sx|jsonc?|json5|toml|ya?ml|txt|text|md|css|html|wasm|node|sh|)$/;

/** The file of another kind that was read as TypeScript: what stood in it made no sense, or exported nothing. */
function misreadFile(error: unknown): string | undefined {
  try {
    const file = fileOf(error instanceof AggregateError ? error.errors[0] : error);
    return file !== undefined && !READ_EXTENSION.test(extensionOf(file)) ? file : undefined;
  } catch {
    return undefined; // A program's own, with other things in the place of `errors` or `message`.
  }
}

function fileOf(error: unknown): string | undefined {
  if (error instanceof BuildMessage) return error.position?.file;
  if (error instanceof ResolveMessage) return error.referrer;
  if (!(error instanceof SyntaxError)) return undefined;
  return /^Missing '.*' export in module '(.*)'\.$/.exec(error.message)?.[1];
}

function readText(path: string): string | undefined {
  const content = files.readFile(path);
  return typeof content === "string" ? undefined : new TextDecoder().decode(content);
}

/** The modules that import declarations lead to, each with what it declares to import. */
function modulesLinkedFrom(main: string): ReadonlyMap<string, readonly string[]> {
  const ofTypeScript = new Bun.Transpiler({ loader: "tsx", trimUnusedImports: true });
  const ofJavaScript = new Bun.Transpiler({ loader: "tsx" });
  const modules = new Map<string, readonly string[]>();
  const open = [main];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (modules.has(path)) continue;
    const scanner = /\.[cm]?jsx?$/.test(path) ? ofJavaScript : ofTypeScript;
    const declarations = importDeclarations(scanner, path);
    modules.set(path, declarations);
    for (const specifier of declarations) {
      try {
        open.push(Bun.resolveSync(specifier, parentDirectory(path) ?? "/"));
      } catch {}
    }
  }
  return modules;
}

function importDeclarations(scanner: Bun.Transpiler, path: string): string[] {
  try {
    const imports = scanner.scanImports(readText(path) ?? "");
    return imports.filter(({ kind }) => kind === "import-statement").map((each) => each.path);
  } catch {
    return [];
  }
}

const HARMLESS =
  /^\s*(?:(?:const|let|var)\s+[\w$\s{},:]+=\s*require\((["'])[^"']+\1\)[\w$.]*\s*;?|["']use strict["'];?|\/\/.*)?\s*$/;

function isRequiredFirst(referrer: string, main: string, specifier: string): boolean {
  if (referrer !== main) return false;
  const lines = (readText(main) ?? "").replace(/^#!.*/, "").split("\n");
  const isRequired = (line: string) =>
    [`"`, `'`].some((mark) => line.includes(`require(${mark}${specifier}${mark})`));
  const place = lines.findIndex((line) => !/^\s*\/\//.test(line) && isRequired(line));
  return place >= 0 && lines.slice(0, place + 1).every((line) => HARMLESS.test(line));
}

// What the engine can do for a program only where it was started as itself, and rt learns of when the program fails
// to load: then the engine takes over.
//
// - The package that JSX needs, and no one imports, is fetched where there is no node_modules (specification, `--install`).
//   Those that are imported are found before the start (missing-packages.ts).
// - A file that is imported, whose extension means nothing to the engine, becomes its path. In this process such a file
//   is read as TypeScript, but for the extensions that the build has told the engine of.
//
// A line that has run must not run twice, so it has to be certain that nothing of the program has run yet:
// - ECMAScript modules are linked before the first one is evaluated. What is wrong with a module reachable through
//   import declarations alone stopped the program before its start. A declaration of TypeScript whose names are not
//   used, or as types alone, is none.
// - CommonJS modules that these lead to run as they are read. The engine's cache has what has run.
import { files } from "../../../platform/files/files.ts";
import { parentDirectory } from "../../workspace/package-json.ts";
import { extensionOf } from "../../source-extensions.ts";
import { hasNodeModules } from "./bare-imports.ts";

/** Whether `error` came from loading `main` before any of its code ran, for want of what the engine can do. */
export function canFallBackToEngine(error: unknown, main: string): boolean {
  if (hasRun()) return false;
  const place = misreadFile(error) ?? (hasNodeModules(main) ? undefined : placeOfJsx(error));
  return place !== undefined && modulesLinkedFrom(main).has(place);
}

/** Data, and rt's own modules. */
const RUNS_NOTHING = /\.(?:jsonc?|json5|toml|ya?ml)$|^(?:\/\$bunfs|B:.~BUN)[\\/]/;

/** Whether any other module than the main one has. */
function hasRun(): boolean {
  const { _cache } = process.getBuiltinModule("node:module") as unknown as { _cache: object };
  return Object.keys(_cache).some((path) => !RUNS_NOTHING.test(path));
}

/** The module with JSX whose package is not there: no module names it, the engine adds it. */
function placeOfJsx(error: unknown): string | undefined {
  if (!(error instanceof ResolveMessage)) return undefined;
  return /^[^./].*\/jsx-(?:dev-)?runtime$/.test(error.specifier) ? error.referrer : undefined;
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

/** The modules that import declarations lead to. */
function modulesLinkedFrom(main: string): ReadonlySet<string> {
  const ofTypeScript = new Bun.Transpiler({ loader: "tsx", trimUnusedImports: true });
  const ofJavaScript = new Bun.Transpiler({ loader: "tsx" });
  const modules = new Set<string>();
  const open = [main];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (modules.has(path)) continue;
    const scanner = /\.[cm]?jsx?$/.test(path) ? ofJavaScript : ofTypeScript;
    modules.add(path);
    for (const specifier of importDeclarations(scanner, path)) {
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

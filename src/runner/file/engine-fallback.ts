// Decides whether the engine runs a program after it failed to load in this process.
//
// - A missing JSX package is fetched by the engine if there is no node_modules (`--install`). Imported packages are checked
//   before the start (missing-packages.ts).
// - An imported file with an unknown extension becomes a path in the engine. In this process it is parsed as TypeScript.
//
// Invariants: no line runs twice, so the engine runs the program only if no code has run.
// - ECMAScript modules are linked before the first is evaluated, so an error in a static import precedes all code. Unused
//   TypeScript imports and type imports do not count.
// - CommonJS modules run while they are loaded; the engine's module cache shows which have run.
import { files } from "../../../platform/files/files.ts";
import { parentDirectory } from "../../workspace/package-json.ts";
import { extensionOf } from "../../source-extensions.ts";
import { hasNodeModules } from "./bare-imports.ts";

/** Whether `error` came from loading `main` before any code ran, and the engine could load it. */
export function canFallBackToEngine(error: unknown, main: string): boolean {
  if (hasRun()) return false;
  const place = misreadFile(error) ?? (hasNodeModules(main) ? undefined : placeOfJsx(error));
  return place !== undefined && modulesLinkedFrom(main).has(place);
}

/** Data files and rt's own modules. */
const RUNS_NOTHING = /\.(?:jsonc?|json5|toml|ya?ml)$|^(?:\/\$bunfs|B:.~BUN)[\\/]/;

/** Whether another module than the main one has run. */
function hasRun(): boolean {
  const { _cache } = process.getBuiltinModule("node:module") as unknown as { _cache: object };
  return Object.keys(_cache).some((path) => !RUNS_NOTHING.test(path));
}

/** The module with JSX whose runtime package is missing. The engine adds that import implicitly. */
function placeOfJsx(error: unknown): string | undefined {
  if (!(error instanceof ResolveMessage)) return undefined;
  return /^[^./].*\/jsx-(?:dev-)?runtime$/.test(error.specifier) ? error.referrer : undefined;
}

/** Extensions that the engine has a loader for. */
const READ_EXTENSION = /^\.(?:[cm]?[jt]s|[jt]sx|jsonc?|json5|toml|ya?ml|txt|text|md|css|html|wasm|node|sh|)$/;

/** A file with an unknown extension that was parsed as TypeScript. */
function misreadFile(error: unknown): string | undefined {
  try {
    const file = fileOf(error instanceof AggregateError ? error.errors[0] : error);
    return file !== undefined && !READ_EXTENSION.test(extensionOf(file)) ? file : undefined;
  } catch {
    return undefined; // an error of the program, with other values in `errors` or `message`
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

/** The modules reachable through static imports. */
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

// Packages that a program imports where there is no node_modules: the engine can fetch them while it runs, but
// only when it was started as itself.
//
// Contract (specification, `--install`): by default packages are installed on the fly when there is no
// node_modules. rt learns that one is missing when the program fails to load, so before the engine takes
// over it must be certain that nothing of the program has run yet: a line that has run must not run twice.
//
// - ECMAScript modules are linked before the first one is evaluated. A package that is missing in a module
//   reachable through import declarations alone stopped the program before its start.
// - A CommonJS module has run up to its `require`. Only declarations that require something, directives and
//   comments may stand before it.
import { files } from "../../platform/files.ts";
import { parentDirectory } from "../workspace/package-json.ts";

/** Whether `error` came from loading `main` before any of its code ran, for want of a package. */
export function canInstall(error: unknown, main: string): boolean {
  const { name, specifier, referrer } = error as { name?: string; specifier?: string; referrer?: string };
  if (name !== "ResolveMessage" || specifier === undefined || !isPackage(specifier)) return false;
  if (hasNodeModules(main)) return false;
  return (
    referrer !== undefined && (isLinkedFrom(main, referrer) || isRequiredFirst(referrer, main, specifier))
  );
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

function readText(path: string): string | undefined {
  const content = files.readFile(path);
  return typeof content === "string" ? undefined : new TextDecoder().decode(content);
}

/** Whether import declarations lead from one module to the other. */
function isLinkedFrom(main: string, wanted: string): boolean {
  const scanner = new Bun.Transpiler({ loader: "tsx" });
  const open = [main];
  const seen = new Set<string>();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const declarations = importDeclarations(scanner, path);
    if (path === wanted) return declarations.length > 0;
    for (const specifier of declarations) {
      if (isPackage(specifier)) continue;
      try {
        open.push(Bun.resolveSync(specifier, parentDirectory(path) ?? "/"));
      } catch {}
    }
  }
  return false;
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
  const place = lines.findIndex((line) => line.includes("require") && line.includes(specifier));
  return place >= 0 && lines.slice(0, place + 1).every((line) => HARMLESS.test(line));
}

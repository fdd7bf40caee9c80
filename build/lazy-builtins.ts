// Asks the engine for its own modules ("node:fs" and the like) when a chunk is run, not by an import declaration.
//
// With bytecode, the toolchain compiles each built-in module that it sees imported, and all that this one could ever
// need, into the program: 1.3 MB for node:fs alone, most of which no program of ours runs. The engine carries these
// modules anyway. It is a choice of size over time: left out, a program that imports node:fs itself starts 0.6 ms later
// than it would with them (docs/releasing.md has the figures), and rt adds 1.4 MB to the engine instead of 2.7.
//
// The modules' order of evaluation stays: an import is evaluated before the code that follows it either way.
import { builtinModules } from "node:module";
import type { BunPlugin } from "bun";

const NAMES = new Set(builtinModules.filter((name) => !name.startsWith("bun")));

function isBuiltin(specifier: string): boolean {
  return NAMES.has(specifier.replace(/^node:/, ""));
}

const IMPORT = /^import\s+(\{[^}]*\}|\*\s*as\s+\w+|\w+)\s+from\s*["']([\w:/]+)["'];?/gm;

/** Not the `import("node:fs")` of a type, which stands after `typeof` or in front of a name. */
const CALL = /(?<![.\w]|\btypeof\s)\b(import|require)\(\s*["']([\w:/]+)["']\s*\)(?!\.[A-Z])/g;

/** What was imported, as the left side of a declaration. */
function bindingOf(imported: string): string {
  if (!imported.startsWith("{")) return imported.replace(/^\*\s*as\s+/, "");
  return imported.replaceAll(/\btype\s+\w+\s*,?/g, "").replaceAll(/\s+as\s+/g, ": ");
}

export function withoutBuiltinImports(source: string): string {
  return source
    .replace(IMPORT, (all, imported: string, name: string) =>
      isBuiltin(name) ? `const ${bindingOf(imported)} = import.meta.require("${name}");` : all,
    )
    .replace(CALL, (all, how: string, name: string) => {
      if (!isBuiltin(name)) return all;
      const asked = `import.meta.require("${name}")`;
      return how === "import" ? `Promise.resolve(${asked})` : asked;
    });
}

export const lateBuiltins: BunPlugin = {
  name: "rt-late-builtins",
  setup(build) {
    build.onLoad({ filter: /\.(?:ts|js|cjs|mjs)$/, namespace: "file" }, async ({ path }) => {
      const contents = withoutBuiltinImports(await Bun.file(path).text());
      return { contents, loader: path.endsWith(".ts") ? "ts" : "js" };
    });
  },
};

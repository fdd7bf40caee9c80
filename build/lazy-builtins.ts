// Replaces imports of built-in modules ("node:fs") by a lookup when the chunk runs.
//
// Non-obvious:
// - With bytecode, the bundler compiles each imported built-in module and its possible dependencies into the program: 1.3 MB for
//   node:fs. The engine contains these modules anyway. Without them rt adds 1.4 MB instead of 2.7. But a user program that
//   imports node:fs starts 0.6 ms later (see docs/releasing.md).
// - The evaluation order does not change.
import { builtinModules } from "node:module";
import type { BunPlugin } from "bun";

const NAMES = new Set(builtinModules.filter((name) => !name.startsWith("bun")));

function isBuiltin(specifier: string): boolean {
  return NAMES.has(specifier.replace(/^node:/, ""));
}

const IMPORT = /^import\s+(\{[^}]*\}|\*\s*as\s+\w+|\w+)\s+from\s*["']([\w:/]+)["'];?/gm;

/** Excludes the `import("node:fs")` of a type, after `typeof` or before a name. */
const CALL = /(?<![.\w]|\btypeof\s)\b(import|require)\(\s*["']([\w:/]+)["']\s*\)(?!\.[A-Z])/g;

/** Returns the import clause as the left side of a declaration. */
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
      const lookup = `import.meta.require("${name}")`;
      return how === "import" ? `Promise.resolve(${lookup})` : lookup;
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

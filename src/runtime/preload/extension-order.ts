// Implements --extension-order for `import` (see option-effects.ts): appends the preferred extension to import specifiers.
//
// Non-obvious:
// - The option changes the engine's order for require() only. Plugins are not called for a specifier without an extension, so
//   the text of the importing module is rewritten.
// - The engine treats every text from a plugin as an ES module, and a plugin cannot decline. Hence the affected ES modules are
//   determined first, by walking the imports from the entry point.
const { getBuiltinModule } = process;

const SOURCE = /\.[cm]?[jt]sx?$/;
const IMPORTED = /(\b(?:from|import)\s*\(?\s*)(["'])(\.{0,2}\/[^"'\n]*|\.{1,2})\2/g;
const DECLARED = /(?:^|;)\s*(?:import\b(?!\s*\()|export\b)/m;
const COMMON_JS = /\b(?:module|exports|require)\b/;

export function orderExtensions(order: readonly string[], main: string): void {
  const changed = completeImports(order, main);
  if (changed.size === 0) return;
  const paths = Array.from(changed.keys(), (path) => path.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
  Bun.plugin({
    name: "rt extension order",
    setup(build) {
      build.onLoad({ filter: new RegExp(`^(?:${paths.join("|")})$`) }, ({ path, loader }) => ({
        contents: changed.get(path) ?? "",
        loader,
      }));
    },
  });
}

/** Returns the new text of each ES module in which the engine would resolve an import against the order. */
function completeImports(order: readonly string[], main: string): Map<string, string> {
  const { resolve: join, dirname } = getBuiltinModule("node:path");
  const changed = new Map<string, string>();
  const visited = new Set<string>();
  const queue = [main];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const from = path;
    if (visited.has(from) || !SOURCE.test(from)) continue;
    visited.add(from);
    const text = readText(from);
    const completed = text.replace(IMPORTED, (all, before: string, mark: string, name: string) => {
      const base = join(dirname(from), name);
      const suffix = preferredSuffix(base, name, order);
      queue.push(base + suffix);
      const isRight = suffix === "" || resolve(base + suffix, from) === resolve(name, from);
      return isRight ? all : `${before}${mark}${name}${suffix}${mark}`;
    });
    const isCommonJs = /\.c[jt]s$/.test(from) || (!DECLARED.test(text) && COMMON_JS.test(text));
    if (completed !== text && !isCommonJs) changed.set(from, completed);
  }
  return changed;
}

function readText(path: string): string {
  try {
    return getBuiltinModule("node:fs").readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function resolve(name: string, importer: string): string | undefined {
  try {
    return Bun.resolveSync(name, getBuiltinModule("node:path").dirname(importer));
  } catch {
    return undefined;
  }
}

/** Returns the suffix that selects the first file in the order; "" if the specifier needs none. */
function preferredSuffix(base: string, name: string, order: readonly string[]): string {
  const { existsSync, statSync } = getBuiltinModule("node:fs");
  const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  if (isFile(base)) return "";
  for (const extension of order) if (isFile(base + extension)) return extension;
  if (existsSync(`${base}/package.json`)) return "";
  const index = order.find((extension) => isFile(`${base}/index${extension}`));
  return index === undefined ? "" : `${name.endsWith("/") ? "" : "/"}index${index}`;
}

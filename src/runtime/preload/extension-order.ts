// --extension-order for `import`: see option-effects.ts. The engine knows one order for require(), which the option changes,
// and another for import, which nothing does; its plugins are not asked about a name without an extension.
//
// So in the texts of the program's own modules such names are completed. The engine would take every text that a plugin
// gives it for an ECMAScript module, and a plugin cannot refuse; so which modules these are is found out before.
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

/** The modules that the engine would import others into than the order says, with what has to be their text. */
function completeImports(order: readonly string[], main: string): Map<string, string> {
  const { resolve, dirname } = getBuiltinModule("node:path");
  const changed = new Map<string, string>();
  const seen = new Set<string>();
  const open = [main];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const from = path;
    if (seen.has(from) || !SOURCE.test(from)) continue;
    seen.add(from);
    const text = readText(from);
    const completed = text.replace(IMPORTED, (all, before: string, mark: string, name: string) => {
      const base = resolve(dirname(from), name);
      const behind = preferred(base, name, order);
      open.push(base + behind);
      const isRight = behind === "" || resolved(base + behind, from) === resolved(name, from);
      return isRight ? all : `${before}${mark}${name}${behind}${mark}`;
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

function resolved(name: string, importer: string): string | undefined {
  try {
    return Bun.resolveSync(name, getBuiltinModule("node:path").dirname(importer));
  } catch {
    return undefined;
  }
}

/** What has to stand behind a name for the file that is first in the order; "" where it is right as it is. */
function preferred(base: string, name: string, order: readonly string[]): string {
  const { existsSync, statSync } = getBuiltinModule("node:fs");
  const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  if (isFile(base)) return "";
  for (const extension of order) if (isFile(base + extension)) return extension;
  if (existsSync(`${base}/package.json`)) return "";
  const index = order.find((extension) => isFile(`${base}/index${extension}`));
  return index === undefined ? "" : `${name.endsWith("/") ? "" : "/"}index${index}`;
}

// Compiles the globs of a rule, and matches tool caches, which are never inputs or outputs.
import { temporaryDirectory } from "../../../platform/files/temporary-directory.ts";
import { withSlashes } from "../relocation/stored-path.ts";

/**
 * Tool caches in node_modules: their content changes the duration of a tool, not its result. docs/reference/cache.md lists
 * all ignored paths.
 */
export const TOOL_CACHES: readonly string[] = [
  ...[".cache", ".vite", ".vite-temp"],
  // Vitest 5, and earlier versions.
  ...[".vitest-cache", ".experimental-vitest-cache"],
  // pnpm's records of an installation, with its time. Vite reads the first one to detect changed packages.
  ...[".modules.yaml", ".pnpm-workspace-state-v1.json"],
];

const USER = process.getuid?.() ?? 0;

/** Tool caches in the temporary directory: Node.js (for tsc, eslint, Vite), jiti (eslint.config.ts), Jest, tsx, and older tools. */
const TEMPORARY_CACHES: readonly string[] = [
  ...["node-compile-cache", "jiti", `jest_${USER.toString(36)}`, `tsx-${USER}`, `v8-compile-cache-${USER}`],
  // Private directories of a nested rt; their content is named after its hash.
  ...["rt-links-*", "rt-files-*"],
];

/** Random token with which Vitest authenticates its own pages; in the user's data directory. */
const TOKEN = "vitest/.vitest-secret-token";

/** Files that each `npm run` and `npx` writes to npm's cache directory, `~/.npm`. */
const NPM_FILES: readonly string[] = ["_logs", "_update-notifier-last-checked"];

const TEMPORARY: readonly string[] = ["/tmp", "/var/tmp", "/dev/shm", temporaryDirectory()];

export type Matcher = (path: string) => boolean;

/**
 * Compiles globs relative to `directory`. `dist` includes everything below it; `!` excludes again. A wildcard above
 * the root does not match the project. A wildcard beside the directory does not match the directory. So `/home/me/*`
 * does not ignore all inputs.
 *
 * @param root root of the project
 */
export function matcher(globs: readonly string[], directory: string, root = directory): Matcher {
  const [from, project] = [withSlashes(directory), withSlashes(root)];
  const patterns = globs.map((glob) => {
    const isNot = glob.startsWith("!");
    const absolute = placeGlob(isNot ? glob.slice(1) : glob, directory);
    const isMeant = meaningOf(globOf(absolute));
    const spared = isNot ? undefined : sparedBy(absolute, from, project);
    return {
      isNot,
      isMeant: spared === undefined ? isMeant : (path: string) => isMeant(path) && !isOn(path, spared),
    };
  });
  if (patterns.length === 0) return () => false;
  return (given) => {
    const path = withSlashes(given);
    let isMatch = false;
    for (const { isNot, isMeant } of patterns) if (isMeant(path)) isMatch = !isNot;
    return isMatch;
  };
}

function meaningOf(absolute: string): Matcher {
  const all = absolute.endsWith("/**") ? [absolute, absolute.slice(0, -3)] : [absolute, `${absolute}/**`];
  const globs = all.map((each) => new Bun.Glob(each));
  return (path) => globs.some((glob) => glob.match(path));
}

/** An absolute glob as path segments; `directory` is literal, `pattern` may have wildcards. */
interface AbsoluteGlob {
  readonly directory: readonly string[];
  readonly pattern: readonly string[];
}

function placeGlob(glob: string, directory: string): AbsoluteGlob {
  const { isAbsolute, resolve } = process.getBuiltinModule("node:path"); // lazy: a run without rules needs no paths
  if (isAbsolute(glob)) return { directory: [], pattern: withSlashes(resolve(directory, glob)).split("/") };
  const base = withSlashes(resolve(directory)).replace(/\/$/, "").split("/");
  const pattern: string[] = [];
  for (const part of withSlashes(glob).split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") pattern.push(part);
    else if (pattern.pop() === undefined && base.length > 1) base.pop();
  }
  return { directory: base, pattern };
}

function globOf({ directory, pattern }: AbsoluteGlob): string {
  return [...directory.map(literally), ...pattern].join("/");
}

/** Escapes a path so that the glob matches only this path. */
export function literally(path: string): string {
  return path.replace(/[*?[\]{}!\\]/g, "\\$&");
}

const WILDCARD = /[*?[\]{}\\]/;

/** Returns the directory that a glob with wildcards must not match. */
function sparedBy(glob: AbsoluteGlob, directory: string, root: string): string | undefined {
  if (!glob.pattern.some((part) => WILDCARD.test(part))) return undefined;
  const absolute = globOf(glob);
  const isAll = absolute.endsWith("/**");
  const base = new Bun.Glob(isAll ? absolute.slice(0, -3) : absolute);
  if (absolute === "/**" || ancestorsOf(root).some((each) => base.match(each))) return root;
  if (base.match(root) && !isAll) return root;
  const isBeside = !isAll && [directory, ...ancestorsOf(directory)].some((each) => base.match(each));
  return isBeside ? directory : undefined;
}

/** Returns whether one path contains the other. */
function isOn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`) || directory.startsWith(`${path}/`);
}

function ancestorsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(2).map((_, index) => parts.slice(0, index + 2).join("/"));
}

let always: Matcher | undefined;

/** Matches tool caches. In a project inside such a directory, nothing is ignored. */
export function alwaysIgnored(root: string): Matcher {
  always ??= openAlways();
  return always(root) ? () => false : always;
}

function openAlways(): Matcher {
  let matchers: readonly Matcher[] | undefined;
  const beginnings = TEMPORARY_CACHES.map((name) => RegExp.escape(name.replace("*", "")));
  // Fast path: most paths contain none of these names, so the globs are compiled on the first match.
  const part = new RegExp(
    `[\\\\/](?:node_modules[\\\\/]\\.|\\.npm(?:[\\\\/]_|$)|${beginnings.join("|")}|${RegExp.escape(TOKEN.slice(TOKEN.indexOf("/") + 1))}$)`,
  );
  return (path) => part.test(path) && (matchers ??= openCaches()).some((isMeant) => isMeant(path));
}

function openCaches(): Matcher[] {
  return [
    matcher(
      TOOL_CACHES.map((name) => `**/node_modules/${name}`),
      "/",
    ),
    ...TEMPORARY.map((place) => matcher(TEMPORARY_CACHES, place)),
    matcher([`**/${TOKEN}`], "/"),
    matcher(
      NPM_FILES.map((name) => `**/.npm/${name}`),
      "/",
    ),
    // A user's first npm creates the directory.
    (path) => path.endsWith("/.npm"),
  ];
}

/** Returns the existing files that match, sorted. */
export async function listFiles(globs: readonly string[], directory: string): Promise<string[]> {
  const found = new Set<string>();
  for (const glob of globs.filter((each) => !each.startsWith("!"))) {
    const { base, pattern } = splitGlob(placeGlob(glob, directory));
    if (pattern === "") {
      found.add(base);
      for await (const path of scan("**", base)) found.add(path);
    } else for await (const path of scan(pattern, base)) found.add(path);
  }
  const isMeant = matcher(globs, directory);
  return [...found].filter(isMeant).sort();
}

async function* scan(pattern: string, base: string): AsyncGenerator<string> {
  try {
    for await (const path of new Bun.Glob(pattern).scan({
      cwd: base,
      dot: true,
      absolute: true,
      onlyFiles: false,
    }))
      yield path;
  } catch {
    // The directory does not exist.
  }
}

function splitGlob({ directory, pattern }: AbsoluteGlob): { base: string; pattern: string } {
  const first = pattern.findIndex((part) => WILDCARD.test(part));
  const plain = first < 0 ? pattern : pattern.slice(0, first);
  const base = [...directory, ...plain].join("/") || "/";
  return { base, pattern: first < 0 ? "" : pattern.slice(first).join("/") };
}

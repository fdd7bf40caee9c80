// The globs of a rule, and what every tool keeps for itself: which absolute paths they mean.
import { resolve, sep } from "node:path";
import { temporaryDirectory } from "../../platform/temporary-directory.ts";

/** Caches of tools: their content decides how long a tool takes, not what it makes. docs/caching.md lists them. */
const IGNORED: readonly string[] = [
  "**/node_modules/.cache/**",
  "**/node_modules/.vite/**",
  "**/node_modules/.vite-temp/**",
];

/** Places of rt's own, which an rt in the script may need; all in them is named after what it is. */
const OWN_PLACES: readonly string[] = ["/tmp", "/var/tmp", "/dev/shm", temporaryDirectory()].flatMap(
  (place) => [`${place}/rt-links-*`, `${place}/rt-files-*`],
);

export type Matcher = (path: string) => boolean;

/** Relative to `directory`; `dist` means all that is in it as well, and one in front of which stands `!` takes back. */
export function matcher(globs: readonly string[], directory: string): Matcher {
  const patterns = globs.map((glob) => {
    const isNot = glob.startsWith("!");
    const absolute = withSlashes(resolve(directory, isNot ? glob.slice(1) : glob));
    const all = absolute.endsWith("/**") ? [absolute, absolute.slice(0, -3)] : [absolute, `${absolute}/**`];
    return { isNot, globs: all.map((each) => new Bun.Glob(each)) };
  });
  if (patterns.length === 0) return () => false;
  return (given) => {
    const path = withSlashes(given);
    let isMatch = false;
    for (const { isNot, globs: each } of patterns)
      if (each.some((glob) => glob.match(path))) isMatch = !isNot;
    return isMatch;
  };
}

let always: Matcher | undefined;
/** What has none of these is none of those. */
const PART = /[\\/](?:node_modules[\\/]\.|rt-links-|rt-files-)/;

/** What no script's rule has to name. */
export function isAlwaysIgnored(path: string): boolean {
  if (!PART.test(path)) return false;
  always ??= matcher([...IGNORED, ...OWN_PLACES], "/");
  return always(path);
}

/** The files that globs mean now, sorted. */
export async function listFiles(globs: readonly string[], directory: string): Promise<string[]> {
  const found = new Set<string>();
  for (const glob of globs.filter((each) => !each.startsWith("!"))) {
    const absolute = withSlashes(resolve(directory, glob));
    const { base, pattern } = splitGlob(absolute);
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
    // There is no such directory.
  }
}

/** As globs have it; on Windows a name cannot have a backslash in it, and elsewhere it is one like any other. */
function withSlashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

/** The part without wildcards, and the rest. */
function splitGlob(absolute: string): { base: string; pattern: string } {
  const parts = absolute.split("/");
  const first = parts.findIndex((part) => /[*?[\]{}]/.test(part));
  if (first < 0) return { base: absolute, pattern: "" };
  return { base: parts.slice(0, first).join("/") || "/", pattern: parts.slice(first).join("/") };
}

// The globs of a rule, and what every tool keeps for itself: which absolute paths they mean.
import { isAbsolute, resolve } from "node:path";
import { temporaryDirectory } from "../../../platform/files/temporary-directory.ts";
import { withSlashes } from "../entry/relocation.ts";

/**
 * Caches of tools, in node_modules: their content decides how long a tool takes, not what it makes. docs/caching.md lists all
 * that is left out here.
 */
export const TOOL_CACHES: readonly string[] = [
  ...[".cache", ".vite", ".vite-temp"],
  // Of Vitest, from 5 on and before.
  ...[".vitest-cache", ".experimental-vitest-cache"],
];

const USER = process.getuid?.() ?? 0;

/** The same among temporary files: of Node.js itself (for tsc, eslint, Vite and others), Jest, tsx, and tools of older days. */
const TEMPORARY_CACHES: readonly string[] = [
  ...["node-compile-cache", `jest_${USER.toString(36)}`, `tsx-${USER}`, `v8-compile-cache-${USER}`],
  // Places of rt's own, which an rt in the script may need; all in them is named after what it is.
  ...["rt-links-*", "rt-files-*"],
];

/** What Vitest tells its own pages by; made at random for each user, among the data of programs. */
const TOKEN = "vitest/.vitest-secret-token";

const TEMPORARY: readonly string[] = ["/tmp", "/var/tmp", "/dev/shm", temporaryDirectory()];

export type Matcher = (path: string) => boolean;

/**
 * Relative to `directory`; `dist` means all that is in it as well, and one in front of which stands `!` takes back. Of what
 * lies above the root a wildcard means all but the project, and of what is beside the directory all but that: who has
 * `/home/me/*` left out wants its names to come and go, and not that nothing counts.
 *
 * @param root of the project
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

/** From "/" on, part by part; in `directory` no character means anything but itself, and in `pattern` it does. */
interface AbsoluteGlob {
  readonly directory: readonly string[];
  readonly pattern: readonly string[];
}

function placeGlob(glob: string, directory: string): AbsoluteGlob {
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

/** As a glob that means a path as it is, and no other. */
export function literally(path: string): string {
  return path.replace(/[*?[\]{}!\\]/g, "\\$&");
}

const WILDCARD = /[*?[\]{}\\]/;

/** The directory in which a glob with wildcards means nothing. */
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

/** Whether a path leads to a directory, or is in it. */
function isOn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`) || directory.startsWith(`${path}/`);
}

/** The directories that a path is in, but "/". */
function ancestorsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(2).map((_, index) => parts.slice(0, index + 2).join("/"));
}

let always: Matcher | undefined;

/** What no script's rule has to name. In a project that lies in such a place itself all counts. */
export function alwaysIgnored(root: string): Matcher {
  always ??= openAlways();
  return always(root) ? () => false : always;
}

function openAlways(): Matcher {
  let matchers: readonly Matcher[] | undefined;
  const beginnings = TEMPORARY_CACHES.map((name) => RegExp.escape(name.replace("*", "")));
  // Most paths have none of these, and are no work then; nor is there any where none of them has.
  const part = new RegExp(
    `[\\\\/](?:node_modules[\\\\/]\\.|${beginnings.join("|")}|${RegExp.escape(TOKEN.slice(TOKEN.indexOf("/") + 1))}$)`,
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
  ];
}

/** The files that globs mean now, sorted. */
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
    // There is no such directory.
  }
}

/** The part without wildcards, and the rest. */
function splitGlob({ directory, pattern }: AbsoluteGlob): { base: string; pattern: string } {
  const first = pattern.findIndex((part) => WILDCARD.test(part));
  const plain = first < 0 ? pattern : pattern.slice(0, first);
  const base = [...directory, ...plain].join("/") || "/";
  return { base, pattern: first < 0 ? "" : pattern.slice(first).join("/") };
}

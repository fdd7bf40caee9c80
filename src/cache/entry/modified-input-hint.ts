// Writes the hint for a script that modified its inputs. Pure.
//
// Non-obvious:
// - Git decides the advice. A file that git ignores belongs to a tool (.tsbuildinfo, .next), so it is added to
//   `outputs`. All other files are sources: a formatter has nothing to change in its second run, which is then
//   cached.
// - Files in a folder named "cache" are a tool's cache, so it is added to `ignore`.
// - Folders with other outputs are added too. An incremental tool may have written only the changed half, but a
//   restore needs all of it.
import { relative } from "node:path";
import { describeChange, type DescribedScript } from "./uncacheable-reasons.ts";
import { literally } from "../key/rule-globs.ts";
import { isBelow, withSlashes } from "../relocation/stored-path.ts";
import type { ProjectView } from "./entry-builder.ts";
import { describeRule } from "../key/rule-line.ts";
import type { ModifiedInputError } from "./not-cacheable-error.ts";

/** If there are more files, the hint names their folders. */
const MAX_NAMED_FILES = 3;

/** Returns the end of the sentence that names the first of the paths. */
export async function adviseFor(
  { paths, draft }: ModifiedInputError,
  script: DescribedScript,
  { selectSources, root, isDeclared }: Pick<ProjectView, "selectSources" | "root" | "isDeclared">,
): Promise<string> {
  const made = draft.outputs.map(({ path }) => path).filter((path) => !isDeclared(path));
  const read = draft.conditions.filter(([kind]) => kind === "file").map(([, path]) => path);
  // Git answers only for the project. Without git, sources cannot be identified.
  const sources = await selectSources([...paths, ...made, ...read.filter((path) => isBelow(path, root))]);
  if (sources) return modifiedInputHint(paths, made, sources, script);
  return `if the old content is irrelevant, ${describeChange(script, "ignore", paths)}`;
}

/**
 * Returns the end of a sentence.
 *
 * @param modified absolute paths; at least one
 * @param made other outputs, without those that the rule has
 * @param sources accessed files that git does not ignore
 */
function modifiedInputHint(
  modified: readonly string[],
  made: readonly string[],
  sources: ReadonlySet<string>,
  script: DescribedScript,
): string {
  const { packageDirectory, rule } = script;
  if (modified.some((path) => sources.has(path)))
    return `git does not ignore it, and a run that leaves it unchanged is cached; if the old content is irrelevant, ${describeChange(script, "ignore", modified)}`;
  const from = (path: string) => literally(withSlashes(relative(packageDirectory, path)));
  const written = [...sources].map(from);
  const isOwn = (folder: string) => !written.some((path) => path.startsWith(folder.slice(0, -2)));
  const all = modified.map(from);
  const caches = all.flatMap((file) => cacheFolderOf(file) ?? []);
  const files = all.filter((file) => cacheFolderOf(file) === undefined);
  const folders = foldersOf(made.map(from)).filter((glob) => glob.endsWith("/**") && isOwn(glob));
  const globs = new Set([...(files.length > MAX_NAMED_FILES ? foldersOf(files) : files), ...folders]);
  const addition = {
    ...(files.length > 0 && { outputs: [...globs] }),
    ...(caches.length > 0 && { ignore: [...new Set(caches)] }),
  };
  return `if the old content is irrelevant, ${describeRule(rule, addition)}`;
}

/** Returns `.next/cache/**` for `.next/cache/eslint/.cache_1`: the names of such files differ between checkouts. */
function cacheFolderOf(file: string): string | undefined {
  const [folder] = /^(?:.*\/)?\.?cache(?=\/)/.exec(file) ?? [];
  return folder && `${folder}/**`;
}

/** `.next/server/a.js` belongs to `.next/**`. Below node_modules, the next folder is added. */
function foldersOf(files: readonly string[]): string[] {
  const folders = files.map((path) => {
    const parts = path.split("/");
    const depth = parts.lastIndexOf("..") + (parts.includes("node_modules") ? 3 : 2);
    return parts.length > depth ? `${parts.slice(0, depth).join("/")}/**` : path;
  });
  return [...new Set(folders)];
}

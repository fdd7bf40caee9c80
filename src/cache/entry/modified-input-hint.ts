// What is advised where a script has changed what it had read, by what git says of the files: those that it ignores are
// some tool's own (.tsbuildinfo, .next), and can be the script's outputs; all others are somebody's sources, and a script
// that mends them (a formatter) finds nothing to change the next time. Pure.
//
// Surprising: folders in which it has made something are advised as well. Who goes on from what was made last time may have written
// the half that has changed, and all of it is to be put back.
import { relative } from "node:path";
import { describeChange, type DescribedScript } from "./uncacheable-reasons.ts";
import { literally } from "../key/rule-globs.ts";
import { isBelow, withSlashes } from "./relocation.ts";
import type { ProjectView } from "./entry-builder.ts";
import { describeRule } from "../key/rule-line.ts";
import type { ModifiedInputError } from "./not-cacheable-error.ts";

/** More paths than these are named by their folders. */
const MAX_NAMED_FILES = 3;

/** Returns the end of the sentence that names the first of the paths. */
export async function adviseFor(
  { paths, draft }: ModifiedInputError,
  script: DescribedScript,
  { selectSources, root }: Pick<ProjectView, "selectSources" | "root">,
): Promise<string> {
  const made = draft.outputs.map(({ path }) => path);
  const read = draft.conditions.filter(([kind]) => kind === "file").map(([, path]) => path);
  // Git answers for the project alone. Without git there is nothing to tell sources by.
  const sources = await selectSources([...paths, ...made, ...read.filter((path) => isBelow(path, root))]);
  if (sources) return modifiedInputHint(paths, made, sources, script);
  return `if its old content does not matter, ${describeChange(script, "ignore", paths)}`;
}

/**
 * The end of the sentence that names the first of them.
 *
 * @param rewritten absolute, as all of these; at least one
 * @param made what else it wrote
 * @param sources those that somebody writes by hand, of all that it has touched
 */
function modifiedInputHint(
  modified: readonly string[],
  made: readonly string[],
  sources: ReadonlySet<string>,
  script: DescribedScript,
): string {
  const { packageDirectory, rule } = script;
  if (modified.some((path) => sources.has(path)))
    return `git does not ignore that, and a run that changes no source is kept; if its old content does not matter, ${describeChange(script, "ignore", modified)}`;
  const from = (path: string) => literally(withSlashes(relative(packageDirectory, path)));
  const written = [...sources].map(from);
  const isOwn = (folder: string) => !written.some((path) => path.startsWith(folder.slice(0, -2)));
  const files = modified.map(from);
  const folders = foldersOf(made.map(from)).filter((glob) => glob.endsWith("/**") && isOwn(glob));
  const globs = new Set([...(files.length > MAX_NAMED_FILES ? foldersOf(files) : files), ...folders]);
  return `if its old content does not matter, ${describeRule(rule, { outputs: [...globs] })}`;
}

/** `.next/server/a.js` is of `.next/**`; of node_modules the folder within counts. */
function foldersOf(files: readonly string[]): string[] {
  const folders = files.map((path) => {
    const parts = path.split("/");
    const depth = parts.lastIndexOf("..") + (parts.includes("node_modules") ? 3 : 2);
    return parts.length > depth ? `${parts.slice(0, depth).join("/")}/**` : path;
  });
  return [...new Set(folders)];
}

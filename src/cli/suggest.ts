// "Did you mean": the nearest known name to one that is not known.
import { distance } from "fastest-levenshtein";
import { findPackageJson, scriptNames } from "../workspace/package-json.ts";

/** The nearest of `known`, when it is near enough to be a slip of the finger. */
export function suggestName(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let fewest = Math.max(1, Math.floor(word.replace(/^-+/, "").length / 3)) + 1;
  for (const name of known) {
    const edits = distance(word.toLowerCase(), name.toLowerCase());
    if (edits < fewest) [best, fewest] = [name, edits];
  }
  return best;
}

/** What to try instead of a script or file that is not there. */
export function suggestTarget(name: string, cwd: string): string | undefined {
  const located = findPackageJson(cwd);
  const scripts = located ? scriptNames(located.manifest) : [];
  const nearest = suggestName(name, scripts);
  if (nearest) return `did you mean "${nearest}"?`;
  if (/[\\/.]/.test(name)) return undefined;
  return scripts.length > 0 ? "`rt run` lists the scripts" : "there are no scripts in package.json";
}

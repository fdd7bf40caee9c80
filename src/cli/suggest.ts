// "Did you mean", for the words of a command line.
import { nearest } from "../workspace/nearest.ts";
import { findPackageJson, scriptNames } from "../workspace/package-json.ts";

/** The nearest of `known`, when one is near enough to be a slip of the finger. */
export function suggestName(word: string, known: readonly string[]): string | undefined {
  return nearest(word, known)[0];
}

/** What to try instead of a script or file that is not there. */
export function suggestTarget(name: string, cwd: string): string | undefined {
  const located = findPackageJson(cwd);
  const scripts = located ? scriptNames(located.manifest) : [];
  const similar = suggestName(name, scripts);
  if (similar) return `did you mean "${similar}"?`;
  if (/[\\/.]/.test(name)) return undefined;
  return scripts.length > 0 ? "`rt run` lists the scripts" : "there are no scripts in package.json";
}

// What there is to pick: the scripts of the package that we stand in and, in a workspace, of all its packages; those that
// were picked last first.
import { relative } from "node:path";
import { oneLine, printable } from "../../printable.ts";
import { openWorkspace } from "../../workspace/members.ts";
import { findPackageJson, type PackageJson, scriptNames, scriptOf } from "../../workspace/package-json.ts";
import type { Picked } from "./history.ts";

export interface Choice {
  /** `web build`; `build` in the package that we stand in. Fit to be shown, as is the command. */
  readonly label: string;
  readonly command: string;
  readonly scriptName: string;
  /** Absolute. */
  readonly directory: string;
  /** What --filter knows the package by; undefined for the one that we stand in. */
  readonly selector: string | undefined;
  /** What the script was given when it was picked last, as it was written. */
  readonly args: string;
}

export interface Choices {
  /** Where what was picked is remembered for. */
  readonly root: string;
  /** @param history the last first */
  order(history: readonly Picked[]): Choice[];
}

interface Package {
  readonly directory: string;
  readonly name: string;
  readonly manifest: PackageJson;
}

/** Undefined where there is no package.json here or above. Throws PackageJsonError, Failure. */
export function findChoices(cwd: string): Choices | undefined {
  const own = findPackageJson(cwd);
  if (!own) return undefined;
  const { root, members } = openWorkspace(cwd);
  const others = members
    .filter(({ directory }) => directory !== own.directory)
    .map(({ directory, name, path, manifest }): Package => ({ directory, name: name || path, manifest }));
  const packages: Package[] = [{ ...own, name: "" }, ...others];
  return {
    root,
    order: (history) => {
      const ranks = new Map(history.map((picked, rank) => [keyOf(picked), { rank, args: picked.args }]));
      const choices = packages.flatMap((each) =>
        scriptNames(each.manifest).map((scriptName): Choice => {
          const { directory, name, manifest } = each;
          return {
            label: name === "" ? printable(scriptName) : printable(`${name} ${scriptName}`),
            command: oneLine(scriptOf(manifest, scriptName) ?? ""),
            scriptName,
            directory,
            selector: name === "" ? undefined : selectorOf(cwd, each),
            args: ranks.get(keyOf({ directory, scriptName }))?.args ?? "",
          };
        }),
      );
      const rankOf = (choice: Choice) => ranks.get(keyOf(choice))?.rank ?? history.length;
      return choices.toSorted((a, b) => rankOf(a) - rankOf(b));
    },
  };
}

function keyOf({ directory, scriptName }: Pick<Choice, "directory" | "scriptName">): string {
  return JSON.stringify([directory, scriptName]);
}

const MEANS_MORE = /[*?[\]{}!^\\]|\.\.\./;

/** By its path, which no other package has; by its name where the path would be a pattern. */
function selectorOf(cwd: string, { directory, name }: Package): string {
  const path = relative(cwd, directory).replaceAll("\\", "/");
  const written = path === "" ? "." : path.startsWith("../") || path === ".." ? path : `./${path}`;
  return MEANS_MORE.test(written.replace(/^(?:\.\.\/)*/, "")) ? name : written;
}

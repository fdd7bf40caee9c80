// Matches rows of [run.secrets] against scripts. The pattern is a script's name or a glob, optionally after "package#" with a
// package's name or glob.
//
// Invariants:
// - A lifecycle hook matches by its exact name only, never by a glob.
//
// Non-obvious:
// - The module is small and separate because it runs before anything else of this folder is loaded: a script without a row
//   costs nothing more.

import { host } from "../../../platform/processes/process.ts";
import type { ConfigContent } from "../../config/config-content.ts";
import { splitTaskName, type TaskName } from "../../config/tasks/task-name.ts";
import { type PackageJson, scriptNames } from "../../workspace/package-json.ts";

/**
 * Variable with the comma-separated names of the secrets that rt gave to a program. A nested rt passes them on. A program
 * that sets the variable itself gains nothing: it has its own environment already.
 */
export const GRANTED = "RT_GRANTED";

/** Variable with the names of the secrets that rt removed from a script's environment; only messages use it. */
export const WITHHELD = "RT_WITHHELD";

/** Among those names: rt install removed some of them. It is not the name of a variable. */
export const WITHHELD_BY_INSTALL = "(rt install)";

/** Returns the secrets that an outer rt gave to the program that started this one. */
export function grantedNames(): string[] {
  return namesIn(GRANTED);
}

export function withheldNames(): string[] {
  return namesIn(WITHHELD);
}

function namesIn(variable: string): string[] {
  return host.originalVariable(variable)?.split(",") ?? [];
}

/** A script, as rows match it. */
export interface ScriptName {
  /** "" for a package without a name; undefined matches rows of every package. */
  readonly package: string | undefined;
  readonly script: string;
  /** Runs before or after another script (`pre`, `post`). */
  readonly isHook: boolean;
  /** Runs because another script depends on it, so --secret is not for it. */
  readonly isDependency?: boolean;
}

export interface GrantRow {
  /** The key of the row, unparsed. */
  readonly pattern: string;
  readonly names: readonly string[];
  /** Whether it is from [tasks]. */
  readonly isOfTask: boolean;
}

/** Returns the rows of [run.secrets], and those of [tasks] that have secrets. */
export function grantRowsIn({ run, tasks = {} }: ConfigContent): GrantRow[] {
  return [
    ...Object.entries(run?.secrets ?? {}).map(([pattern, names]) => ({ pattern, names, isOfTask: false })),
    ...Object.entries(tasks).flatMap(([pattern, { secrets: names }]) =>
      names ? [{ pattern, names, isOfTask: true }] : [],
    ),
  ];
}

/** Returns the path of a row's list of names in rtfig.toml. */
export function grantPathOf(pattern: string, isOfTask: boolean): readonly [string, string, string] {
  return isOfTask ? ["tasks", pattern, "secrets"] : ["run", "secrets", pattern];
}

/** Returns the key of the row for this script of every package. */
export function rowKeyOf(script: string): string {
  return script.includes("#") ? `*#${script}` : script;
}

export function isFor(row: TaskName, { package: owner, script, isHook }: ScriptName): boolean {
  if (row.package !== undefined && owner !== undefined && !matches(row.package, owner)) return false;
  return isHook ? row.task === script : matches(row.task, script);
}

/** Returns whether a row matches at least one script of the package. */
export function isForOne(
  row: string,
  { name, manifest }: { readonly name: string; readonly manifest: PackageJson },
): boolean {
  const parsed = splitTaskName(row);
  return scriptNames(manifest).some((script) => isFor(parsed, { package: name, script, isHook: false }));
}

function matches(pattern: string, name: string): boolean {
  return pattern === name || (/[*?[\]{}]/.test(pattern) && new Bun.Glob(pattern).match(name));
}

// Rows of [run.secrets]: for which scripts one is. Small and by itself, since it is asked before anything of this folder is
// loaded: a script that no row means costs nothing more.
//
// Contract: a row is a script's name or a glob, of all packages, or behind "package#" of those of that name or glob. A hook
// is meant by its exact name alone.

import { type PackageJson, scriptNames } from "../../workspace/package-json.ts";

/** What a row is for. */
export interface RowName {
  /** Name or glob; undefined for all packages. */
  readonly package: string | undefined;
  readonly script: string;
}

/** A script as rows know it. */
export interface ScriptName {
  /** "" for a package without a name; undefined where it does not matter. */
  readonly package: string | undefined;
  readonly script: string;
  /** It runs because of another one, before or after it. */
  readonly isHook: boolean;
}

/** "script" or "package#script". */
export function parseRowName(text: string): RowName {
  const hash = text.indexOf("#");
  return { package: hash < 0 ? undefined : text.slice(0, hash), script: text.slice(hash + 1) };
}

export function isFor(row: RowName, { package: owner, script, isHook }: ScriptName): boolean {
  if (row.package !== undefined && owner !== undefined && !matches(row.package, owner)) return false;
  return isHook ? row.script === script : matches(row.script, script);
}

/** Whether a row is for a script of this package. */
export function isForOne(
  row: string,
  { name, manifest }: { readonly name: string; readonly manifest: PackageJson },
): boolean {
  const parsed = parseRowName(row);
  return scriptNames(manifest).some((script) => isFor(parsed, { package: name, script, isHook: false }));
}

function matches(pattern: string, name: string): boolean {
  return pattern === name || (/[*?[\]{}]/.test(pattern) && new Bun.Glob(pattern).match(name));
}

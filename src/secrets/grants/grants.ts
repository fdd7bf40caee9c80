// Rows of [run.secrets]: for which scripts one is. Small and by itself, since it is asked before anything of this folder is
// loaded: a script that no row means costs nothing more.
//
// Contract: a row is a script's name or a glob, of all packages, or behind "package#" of those of that name or glob. A hook
// is meant by its exact name alone.

import { host } from "../../../platform/processes/process.ts";
import { type PackageJson, scriptNames } from "../../workspace/package-json.ts";

/**
 * The variable that lists the secrets that rt has given to a program, separated by commas. An rt that the program starts
 * passes them on, as every other program does. A program that sets it itself gains nothing: it has the values already.
 */
export const GRANTED = "RT_GRANTED";

/** The variable that lists the secrets that rt has removed from the environment of a script, for messages. */
export const WITHHELD = "RT_WITHHELD";

/** Returns the secrets that an rt around this one has given. */
export function grantedNames(): string[] {
  return namesIn(GRANTED);
}

export function withheldNames(): string[] {
  return namesIn(WITHHELD);
}

function namesIn(variable: string): string[] {
  return host.originalVariable(variable)?.split(",") ?? [];
}

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

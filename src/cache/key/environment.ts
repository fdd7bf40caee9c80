// Builds the environment of a cached script. variables.ts decides about each variable.
import type { CacheRule } from "../../config/settings/cache.ts";
import { oneLine } from "../../printable.ts";
import { isNamed } from "../../variable-names.ts";
import { TRACED_VARIABLE } from "../traced-variable.ts";
import { readsVariable } from "./variable-readers.ts";
import { describeRule, tableOf } from "./rule-line.ts";
import { type Treatment, UNCOUNTED, VARIABLES, variableRow } from "./variables.ts";

export interface CachedEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that the script does not receive, or not with this value. */
  readonly withheld: readonly string[];
}

/**
 * @param wanted the environment of the script without caching
 * @param original the environment in which rt was started
 * @param declared names of `env` and of `--env-file`
 * @param root root of the project
 */
export function cachedEnvironment(
  wanted: Readonly<Record<string, string | undefined>>,
  original: Readonly<Record<string, string | undefined>>,
  declared: readonly string[],
  root: string,
): CachedEnvironment {
  const variables: Record<string, string> = {};
  const withheld: string[] = [];
  for (const [name, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    if (treatmentOf(name, declared, original[name] !== value) !== "dropped") variables[name] = value;
    else if (!SHELL_VARIABLES.includes(name)) withheld.push(name);
  }
  for (const { names, treatment, value } of VARIABLES)
    for (const name of treatment === "fixed" ? names : []) {
      if (isDeclared(name, declared)) continue;
      if (isPresentation(name) && wanted[name] !== undefined && wanted[name] !== value) withheld.push(name);
      variables[name] = value ?? root;
    }
  variables[TRACED_VARIABLE] = "1";
  return { variables, withheld };
}

/** Variables that a shell sets, which the script therefore has. */
const SHELL_VARIABLES = ["PWD", "OLDPWD", "_"];

/** Variables with a fixed value that are not of the same kind in each process. */
function isPresentation(name: string): boolean {
  return !["SHLVL", "INIT_CWD"].includes(name);
}

function isDeclared(name: string, declared: readonly string[]): boolean {
  if (declared.length === 0) return false;
  // The nesting of shells must not count, even with env = ["*"].
  return isNamed(name, declared) && !SHELL_VARIABLES.includes(name) && isPresentation(name);
}

/** @param isOwn whether rt set the variable for this script */
function treatmentOf(name: string, declared: readonly string[], isOwn: boolean): Treatment {
  if (isDeclared(name, declared)) return "input";
  const treatment = variableRow(name)?.treatment ?? "dropped";
  return treatment === "dropped" && isOwn && !SHELL_VARIABLES.includes(name) ? "input" : treatment;
}

/** A shorter value is not searched in outputs, because it occurs by chance. */
export const MIN_SOUGHT = 4;

/** Returns the variables that are part of the cache key, sorted. @param isTraced whether the programs that are run count */
export function countedVariables(
  variables: Readonly<Record<string, string>>,
  declared: readonly string[],
  isTraced: boolean,
): [string, string][] {
  const isCounted = (name: string) =>
    !UNCOUNTED.includes(name) &&
    (treatmentOf(name, declared, true) !== "passed" ||
      (name === "PATH" && !isTraced) ||
      (!COLORS.includes(name) && variables[name]!.length < MIN_SOUGHT));
  return Object.keys(variables)
    .filter(isCounted)
    .sort()
    .map((name) => [name, variables[name]!]);
}

const COLORS: readonly string[] = ["FORCE_COLOR", "NO_COLOR"];

/** Returns the values that do not count although the script has them, HOME first. */
export function passedValues(
  variables: Readonly<Record<string, string>>,
  declared: readonly string[],
): Readonly<Record<string, string>> {
  const names = ["HOME", ...Object.keys(variables).filter((name) => name !== "HOME")];
  const isSought = (name: string) =>
    variables[name] !== undefined &&
    !UNCOUNTED.includes(name) &&
    treatmentOf(name, declared, true) === "passed";
  return Object.fromEntries(names.filter(isSought).map((name) => [name, variables[name]!]));
}

/** Returns whether the variables make a script print colours to a pipe. */
export function isColored({ FORCE_COLOR, NO_COLOR }: Readonly<Record<string, string>>): boolean {
  return !NO_COLOR && FORCE_COLOR !== undefined && !["", "0", "false"].includes(FORCE_COLOR);
}

const nameThem = (rule: CacheRule) =>
  `if it needs some of them, list their names in env of its rule in ${tableOf(rule)}`;

/** Describes the withheld variables that a failed script mentions; all of them at its first failure. */
export function describeMissingVariables(
  label: string,
  rule: CacheRule,
  withheld: readonly string[],
  text: string,
  isFirst: boolean,
): string[] {
  const all = [...new Set(withheld)];
  const missed = all.filter((name) => new RegExp(`\\b${RegExp.escape(name)}\\b`).test(text));
  if (all.length === 0 || (missed.length === 0 && !isFirst)) return [];
  if (missed.length === 0)
    return [`${label} is cached, so it did not get ${all.length} environment variables; ${nameThem(rule)}`];
  return [
    `${label} is cached, so it did not get ${missed.join(", ")}; ` +
      `if it needs ${missed.length === 1 ? "it" : "them"}, ${describeRule(rule, { env: missed })}`,
  ];
}

/** Prefixes of variables that build tools inline into their output: a build without them does not fail. */
const BUILT_IN =
  /^(?:NEXT_PUBLIC|VITE|REACT_APP|VUE_APP|GATSBY|NUXT(?:_PUBLIC)?|PUBLIC|EXPO_PUBLIC|STORYBOOK|SANITY_STUDIO)_/;
/** Variables that turn off network requests of tools. */
const SILENCE = /TELEMETRY|DO_NOT_TRACK|ANALYTICS|DISABLE_UPDATE|NO_UPDATE/;

interface SuccessfulRun {
  /** Whether it wrote outputs. */
  readonly makes: boolean;
  readonly isOnline: boolean;
  /** The commands of the script. */
  readonly text: string;
  /** The configuration file that reads a variable, by the variable's name. */
  readonly readers: ReadonlyMap<string, string>;
}

/** Describes variables that a successful script may have missed. */
export function describeMissed(
  label: string,
  rule: CacheRule,
  withheld: readonly string[],
  { makes, isOnline, text, readers }: SuccessfulRun,
): string[] {
  const all = [...new Set(withheld)];
  const isBuiltIn = (name: string) => makes && BUILT_IN.test(name);
  const isRead = (name: string) =>
    readers.has(name) || (variableRow(name) !== undefined && readsVariable(text, name));
  const silencing = isOnline ? all.filter((name) => SILENCE.test(name)) : [];
  const given = [
    ...all.filter(isBuiltIn),
    ...silencing,
    ...all.filter((name) => !isBuiltIn(name) && !silencing.includes(name) && isRead(name)),
  ];
  if (given.length === 0) return [];
  const declared = new Set(given.map((name) => (isBuiltIn(name) ? `${BUILT_IN.exec(name)![0]}*` : name)));
  const named = given.map((name) =>
    readers.has(name) ? `${name}, which ${oneLine(readers.get(name)!)} reads` : name,
  );
  return [
    `${label} is cached, so it did not get ${named.join(", ")}; if it needs that, ${describeRule(rule, { env: [...declared] })}`,
  ];
}

const MIN_SECRET_LENGTH = 6;

/** Returns the first variable with a secret-like name whose value is in the text. */
export function findPrintedSecret(
  names: readonly string[],
  variables: Readonly<Record<string, string>>,
  text: string,
): string | undefined {
  return names.find((name) => {
    const value = variables[name] ?? "";
    return isSecret(name) && value.length >= MIN_SECRET_LENGTH && text.includes(value);
  });
}

function isSecret(name: string): boolean {
  return /TOKEN|SECRET|PASS|KEY|CREDENTIAL|AUTH/i.test(name);
}

// Builds the environment of a cached script: declared variables, variables that rt sets, and an allowlist. All of
// them are part of the cache key, so no other variable can change the result.
import type { CacheRule } from "../../config/settings/cache.ts";
import { isNamed } from "../../variable-names.ts";
import { describeRule } from "./rule-line.ts";

/**
 * Variables that every cached script receives if they are set; `*` matches any suffix. docs/guides/caching.md explains them.
 */
export const PASSED_VARIABLES: readonly string[] = [
  ...[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TERM",
    "COLORTERM",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
  ],
  ...["CI", "NODE_ENV", "NODE_OPTIONS", "NODE_PATH", "FORCE_COLOR", "NO_COLOR"],
  ...["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "LD_LIBRARY_PATH"],
];

/** Internal variables of rt, on which no script depends. */
const UNCOUNTED = ["RT_SCRIPTS", "RT_TRACED", "RT_WITHHELD", "RT_RESTARTED"];

/** Marks a traced script, so that a nested rt does not trace again. */
export const TRACED_VARIABLE = "RT_TRACED";

const passed = new Map<string, boolean>();

/** Returns whether every script receives the variable. */
function isPassed(name: string): boolean {
  let answer = passed.get(name);
  if (answer === undefined) {
    answer =
      isNamed(name, PASSED_VARIABLES) || /^npm_(?:package|lifecycle)_/.test(name) || OWN.includes(name);
    passed.set(name, answer);
  }
  return answer;
}

export interface CachedEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** Variables that the script does not receive. */
  readonly withheld: readonly string[];
}

/**
 * @param wanted the environment of the script without caching
 * @param original the environment in which rt was started
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
    if (original[name] !== value || isPassed(name) || isNamed(name, declared)) variables[name] = value;
    else withheld.push(name);
  }
  // The nesting depth of shells must not change the key.
  delete variables.OLDPWD;
  if (variables.SHLVL !== undefined) variables.SHLVL = "1";
  // The working directory of the user must not change the key.
  if (variables.INIT_CWD !== undefined) variables.INIT_CWD = root;
  variables[TRACED_VARIABLE] = "1";
  return { variables, withheld: withheld.filter((name) => !["PWD", "SHLVL", "OLDPWD", "_"].includes(name)) };
}

/** Variables that rt sets; an outer rt may have set the same values. */
const OWN = [
  ...["INIT_CWD", "NODE", "npm_node_execpath", "npm_execpath", "npm_command", "npm_config_local_prefix"],
  ...["npm_config_user_agent", "npm_package_json", "RT_SCRIPTS", "PORT", "BUN_PORT"],
];

export function countedVariables(variables: Readonly<Record<string, string>>): [string, string][] {
  const names = Object.keys(variables).filter((name) => !UNCOUNTED.includes(name));
  return names.sort().map((name) => [name, variables[name]!]);
}

const NAME_THEM = "if it needs some of them, list their names in env of its rule in [run.cache]";

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
    return [`${label} is cached, so it did not get ${all.length} environment variables; ${NAME_THEM}`];
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

/** Describes variables that a successful script may have missed. @param makes whether it wrote outputs */
export function describeMissed(
  label: string,
  rule: CacheRule,
  withheld: readonly string[],
  { makes, isOnline }: { makes: boolean; isOnline: boolean },
): string[] {
  const all = [...new Set(withheld)];
  const built = makes ? [...new Set(all.flatMap((name) => BUILT_IN.exec(name)?.[0] ?? []))] : [];
  const silencing = isOnline ? all.filter((name) => SILENCE.test(name)) : [];
  const declared = [...built.map((beginning) => `${beginning}*`), ...silencing];
  if (declared.length === 0) return [];
  const given = [...all.filter((name) => makes && BUILT_IN.test(name)), ...silencing].join(", ");
  return [
    `${label} is cached, so it did not get ${given}; if it needs that, ${describeRule(rule, { env: declared })}`,
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

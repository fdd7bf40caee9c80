// The environment of a cached script: what was declared, what rt itself adds, and this list. Nothing else reaches the script,
// so that nothing else can matter; all of it is in the key.
import type { CacheRule } from "../../config/settings/cache.ts";
import { describeRule } from "./rule-line.ts";

/** Names that every cached script is given, where they are set; `*` stands for any end. docs/caching.md explains them. */
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

/** Set by rt for its own sake; no script goes by it. */
const UNCOUNTED = ["RT_SCRIPTS", "RT_TRACED", "RT_WITHHELD"];

/** A script's variables by which an rt that it starts knows that it is being followed already. */
export const TRACED_VARIABLE = "RT_TRACED";

const passed = new Map<string, boolean>();

/** Of every script. */
function isPassed(name: string): boolean {
  let answer = passed.get(name);
  if (answer === undefined) {
    answer =
      isNamed(name, PASSED_VARIABLES) || /^npm_(?:package|lifecycle)_/.test(name) || OWN.includes(name);
    passed.set(name, answer);
  }
  return answer;
}

function isNamed(name: string, names: readonly string[]): boolean {
  return names.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : name === each));
}

export interface CachedEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** Names that the script does not get. */
  readonly withheld: readonly string[];
}

/**
 * @param wanted what the script would get if it were not cached
 * @param original what rt was started with
 * @param root of the project
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
  // How deep the shells are nested is nobody's business.
  delete variables.OLDPWD;
  if (variables.SHLVL !== undefined) variables.SHLVL = "1";
  // Nor in which folder of the project somebody stood.
  if (variables.INIT_CWD !== undefined) variables.INIT_CWD = root;
  variables[TRACED_VARIABLE] = "1";
  return { variables, withheld: withheld.filter((name) => !["PWD", "SHLVL", "OLDPWD", "_"].includes(name)) };
}

/** What rt sets, which an rt around it may have set to the same. */
const OWN = [
  ...["INIT_CWD", "NODE", "npm_node_execpath", "npm_execpath", "npm_command", "npm_config_local_prefix"],
  ...["npm_config_user_agent", "npm_package_json", "RT_SCRIPTS", "PORT", "BUN_PORT"],
];

export function countedVariables(variables: Readonly<Record<string, string>>): [string, string][] {
  const names = Object.keys(variables).filter((name) => !UNCOUNTED.includes(name));
  return names.sort().map((name) => [name, variables[name]!]);
}

const NAME_THEM = "if it needs some of them, list their names in env of its rule in [run.cache]";

/** A script that fails may miss a variable: those that it names, or, at its first failure, any. */
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

/** Beginnings of variables that builds put into what they make: nothing fails without them. */
const BUILT_IN =
  /^(?:NEXT_PUBLIC|VITE|REACT_APP|VUE_APP|GATSBY|NUXT(?:_PUBLIC)?|PUBLIC|EXPO_PUBLIC|STORYBOOK|SANITY_STUDIO)_/;
/** Of variables with which people keep tools from speaking with somebody. */
const SILENCE = /TELEMETRY|DO_NOT_TRACK|ANALYTICS|DISABLE_UPDATE|NO_UPDATE/;

/** What a script that ended well may have gone without in silence. @param makes whether it has made anything */
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

/** The first of these that is called like a secret and whose value is in a text. */
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

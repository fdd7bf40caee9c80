// Selects the environment variables of a task with permissions: rt's, the declared ones, and an allowlist.
//
// Invariants:
// - Tokens and the addresses of session bus, agents and container engines are not in the list.
import { ALL_HOSTS } from "../config/tasks/host-entry.ts";
import { isNamed } from "../variable-names.ts";

/** docs/guides/permissions.md has these. Names that end with `*` are beginnings of names. */
const PERMITTED_VARIABLES: readonly string[] = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "TERM_PROGRAM", "COLUMNS", "LINES"],
  ...["TZ", "LANG", "LANGUAGE", "LC_*", "CI", "NODE_ENV", "NODE_OPTIONS", "NODE_PATH", "FORCE_COLOR"],
  ...["NO_COLOR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  "NODE_EXTRA_CA_CERTS",
];

/** Variables that rt sets, which an outer rt may have set to the same values. */
const VARIABLES_OF_RT: readonly string[] = [
  ...["npm_package_*", "npm_lifecycle_*", "npm_node_execpath", "npm_execpath", "npm_command"],
  ...["npm_config_local_prefix", "npm_config_user_agent", "NODE", "INIT_CWD", "PORT", "BUN_PORT"],
  ...["RT_SCRIPTS", "RT_TRACED", "RT_PERMISSIONS", "RES_OPTIONS", "RT_GRANTED", "RT_WITHHELD"],
];

const ALL = [...PERMITTED_VARIABLES, ...VARIABLES_OF_RT];
const NAMES: ReadonlySet<string> = new Set(ALL);
const BEGINNINGS = ALL.filter((each) => each.endsWith("*"));

function isPermitted(name: string): boolean {
  return NAMES.has(name) || isNamed(name, BEGINNINGS);
}

export type VariableRecord = Readonly<Record<string, string | undefined>>;

/** The C library resolves names by TCP, which reaches the resolver of rt. UDP is refused. */
export function resolverVariables(
  hosts: readonly string[] | undefined,
  { RES_OPTIONS }: VariableRecord,
): Record<string, string> {
  if (hosts?.includes(ALL_HOSTS)) return {};
  return { RES_OPTIONS: RES_OPTIONS ? `${RES_OPTIONS} use-vc` : "use-vc" };
}

/**
 * @param wanted the environment without permissions
 * @param original the environment in which rt was started
 * @param declared `env` of the task, and the variables of --env-file
 */
export function selectVariables(
  wanted: VariableRecord,
  original: VariableRecord,
  declared: readonly string[],
): Record<string, string> {
  const selected: Record<string, string> = {};
  for (const [name, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    if (original[name] !== value || isPermitted(name) || isNamed(name, declared)) selected[name] = value;
  }
  return selected;
}

/** Returns the names of variables that a task with these declared ones inherits, or beginnings before a `*`. */
export function inheritedNames(declared: readonly string[]): readonly string[] {
  return [...ALL, ...declared];
}

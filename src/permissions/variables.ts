// Selects the environment variables of a task with permissions: rt's, the declared ones, and an allowlist.
//
// Invariants:
// - Tokens and the addresses of session bus, agents and container engines are not in the list.
import { ALL_HOSTS } from "../config/tasks/host-entry.ts";
import { isNamed } from "../variable-names.ts";

/** docs/guides/permissions.md has this list. */
const PERMITTED_VARIABLES: readonly string[] = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "TERM_PROGRAM", "COLUMNS", "LINES"],
  ...[
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "CI",
    "NODE_ENV",
    "NODE_OPTIONS",
    "NODE_PATH",
    "FORCE_COLOR",
    "NO_COLOR",
  ],
  ...[
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "LD_LIBRARY_PATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
  ],
];

/** Variables that rt sets, which an outer rt may have set to the same values. */
const OF_RT =
  /^(?:npm_(?:package|lifecycle)_.*|npm_node_execpath|npm_execpath|npm_command|npm_config_local_prefix|npm_config_user_agent|npm_package_json|NODE|INIT_CWD|PORT|BUN_PORT|RT_SCRIPTS|RT_TRACED|RT_PERMISSIONS|RES_OPTIONS|RT_GRANTED|RT_WITHHELD)$/;

const permitted = new Map<string, boolean>();

/** Each task of a run has nearly the same variables. */
function isPermitted(name: string): boolean {
  const known = permitted.get(name);
  if (known !== undefined) return known;
  const isFound = OF_RT.test(name) || isNamed(name, PERMITTED_VARIABLES);
  permitted.set(name, isFound);
  return isFound;
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

// The variables of a cached script: which it gets, which count, and why. docs/reference/cache.md has this table.
//
// Invariants:
// - A variable that no row names is not passed. `env` of a rule passes a variable as it is, and then it counts.
// - Only a variable whose use is recorded in another way (files, programs, mentions) is passed without counting.
import { isNamed } from "../../variable-names.ts";

/**
 * "input" is passed and counts, "passed" does not count, "fixed" has the same value for all users, "dropped" is not
 * passed.
 */
export type Treatment = "input" | "passed" | "fixed" | "dropped";

export interface VariableRow {
  /** `*` at the end matches any suffix. */
  readonly names: readonly string[];
  readonly treatment: Treatment;
  /** The value of "fixed"; null is the root of the project. */
  readonly value?: string | null;
  readonly reason: string;
}

export const VARIABLES: readonly VariableRow[] = [
  {
    names: ["NODE_ENV", "NODE_OPTIONS", "NODE_PATH", "LD_LIBRARY_PATH", "TZ", "PORT", "BUN_PORT"],
    treatment: "input",
    reason: "They change what programs do. In a value, the paths of the project and of `HOME` do not count",
  },
  {
    names: [
      ...["npm_lifecycle_event", "npm_lifecycle_script", "npm_package_json", "npm_package_name"],
      ...["npm_package_version", "npm_package_config_*", "npm_package_engines_*", "npm_package_bin"],
      ...["npm_package_bin_*", "npm_command", "npm_config_local_prefix", "npm_config_user_agent"],
    ],
    treatment: "input",
    reason: "rt sets them from `package.json`, and replaces those of an `npm run` around it",
  },
  {
    names: ["PATH"],
    treatment: "passed",
    reason: "The programs that were found count, not the text or the order. Without tracing, the text counts",
  },
  {
    names: ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR"],
    treatment: "passed",
    reason:
      "Files below them count by their content and by their path in the folder. Whether it is the default folder counts too",
  },
  {
    names: ["NODE", "npm_node_execpath", "npm_execpath"],
    treatment: "passed",
    reason: "rt sets them. The programs that were run count",
  },
  {
    names: ["FORCE_COLOR", "NO_COLOR"],
    treatment: "passed",
    reason: "Without colours, rt removes them from an output that was recorded with colours",
  },
  {
    names: ["RT_SCRIPTS", "RT_TRACED", "RT_WITHHELD", "RT_RESTARTED", "RT_PERMISSIONS"],
    treatment: "passed",
    reason: "They are for an inner rt",
  },
  {
    names: ["TERM"],
    treatment: "fixed",
    value: "xterm-256color",
    reason: "The output is a pipe, whatever terminal you have",
  },
  { names: ["SHELL"], treatment: "fixed", value: "/bin/sh", reason: "A script has its own shell" },
  {
    names: ["LANG"],
    treatment: "fixed",
    value: "C.UTF-8",
    reason: "Messages and the order of names would differ. To build in your language, declare it",
  },
  {
    names: ["INIT_CWD"],
    treatment: "fixed",
    value: null,
    reason: "The result is the same wherever you start rt",
  },
  { names: ["SHLVL"], treatment: "fixed", value: "1", reason: "The nesting of shells is not an input" },
  {
    names: ["NO_UPDATE_NOTIFIER"],
    treatment: "fixed",
    value: "1",
    reason: "Tools would use the network to look for a newer version of themselves",
  },
  {
    names: ["npm_config_update_notifier"],
    treatment: "fixed",
    value: "false",
    reason: "So would npm, in a script that runs `npm run` or `npx`",
  },
  {
    names: ["LC_*", "LANGUAGE"],
    treatment: "dropped",
    reason: "`LANG` decides. To build in your language, declare them, too",
  },
  {
    names: ["USER", "LOGNAME", "USERNAME", "UID", "MAIL"],
    treatment: "dropped",
    reason:
      "A result is for all users. A script that runs `id` or reads `/etc/passwd` is shared only with its user",
  },
  {
    names: [
      ...["CI", "CONTINUOUS_INTEGRATION", "CI_*", "GITHUB_*", "RUNNER_*", "GITLAB_*"],
      ...[
        "BUILDKITE*",
        "CIRCLE*",
        "TRAVIS*",
        "JENKINS_*",
        "TEAMCITY_*",
        "TF_BUILD",
        "BITBUCKET_*",
        "APPVEYOR*",
      ],
      ...["DRONE*", "VERCEL*", "NETLIFY*"],
    ],
    treatment: "dropped",
    reason: "CI and you use the same results. A tool that does something else in CI is declared with `env`",
  },
  {
    names: ["COLORTERM", "TERM_PROGRAM*", "COLUMNS", "LINES", "CLICOLOR*", "DISPLAY", "WAYLAND_DISPLAY"],
    treatment: "dropped",
    reason: "They describe your terminal or screen",
  },
  {
    names: ["PWD", "OLDPWD", "_"],
    treatment: "dropped",
    reason: "The shell of the script sets them",
  },
  {
    names: ["GIT_*"],
    treatment: "dropped",
    reason: "A git hook sets them for its own git. With `GIT_DIR`, git would use another repository",
  },
  {
    names: ["npm_*"],
    treatment: "dropped",
    reason: "They are settings of the `npm run` around rt",
  },
  {
    names: ["SSH_*", "XDG_*", "DBUS_*", "LD_PRELOAD"],
    treatment: "dropped",
    reason: "They lead to services of your session, which no result may depend on",
  },
];

/** Null for a variable without a row. */
const rows = new Map<string, VariableRow | null>();

export function variableRow(name: string): VariableRow | undefined {
  let row = rows.get(name);
  if (row === undefined) {
    row = VARIABLES.find(({ names }) => isNamed(name, names)) ?? null;
    rows.set(name, row);
  }
  return row ?? undefined;
}

/** Returns whether a variable is passed without counting, unless a rule declares it. */
export function isPassed(name: string): boolean {
  return variableRow(name)?.treatment === "passed";
}

/** Variables of rt, which are no input even of a rule with `env = ["*"]`. */
export const UNCOUNTED: readonly string[] = VARIABLES.find(({ names }) => names[0] === "RT_SCRIPTS")!.names;

// Reads [tasks] of rtfig.toml: the settings of scripts, and tasks without a script.
//
// Invariants: every row of a table is valid by itself. The planner checks whether the tasks that it names exist.
import { configHint, tomlKey } from "../../config-hint.ts";
import { printable } from "../../printable.ts";
import { UserError } from "../../user-error.ts";
import { isGlob } from "../../workspace/glob.ts";
import { folderOfConfig } from "../config-file-name.ts";
import type { ConfigSection } from "../config-content.ts";
import type { Config } from "../rtfig.ts";
import { lineOf } from "../toml-line.ts";
import { parseDuration } from "./duration.ts";
import { findInvalidEntry, type PermissionTable } from "./permission-table.ts";
import { refuseConflicts, readReady, type ReadyRule } from "./service-row.ts";
import { splitTaskName, type TaskName } from "./task-name.ts";

/** Keys of a row. Secrets are granted by all rows of a task, so src/secrets/grants reads them. */
export interface TaskOptions {
  readonly dependsOn?: readonly string[];
  /** Command of a task without an entry in package.json. */
  readonly command?: string;
  readonly description?: string;
  readonly when?: "never";
  readonly timeout?: TaskTimeout;
  /** Number of runs after a failed one. */
  readonly retries?: number;
  /** Tasks with the same lock do not run at the same time. */
  readonly lock?: string;
  /** Runs while other tasks need it. */
  readonly service?: boolean;
  /** When a service is ready; by default when it listens. */
  readonly ready?: ReadyRule;
  readonly restart?: "on-failure";
  /** Gets the terminal to itself. */
  readonly interactive?: boolean;
  readonly cache?: boolean;
  /** Globs, relative to the package. */
  readonly outputs?: readonly string[];
  readonly inputs?: readonly string[];
  readonly ignore?: readonly string[];
  /** Variables. */
  readonly env?: readonly string[];
  readonly trace?: boolean;
  readonly shared?: boolean;
  readonly remote?: boolean;
  /** True for the defaults. */
  readonly permissions?: boolean | PermissionTable;
}

export interface TaskTimeout {
  readonly milliseconds: number;
  /** As written in rtfig.toml. */
  readonly text: string;
}

/** The package "//" is the root project. */
export interface TaskRow extends TaskName {
  /** The name as written: `build`, `web#build` or a glob. */
  readonly name: string;
  readonly options: TaskOptions;
}

export interface TaskTable {
  /** Folder of rtfig.toml; absolute. */
  readonly root: string;
  readonly rows: readonly TaskRow[];
  /** Returns file and line of a key, for messages. */
  locate(row: string, key: string): string;
}

/** The package of the root project in names of tasks. */
export const ROOT_PACKAGE = "//";

type TaskKeys = NonNullable<ConfigSection<"tasks">[string]>;

/** Keys of a row that are copied. */
const COPIED = {
  "depends-on": "dependsOn",
  command: "command",
  description: "description",
  when: "when",
  retries: "retries",
  lock: "lock",
  service: "service",
  restart: "restart",
  interactive: "interactive",
  cache: "cache",
  outputs: "outputs",
  inputs: "inputs",
  ignore: "ignore",
  env: "env",
  trace: "trace",
  shared: "shared",
  remote: "remote",
  permissions: "permissions",
} as const;

/** Returns undefined if the file has no [tasks]. @throws UserError */
export function readTaskTable(config: Config, cwd: string): TaskTable | undefined {
  const rows = config.content.tasks;
  if (!rows) return undefined;
  const locate = (row: string, key: string) =>
    `${config.file}:${lineOf(config.text, ["tasks", row, ...(key === "" ? [] : key.split("."))])}`;
  return {
    root: folderOfConfig(config.file, cwd),
    rows: Object.entries(rows).map(([name, keys]) => readRow(name, keys, config.file, locate)),
    locate,
  };
}

function readRow(name: string, keys: TaskKeys, file: string, locate: TaskTable["locate"]): TaskRow {
  const fail = (key: string, problem: string, hint: string) =>
    new UserError(`${locate(name, key)}: ${describeKey(name, key)} ${problem}`, hint);
  const { package: owner, task } = splitTaskName(name);
  if (task === "" || owner === "")
    throw fail("", `names no ${task === "" ? "task" : "package"}`, 'write it as "task" or "package#task"');
  if (owner === ROOT_PACKAGE && keys.secrets !== undefined)
    throw fail("secrets", "needs the name of the root package", 'write it instead of "//"');
  const options: Record<string, unknown> = {};
  const given: Readonly<Record<string, unknown>> = keys;
  for (const [key, field] of Object.entries(COPIED))
    if (given[key] !== undefined) options[field] = given[key];
  const { command, timeout, lock } = keys;
  const table: PermissionTable = typeof keys.permissions === "object" ? keys.permissions : {};
  const invalid = findInvalidEntry(table);
  if (invalid) throw fail(`permissions.${invalid.key}`, invalid.problem, invalid.hint);
  for (const dependency of keys["depends-on"] ?? []) {
    const fault = dependencyFault(dependency);
    if (fault) throw fail("depends-on", `has "${printable(dependency)}", which ${fault}`, DEPENDENCY_HINT);
  }
  if (command !== undefined && (command.trim() === "" || command.includes("\0")))
    throw fail(
      "command",
      command.includes("\0") ? "has a NUL character" : "is empty",
      configHint(["tasks", name, "command"], "node server.js", file),
    );
  if (command !== undefined && isGlob(task))
    throw fail("command", "needs a task name without wildcards", 'write the name, as in "*#typecheck"');
  if (lock === "") throw fail("lock", "is empty", configHint(["tasks", name, "lock"], "database", file));
  if (timeout !== undefined) {
    const milliseconds = parseDuration(timeout);
    if (milliseconds === undefined)
      throw fail("timeout", `cannot be "${printable(timeout)}"`, 'for example "90s", "10m" or "1.5h"');
    options.timeout = { milliseconds, text: timeout } satisfies TaskTimeout;
  }
  refuseConflicts(keys, fail);
  if (keys.ready !== undefined) options.ready = readReady(keys.ready, fail);
  return { name, package: owner, task, options };
}

export function describeKey(row: string, key: string): string {
  return `tasks.${tomlKey(row)}${key === "" ? "" : `.${key}`}`;
}

const DEPENDENCY_HINT =
  'write "build", "^build" for the packages it depends on, or "web#build" for one package';

/** Returns the end of a sentence about an entry of `depends-on`; undefined for a valid one. */
export function dependencyFault(dependency: string): string | undefined {
  const isUpstream = dependency.startsWith("^");
  const { package: owner, task } = splitTaskName(isUpstream ? dependency.slice(1) : dependency);
  if (task === "") return "names no task";
  if (owner === "") return "names no package";
  if (isUpstream && owner !== undefined) return "names a package after ^";
  return isGlob(dependency) ? "has wildcards" : undefined;
}

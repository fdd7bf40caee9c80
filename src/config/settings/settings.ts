// Declares and reads the settings of a run, from the command line, the options of rtfig.toml and the environment.
//
//   words --parse--> Invocation --read--> Settings --plan--> Plan --execute-->
//
// Invariants:
// - Settings are validated when they are read. Code outside this folder does not look up options by name: a new option is a row
//   of src/options/options.ts and a field here. Each purpose (code, scripts, several scripts, watch mode) has a file and a type.
import type { GivenOptions, Invocation } from "../../options/parse.ts";
import type { CacheSettings } from "./cache.ts";
import { type CodeSettings, readCodeSettings } from "./code.ts";
import { type CommandLines, commandLines } from "./command-line.ts";
import { type ManySettings, readManySettings, readSelection } from "./many.ts";
import type { InstallScriptSettings } from "./install-scripts.ts";
import type { PermissionSettings } from "./permissions.ts";
import type { RemoteSettings } from "./remote.ts";
import { readScriptSettings, type ScriptSettings } from "./script.ts";
import { type AskedSecret, readAskedSecrets } from "./secrets.ts";
import type { TaskRules } from "../tasks/task-rules.ts";
import type { Tool } from "./tool.ts";
import { readWatchSettings, type WatchSettings } from "./watch.ts";

export interface RunSettings {
  /** A file, script, binary, command or "-"; undefined if code or nothing is given. */
  readonly target?: string | undefined;
  readonly args: readonly string[];
  /** `run` was written. */
  readonly isExplicit: boolean;
  /** An option contains the code. */
  readonly evaluates: boolean;
  /** A tool of the engine, instead of a target. */
  readonly tool?: Tool | undefined;
  /** A missing target is not an error. */
  readonly ifPresent: boolean;
  readonly code: CodeSettings;
  readonly script: ScriptSettings;
  /** Undefined if rtfig.toml has no [run.cache]. */
  readonly cache?: CacheSettings | undefined;
  /** Undefined if no task has permissions. */
  readonly permissions?: PermissionSettings | undefined;
  /** Set for a tool that runs lifecycle scripts of dependencies, if these have permissions. */
  readonly installScripts?: InstallScriptSettings | undefined;
  /** Undefined if rtfig.toml has no [tasks]. */
  readonly tasks?: TaskRules | undefined;
  /** Settings of a run of the target with the tasks that it depends on; undefined without [tasks]. */
  readonly single?: ManySettings | undefined;
  /** Undefined if no script runs remotely. */
  readonly remote?: RemoteSettings | undefined;
  readonly secrets: readonly AskedSecret[];
  /** Undefined unless several scripts or packages are selected. */
  readonly many?: ManySettings | undefined;
  /** Undefined unless a script, binary or command is watched. */
  readonly watch?: WatchSettings | undefined;
  /** In watch mode and with --permissions: the command line of the rt process that runs the program. */
  readonly again?: CommandLines | undefined;
}

/** Reads the settings. @throws UserError for options that cannot be combined */
export function readSettings(
  invocation: Invocation,
  given: GivenOptions,
  environment: Readonly<Record<string, string | undefined>>,
): RunSettings {
  const { target, args, command, options } = invocation;
  const evaluates = options.some(({ option }) => option.evaluates);
  const code = readCodeSettings(options, given);
  const watch = evaluates ? undefined : readWatchSettings(target, options, given);
  return {
    target,
    args,
    isExplicit: command === "run",
    evaluates,
    ifPresent: given.has("if-present"),
    code,
    script: readScriptSettings(options, given),
    secrets: readAskedSecrets(given),
    many: evaluates ? undefined : readManySettings(invocation, given, environment),
    watch,
    again: watch || code.isWatched || isRestrictionAsked(given) ? commandLines(invocation) : undefined,
  };
}

/** Whether the command line restricts targets that have no row in [tasks]. */
function isRestrictionAsked(given: GivenOptions): boolean {
  return given.has("permissions") || given.has("explain");
}

/** Reads the settings of one target as those of a run of many. @throws UserError */
export function readSingleSettings(
  { many, target, evaluates }: RunSettings,
  invocation: Invocation,
  given: GivenOptions,
  environment: Readonly<Record<string, string | undefined>>,
): ManySettings | undefined {
  if (many || evaluates || target === undefined) return undefined;
  return { ...readSelection(invocation, given, environment), isSingle: true };
}

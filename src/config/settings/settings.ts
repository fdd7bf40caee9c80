// What a run was asked for, as types: made once of the command line, the options that rtfig.toml stands for, and the
// environment, and checked while it is made. Nothing behind this folder looks an option up by its name, so a new option is
// a row of src/options/options.ts and a field here.
//
//   words --parse--> Invocation --read--> Settings --plan--> Plan --execute-->
//
// Each purpose has a file and a type of its own: how code runs, how scripts run, how many run, how to watch.
import type { GivenOptions, Invocation } from "../../options/parse.ts";
import type { CacheSettings } from "./cache.ts";
import { type CodeSettings, readCodeSettings } from "./code.ts";
import { type CommandLines, commandLines } from "./command-line.ts";
import { type ManySettings, readManySettings } from "./many.ts";
import type { RemoteSettings } from "./remote.ts";
import { readScriptSettings, type ScriptSettings } from "./script.ts";
import { type AskedSecret, readAskedSecrets } from "./secrets.ts";
import type { Tool } from "./tool.ts";
import { readWatchSettings, type WatchSettings } from "./watch.ts";

export interface RunSettings {
  /** A file, script, binary, command or "-"; undefined where code is given, or nothing. */
  readonly target?: string | undefined;
  readonly args: readonly string[];
  /** Whether `run` was written. */
  readonly isExplicit: boolean;
  /** The code itself is given by an option. */
  readonly evaluates: boolean;
  /** A tool of the engine, in the place of a target. */
  readonly tool?: Tool | undefined;
  /** A target that is not there is no error. */
  readonly ifPresent: boolean;
  readonly code: CodeSettings;
  readonly script: ScriptSettings;
  /** Where rtfig.toml names scripts that are not run again when nothing has changed. */
  readonly cache?: CacheSettings | undefined;
  /** Where the script runs on another machine. */
  readonly remote?: RemoteSettings | undefined;
  /** What --secret gives to the target. */
  readonly secrets: readonly AskedSecret[];
  /** Where many scripts, or the scripts of many packages, are asked for. */
  readonly many?: ManySettings | undefined;
  /** Where a program that is no code of rt's is to start again at each change. */
  readonly watch?: WatchSettings | undefined;
  /** Where something is watched: the words of another rt that runs it, while this one stays. */
  readonly again?: CommandLines | undefined;
}

/** Throws Failure where options contradict each other. */
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
    again: watch || code.isWatched ? commandLines(invocation) : undefined,
  };
}

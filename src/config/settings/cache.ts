// Reads which scripts are cached, and their rules, from [tasks] and [run.cache] of rtfig.toml. Also reads --cache.
//
// Invariants: a task with `cache` in [tasks] has no rule from [run.cache].
import { host } from "../../../platform/processes/process.ts";
import { folderOfConfig } from "../config-file-name.ts";
import type { ConfigSection } from "../config-content.ts";
import type { Config } from "../rtfig.ts";
import { UserError } from "../../user-error.ts";
import type { GivenOptions } from "../../options/parse.ts";
import { printable } from "../../printable.ts";
import { readRemoteCache, type RemoteCacheSettings } from "./remote-cache.ts";
import type { TaskRule, TaskRules } from "../tasks/task-rules.ts";
import type { ScriptPackage } from "../script-package.ts";
import { ruleNamed } from "./script-rules.ts";

/** The rule of one script. Globs are relative to its package. */
export interface CacheRule {
  /** `build` (in every package) or `web#build`. */
  readonly name: string;
  /** False if the file disables caching for the script. */
  readonly isOn: boolean;
  /** Additional variables that the script receives. */
  readonly env: readonly string[];
  readonly inputs: readonly string[];
  /** Outputs. Their earlier content does not matter. */
  readonly outputs: readonly string[];
  /** Files that are neither inputs nor outputs. */
  readonly ignore: readonly string[];
  /** Whether the rule has `outputs`, even if it is empty. */
  readonly saysOutputs: boolean;
  /** Whether the script is traced if the system supports it. */
  readonly isTraced: boolean;
  /** Whether other checkouts and machines may use the outputs. */
  readonly isShared: boolean;
  /** The row of [tasks] that sets each key; undefined for a rule of [run.cache]. */
  readonly rows?: TaskRule["sources"];
}

export interface CacheSettings {
  /** The directory of rtfig.toml; absolute. Outputs are below it. */
  readonly root: string;
  readonly rules: readonly CacheRule[];
  readonly tasks: TaskRules | undefined;
  /** Access to the local store. */
  readonly isRead: boolean;
  readonly isWritten: boolean;
  readonly remote?: RemoteCacheSettings | undefined;
  /**
   * Whether a dry run queries the shared cache. Only --cache enables it, so that inspecting a project sends no
   * credentials.
   */
  readonly asksWhenDry: boolean;
  /** Whether scripts run and are compared with their declared inputs and outputs. */
  readonly isVerified: boolean;
  /** Whether each script prints its cache miss reason or hit. */
  readonly isExplained: boolean;
}

type CacheRow = NonNullable<NonNullable<ConfigSection<"run">["cache"]>[string]>;

function readRule(name: string, row: CacheRow): CacheRule {
  const {
    env = [],
    inputs = [],
    outputs,
    ignore = [],
    trace = true,
    shared = true,
  } = typeof row === "boolean" ? {} : row;
  return {
    name,
    isOn: row !== false,
    env,
    inputs,
    outputs: outputs ?? [],
    ignore,
    saysOutputs: outputs !== undefined,
    isTraced: trace,
    isShared: shared,
  };
}

/** Returns undefined if nothing is cached. @throws UserError */
export function readCacheSettings(
  config: Config,
  given: GivenOptions,
  cwd: string,
  tasks: TaskRules | undefined,
): CacheSettings | undefined {
  // A table without keys declares nothing.
  const rows = Object.entries(config.content.run?.cache ?? {}).filter(
    ([, row]) => typeof row === "boolean" || Object.keys(row).length > 0,
  );
  const isDeclared = tasks?.table.rows.some(({ options }) => options.cache !== undefined);
  if (given.has("no-cache") || !(isDeclared || rows.length > 0)) return undefined;
  const places = given.get("cache")?.last;
  const { local, remote } = readPlaces(places ?? host.originalVariable("TURBO_CACHE"));
  const isVerified = given.has("verify-inputs");
  const accessOf = (access: string) => ({
    isRead: access.includes("r") && !given.has("force") && !isVerified,
    isWritten: access.includes("w") && !isVerified,
  });
  return {
    root: folderOfConfig(config.file, cwd),
    rules: rows.map(([name, row]) => readRule(name, row)),
    tasks,
    ...accessOf(local),
    remote: readRemoteCache(config, accessOf(remote), cwd, (name) => host.originalVariable(name)),
    asksWhenDry: places !== undefined && remote.includes("r"),
    isVerified,
    isExplained: given.has("why"),
  };
}

const EVERYWHERE = "local:rw,remote:rw";

/** Parses TURBO_CACHE and --cache as turbo does: an unmentioned cache is not used. @throws UserError */
function readPlaces(text: string = EVERYWHERE): { local: string; remote: string } {
  const places = { local: "", remote: "" };
  for (const each of text.split(",")) {
    const [, place, access] = /^(local|remote):(r|w|rw|)$/.exec(each) ?? [];
    if (place === undefined)
      throw new UserError(
        `--cache cannot be "${printable(text)}"`,
        `say local, remote or both, and r, w or rw, as in --cache=${EVERYWHERE}`,
      );
    places[place as keyof typeof places] = access!;
  }
  return places;
}

/** Returns undefined if the script is not cached. */
export function ruleFor(
  { rules, tasks }: CacheSettings,
  located: ScriptPackage,
  scriptName: string,
): CacheRule | undefined {
  const declared = tasks?.ruleFor(tasks.ownerIn(located), scriptName);
  if (declared?.service || declared?.interactive) return undefined;
  const rule =
    declared?.cache === undefined ? ruleNamed(rules, located.name, scriptName) : cacheRuleOf(declared);
  return rule?.isOn ? rule : undefined;
}

function cacheRuleOf(rule: TaskRule): CacheRule {
  const { env = [], inputs = [], outputs = [], ignore = [], trace = true, shared = true } = rule;
  return {
    name: rule.sources.cache!,
    isOn: rule.cache!,
    ...{ env, inputs, outputs, ignore },
    saysOutputs: rule.outputs !== undefined,
    isTraced: trace,
    isShared: shared,
    rows: rule.sources,
  };
}

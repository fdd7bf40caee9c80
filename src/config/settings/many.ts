// Reads the settings for running several scripts, or scripts of several packages: selection, order and output.
import { directories } from "../../../platform/files/directories.ts";
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";
import { isRegularExpression } from "../tasks/script-pattern.ts";
import type { Given, GivenOptions, Invocation } from "../../options/parse.ts";
import type { ShareSettings } from "./share.ts";

export interface ManySettings {
  /** Script names or patterns (`build:*`, `/^build:/`); empty to list the scripts. */
  readonly scripts: readonly string[];
  /** Arguments of the scripts. With [tasks], words in front of `--` may be further scripts. */
  readonly args: readonly string[];
  /** Whether `--` precedes the arguments. */
  readonly isSeparated: boolean;
  /** The command line names one target and no option of many. */
  readonly isSingle?: boolean;
  readonly filters: readonly string[];
  readonly workspaces: boolean;
  /** Packages changed since this commit and what depends on them; "" means the default branch. */
  readonly affected?: string | undefined;
  readonly parallel: boolean;
  readonly sequential: boolean;
  readonly noExitOnError: boolean;
  /** Concurrency limit; undefined for the default (number of cores; unlimited with `parallel`). */
  readonly concurrency?: number | undefined;
  /** Lines of each script's output that a terminal shows; 0 for all, undefined for the default. */
  readonly elideLines?: number | undefined;
  /** How output is shown; undefined for the default of the terminal or CI service. */
  readonly output?: "stream" | "grouped" | "errors" | "json" | undefined;
  /** Undefined for the default of the terminal and the tasks. */
  readonly ui?: "stream" | "list" | undefined;
  /** Undefined for the default, "auto". */
  readonly logPrefix?: "none" | "task" | undefined;
  readonly ifPresent: boolean;
  readonly dryRun?: "text" | "json" | "html" | "mermaid" | undefined;
  /** Report files; the extension selects the format. */
  readonly reports: readonly string[];
  /** Static split of the plan over several machines. */
  readonly shard?: ShardSettings | undefined;
  /** Shared run with other machines. */
  readonly share?: ShareSettings | undefined;
}

export interface ShardSettings {
  /** From 1 up to `count`. */
  readonly number: number;
  readonly count: number;
  /** Reports of earlier runs, or folders of them. */
  readonly times: readonly string[];
}

const MAX_SHARDS = 1000;

/** Returns undefined unless the command line, not only rtfig.toml, selects several scripts or packages. @throws UserError */
export function readManySettings(
  invocation: Invocation,
  given: GivenOptions,
  environment: Readonly<Record<string, string | undefined>>,
): ManySettings | undefined {
  const { options, target, command } = invocation;
  const hasExpression = command === "run" && target !== undefined && isExpression(target);
  if (!hasExpression && !options.some((each) => selectsMany(each, target !== undefined))) return undefined;
  return readSelection(invocation, given, environment);
}

/** A folder such as "/srv/[id]/" is a path. */
function isExpression(target: string): boolean {
  return isRegularExpression(target) && directories.resolvePath(target) === null;
}

/** @throws UserError */
export function readSelection(
  { target, args }: Invocation,
  given: GivenOptions,
  environment: Readonly<Record<string, string | undefined>>,
): ManySettings {
  const [parallel, sequential] = [given.has("parallel"), given.has("sequential")];
  if (parallel && sequential)
    throw new UserError("--parallel cannot be used with --sequential", "remove one of them");
  const shard = readShard(given);
  if (shard && sequential)
    throw new UserError(
      "--sequential cannot be used with --shard",
      "remove --sequential: --concurrency=1 runs one script at a time, after its dependencies",
    );
  const words = target === undefined ? [] : [target, ...args];
  return {
    ...splitWords(words, parallel || sequential),
    filters: given.get("filter")?.all ?? [],
    workspaces: given.has("workspaces"),
    affected: given.has("affected") ? (given.get("affected")!.last ?? "") : undefined,
    parallel,
    sequential,
    noExitOnError: given.has("no-exit-on-error"),
    concurrency: readConcurrency(given, environment.RT_CONCURRENCY),
    elideLines: toCount(given.get("elide-lines")?.last),
    output: given.get("output")?.last as ManySettings["output"],
    ui: given.get("ui")?.last as ManySettings["ui"],
    logPrefix: readLogPrefix(given.get("log-prefix")?.last),
    ifPresent: given.has("if-present"),
    dryRun: readDryRun(given),
    reports: given.get("report")?.all ?? [],
    shard,
    share: readShareSettings(given),
  };
}

/** The option parser has validated the value. */
function readDryRun(given: GivenOptions): ManySettings["dryRun"] {
  if (!given.has("dry-run")) return undefined;
  return (given.get("dry-run")!.last as ManySettings["dryRun"]) ?? "text";
}

/** Returns whether the selected packages may depend on changes since a git revision, as with the filter `...[main]`. */
export function dependsOnChanges({ filters, affected }: Pick<ManySettings, "filters" | "affected">): boolean {
  const ends = ["]", "]...", "]^..."];
  return affected !== undefined || filters.some((filter) => ends.some((end) => filter.endsWith(end)));
}

/** Returns whether the run selects packages of the workspace, rather than the current package. */
export function choosesPackages({ filters, workspaces, affected }: ManySettings): boolean {
  return filters.length > 0 || workspaces || affected !== undefined;
}

export function selectsPackages({ options }: Invocation): boolean {
  return options.some((each) => selectsMany(each, false));
}

/** Without a script, only options that select packages count: they list the scripts. */
function selectsMany({ option, isConfigured }: Given, hasScript: boolean): boolean {
  return !isConfigured && (option.many === "packages" || (option.many === "scripts" && hasScript));
}

type WrittenWords = Pick<ManySettings, "scripts" | "args" | "isSeparated">;

/** With --parallel or --sequential every word up to `--` is a script; otherwise only the first one. */
function splitWords(words: readonly string[], takesMany: boolean): WrittenWords {
  const end = takesMany ? words.indexOf("--") : 1;
  const scripts = end < 0 ? words : words.slice(0, end);
  const rest = end < 0 ? [] : words.slice(end);
  const isSeparated = rest[0] === "--";
  return { scripts, args: isSeparated ? rest.slice(1) : rest, isSeparated };
}

/**
 * Precedence: the option, the environment (of this machine), rtfig.toml (of all users). With --parallel only the option
 * counts: servers never exit, so a server that waits for a free slot would never start.
 */
function readConcurrency(given: GivenOptions, variable: string | undefined): number | undefined {
  const option = given.get("concurrency");
  const isOnCommandLine = option?.isOnLine ?? false;
  const inherited = isOnCommandLine ? undefined : variable;
  const value = inherited ?? option?.last;
  const count = toCount(value);
  if (value === undefined || (count ?? 0) > 0)
    return given.has("parallel") && !isOnCommandLine ? undefined : count;
  const name = inherited === undefined ? "--concurrency" : "RT_CONCURRENCY";
  throw new UserError(
    `${name} needs a whole number from 1 up, not "${value}"`,
    "remove it to use the default",
  );
}

function readShard(given: GivenOptions): ShardSettings | undefined {
  const value = given.get("shard")?.last;
  const times = given.get("shard-times")?.all ?? [];
  if (value === undefined && times.length > 0 && !given.has("share"))
    throw new UserError("--shard-times has no effect without --shard", "give both, or neither");
  if (value === undefined) return undefined;
  const [, number = 0, count = 0] = (/^(\d+)\/(\d+)$/.exec(value) ?? []).map(Number);
  if (number >= 1 && number <= count && count <= MAX_SHARDS) return { number, count, times };
  const reason = count > MAX_SHARDS ? `at most ${MAX_SHARDS} shards` : "a number and a count, such as 2/5";
  throw new UserError(
    `--shard needs ${reason}, not "${oneLine(value)}"`,
    "of five machines the first takes --shard 1/5, the last --shard 5/5",
  );
}

/** Loads its module lazily: few runs are shared. */
function readShareSettings(given: GivenOptions): ShareSettings | undefined {
  if (!["share", "share-id", "share-name"].some((name) => given.has(name))) return undefined;
  const { readShare } = require("./share.ts") as typeof import("./share.ts");
  return readShare(given);
}

/** The option parser has validated the value. */
function readLogPrefix(value: string | undefined): ManySettings["logPrefix"] {
  return value === "none" || value === "task" ? value : undefined;
}

function toCount(value: string | undefined): number | undefined {
  const count = Number(value);
  return value === undefined || !Number.isSafeInteger(count) || count < 0 ? undefined : count;
}

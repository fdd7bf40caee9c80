// How many scripts run, or the scripts of many packages: which of them, in which order, and how they are shown.
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";
import type { Given, GivenOptions, Invocation } from "../../options/parse.ts";
import type { ShareSettings } from "./share.ts";

export interface ManySettings {
  /** Script names or globs (`build:*`); none to list what there is. */
  readonly scripts: readonly string[];
  /** For the scripts. */
  readonly args: readonly string[];
  /** Patterns of packages. */
  readonly filters: readonly string[];
  readonly workspaces: boolean;
  /** Packages changed since this commit and what depends on them; "" stands for the default branch. */
  readonly affected?: string | undefined;
  readonly parallel: boolean;
  readonly sequential: boolean;
  readonly noExitOnError: boolean;
  /** How many at once; undefined for the default (the cores; with `parallel`, all). */
  readonly concurrency?: number | undefined;
  /** Lines of each script's output that a terminal shows; 0 for all, undefined when nobody said. */
  readonly elideLines?: number | undefined;
  readonly ifPresent: boolean;
  readonly dryRun?: "text" | "json" | "html" | "mermaid" | undefined;
  /** Files for reports; what each gets its ending says. */
  readonly reports: readonly string[];
  /** Which part of it all is this machine's. */
  readonly shard?: ShardSettings | undefined;
  /** Where other machines carry out the same. */
  readonly share?: ShareSettings | undefined;
}

export interface ShardSettings {
  /** From 1 up to `count`. */
  readonly number: number;
  readonly count: number;
  /** Reports of earlier runs, or folders of them. */
  readonly times: readonly string[];
}

const MOST_SHARDS = 1000;

/** Undefined unless the command line, and not rtfig.toml alone, asks for many. Throws Failure. */
export function readManySettings(
  { options, target, args }: Invocation,
  given: GivenOptions,
  environment: Readonly<Record<string, string | undefined>>,
): ManySettings | undefined {
  if (!options.some((each) => asksForMany(each, target !== undefined))) return undefined;
  const [parallel, sequential] = [given.has("parallel"), given.has("sequential")];
  if (parallel && sequential)
    throw new UserError("--parallel and --sequential exclude each other", "give one of them");
  const shard = readShard(given);
  if (shard && sequential)
    throw new UserError(
      "--sequential and --shard exclude each other",
      "leave --sequential out: --concurrency=1 runs one script at a time, after those that it waits for",
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
    ifPresent: given.has("if-present"),
    dryRun: readDryRun(given),
    reports: given.get("report")?.all ?? [],
    shard,
    share: readSharing(given),
  };
}

/** Its values are those of the row, which are checked before this. */
function readDryRun(given: GivenOptions): ManySettings["dryRun"] {
  if (!given.has("dry-run")) return undefined;
  return (given.get("dry-run")!.last as ManySettings["dryRun"]) ?? "text";
}

/** Whether the scripts are those of packages that are looked for, not of the one that we stand in. */
export function choosesPackages({ filters, workspaces, affected }: ManySettings): boolean {
  return filters.length > 0 || workspaces || affected !== undefined;
}

export function selectsPackages({ options }: Invocation): boolean {
  return options.some((each) => asksForMany(each, false));
}

/** Without a script, only options that say which packages ask for something: the list of their scripts. */
function asksForMany({ option, isConfigured }: Given, hasScript: boolean): boolean {
  return !isConfigured && (option.many === "packages" || (option.many === "scripts" && hasScript));
}

/** With --parallel or --sequential every word is a script, up to `--`; otherwise only the first. */
function splitWords(words: readonly string[], takesMany: boolean): Pick<ManySettings, "scripts" | "args"> {
  const end = takesMany ? words.indexOf("--") : 1;
  const scripts = end < 0 ? words : words.slice(0, end);
  const rest = end < 0 ? [] : words.slice(end);
  return { scripts, args: rest[0] === "--" ? rest.slice(1) : rest };
}

/**
 * The option wins over the environment, which is this machine's, and that over rtfig.toml, which is everybody's. With
 * --parallel the option alone counts: servers never end, so that one which waits for its turn would never start.
 */
function readConcurrency(given: GivenOptions, variable: string | undefined): number | undefined {
  const option = given.get("concurrency");
  const isOnLine = option?.isOnLine ?? false;
  const inherited = isOnLine ? undefined : variable;
  const value = inherited ?? option?.last;
  const count = toCount(value);
  if (value === undefined || (count ?? 0) > 0) return given.has("parallel") && !isOnLine ? undefined : count;
  const name = inherited === undefined ? "--concurrency" : "RT_CONCURRENCY";
  throw new UserError(
    `${name} needs a whole number from 1 up, not "${value}"`,
    "leave it out for the default",
  );
}

function readShard(given: GivenOptions): ShardSettings | undefined {
  const value = given.get("shard")?.last;
  const times = given.get("shard-times")?.all ?? [];
  if (value === undefined && times.length > 0 && !given.has("share"))
    throw new UserError("--shard-times has no effect without --shard", "give both, or neither");
  if (value === undefined) return undefined;
  const [, number = 0, count = 0] = (/^(\d+)\/(\d+)$/.exec(value) ?? []).map(Number);
  if (number >= 1 && number <= count && count <= MOST_SHARDS) return { number, count, times };
  const reason = count > MOST_SHARDS ? `at most ${MOST_SHARDS} shards` : "a number and a count, such as 2/5";
  throw new UserError(
    `--shard needs ${reason}, not "${oneLine(value)}"`,
    "of five machines the first takes --shard 1/5, the last --shard 5/5",
  );
}

/** Few runs are: what reads it is loaded for them. */
function readSharing(given: GivenOptions): ShareSettings | undefined {
  if (!["share", "share-id", "share-name"].some((name) => given.has(name))) return undefined;
  const { readShare } = require("./share.ts") as typeof import("./share.ts");
  return readShare(given);
}

function toCount(value: string | undefined): number | undefined {
  const count = Number(value);
  return value === undefined || !Number.isSafeInteger(count) || count < 0 ? undefined : count;
}

// How many scripts run, or the scripts of many packages: which of them, in which order, and how they are shown.
import { Failure } from "../failure.ts";
import { allValues, hasOption, type Invocation, lastValue } from "../options/parse.ts";

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
  /** Lines of each script's output that a terminal shows; 0 for all. */
  readonly elideLines: number;
  readonly ifPresent: boolean;
  readonly dryRun?: "text" | "json" | undefined;
  /** File for the JSON report. */
  readonly report?: string | undefined;
}

/** Whether the line, and not only rtfig.toml, asks for many; undefined otherwise. Throws Failure. */
export function readManySettings(
  invocation: Invocation,
  environment: Readonly<Record<string, string | undefined>>,
): ManySettings | undefined {
  if (!asksForMany(invocation)) return undefined;
  const given = (name: string) => hasOption(invocation, name);
  if (given("parallel") && given("sequential"))
    throw new Failure("--parallel and --sequential exclude each other", "give one of them");
  return {
    ...splitWords(invocation),
    filters: allValues(invocation, "filter"),
    workspaces: given("workspaces"),
    affected: given("affected") ? (lastValue(invocation, "affected") ?? "") : undefined,
    parallel: given("parallel"),
    sequential: given("sequential"),
    noExitOnError: given("no-exit-on-error"),
    concurrency: readConcurrency(invocation, environment),
    elideLines: toCount(lastValue(invocation, "elide-lines")) ?? DEFAULT_ELIDED_LINES,
    ifPresent: given("if-present"),
    dryRun: given("dry-run") ? (lastValue(invocation, "dry-run") === "json" ? "json" : "text") : undefined,
    report: lastValue(invocation, "report"),
  };
}

const DEFAULT_ELIDED_LINES = 10;

/** Without a script, only options that say which packages ask for something: the list of their scripts. */
function asksForMany({ options, target }: Invocation): boolean {
  return options.some(
    ({ option, isConfigured }) =>
      !isConfigured && (option.many === "packages" || (option.many === "scripts" && target !== undefined)),
  );
}

/** With --parallel or --sequential every word is a script, up to `--`; otherwise only the first. */
function splitWords(invocation: Invocation): Pick<ManySettings, "scripts" | "args"> {
  if (invocation.target === undefined) return { scripts: [], args: [] };
  const words = [invocation.target, ...invocation.args];
  const takesMany = hasOption(invocation, "parallel") || hasOption(invocation, "sequential");
  const end = takesMany ? words.indexOf("--") : 1;
  const scripts = end < 0 ? words : words.slice(0, end);
  const rest = end < 0 ? [] : words.slice(end);
  return { scripts, args: rest[0] === "--" ? rest.slice(1) : rest };
}

/**
 * The option wins over the environment, which is this machine's, and that over rtfig.toml, which is everybody's. With
 * --parallel the option alone counts: servers never end, so that one which waits for its turn would never start.
 */
function readConcurrency(
  invocation: Invocation,
  environment: Readonly<Record<string, string | undefined>>,
): number | undefined {
  const given = invocation.options.findLast(({ option }) => option.name === "concurrency");
  const isOnLine = given !== undefined && !given.isConfigured;
  const inherited = isOnLine ? undefined : environment.RT_CONCURRENCY;
  const value = inherited ?? given?.value;
  const count = toCount(value);
  if (value === undefined || (count ?? 0) > 0)
    return hasOption(invocation, "parallel") && !isOnLine ? undefined : count;
  const name = inherited === undefined ? "--concurrency" : "RT_CONCURRENCY";
  throw new Failure(`${name} needs a whole number from 1 up, not "${value}"`, "leave it out for the default");
}

function toCount(value: string | undefined): number | undefined {
  const count = Number(value);
  return value === undefined || !Number.isSafeInteger(count) || count < 0 ? undefined : count;
}

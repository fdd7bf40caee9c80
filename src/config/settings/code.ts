// How code runs: a file, standard input, code given as an argument, and the engine's tools. From the options that are the
// engine's to the words that it takes.
//
// Contract: an option reaches the engine exactly once, as one word, so that no value is taken for a flag; what is carried
// out before the engine starts (its directory, its configuration) does not reach it again.
import type { Given, GivenOptions } from "../../options/parse.ts";
import { namesIn } from "../../options/values.ts";

export interface CodeSettings {
  /** The options that are the engine's, as the engine spells them. */
  readonly engineWords: readonly string[];
  /** The first option that only the engine's own start can honour, as "--smol"; undefined when there is none. */
  readonly engineOption?: string | undefined;
  /** `node` means rt in what the code starts. */
  readonly forceRuntime: boolean;
  /** Files of --env-file, in the order in which they were given. */
  readonly envFiles: readonly string[];
  /** The file of --tsconfig-override. */
  readonly tsconfig?: string | undefined;
  readonly preloads: readonly Preload[];
  /** The port of --port, which wins over the environment; not that of rtfig.toml. */
  readonly port?: string | undefined;
  /** A line for the user for each option that cannot be honoured here. */
  readonly unmet: readonly string[];
  /** The engine gets help with one of the options. */
  readonly isHelped: boolean;
  /** The registry is asked, whatever the cache has of its answers. */
  readonly asksRegistry: boolean;
  /** With --watch or --hot rt stays with the engine. */
  readonly isWatched: boolean;
}

/** A module to import before the program. */
export interface Preload {
  readonly module: string;
  /** The option, or the file, line and key, for messages. */
  readonly origin: string;
}

export function readCodeSettings(options: readonly Given[], given: GivenOptions): CodeSettings {
  const name = engineOption(options);
  return {
    engineWords: [...engineWords(options), ...completeOrder(given)],
    engineOption: name === undefined ? undefined : `--${name}`,
    forceRuntime: given.has("rt"),
    envFiles: given.get("env-file")?.all ?? [],
    tsconfig: given.get("tsconfig-override")?.last,
    preloads: options.flatMap(preloadOf),
    port: given.get("port")?.isOnLine ? given.get("port")!.last : undefined,
    unmet: findUnmet(given),
    isHelped: options.some(({ option }) => option.isHelped),
    asksRegistry: given.has("prefer-latest"),
    isWatched: given.has("watch") || given.has("hot"),
  };
}

function preloadOf({ option, value, locate }: Given): Preload[] {
  if ((option.aliasOf ?? option.name) !== "preload") return [];
  return [{ module: value!, origin: locate?.() ?? `--${option.name}` }];
}

/** docs/differences.md says what was tried. */
function findUnmet(given: GivenOptions): string[] {
  const lines: string[] = [];
  if (given.has("preserve-symlinks-main"))
    lines.push("--preserve-symlinks-main has no effect: the engine goes by the real path of the file");
  return lines.map((line) => `warning: ${line} (rt help differences)`);
}

/** Options of rt alone need no engine, but for --rt, which needs the PATH of a new process. */
function engineOption(options: readonly Given[]): string | undefined {
  for (const { option } of options)
    if (option.by !== "runner" || (option.aliasOf ?? option.name) === "rt") return option.name;
  return undefined;
}

function engineWords(options: readonly Given[]): string[] {
  const words: string[] = [];
  for (const given of options) {
    if (given.option.by === "runner" || given.option.isCarriedOut) continue;
    for (const each of splitList(given)) words.push(...spell(each));
  }
  return words;
}

/** The engine takes one name at a time. */
function splitList(given: Given): Given[] {
  if (!given.option.value?.isList || given.value === undefined) return [given];
  return namesIn(given.value).map((value) => ({ ...given, value }));
}

/** The engine's own order, complete. */
const EXTENSION_ORDER = [".tsx", ".ts", ".jsx", ".cts", ".cjs", ".js", ".mjs", ".mts", ".json"];

/**
 * Adds the extensions that an order leaves out to its end. Without them, the engine's require() would not find such files,
 * and its import would: it uses an order of its own.
 */
function completeOrder(given: GivenOptions): string[] {
  const order = given.get("extension-order")?.all.flatMap(namesIn);
  if (order === undefined) return [];
  return EXTENSION_ORDER.filter((extension) => !order.includes(extension)).map(
    (extension) => `--extension-order=${extension}`,
  );
}

/** Code is the exception: only as two words do the engine's subcommands not claim the first argument behind it. */
function spell({ option, value }: Given): string[] {
  const flag = option.forward ?? `--${option.aliasOf ?? option.name}`;
  if (option.value?.isCode) return [flag, value || " "]; // to the engine, no code at all is a call for help
  return [value === undefined ? flag : `${flag}=${value}`];
}

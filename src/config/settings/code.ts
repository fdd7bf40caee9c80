// Reads the settings for running code (files, standard input, code arguments, engine tools), including the engine's options.
//
// Invariants:
// - An option reaches the engine once, as one word, so that no value is parsed as a flag. Options that rt carries out before the
//   engine starts (directory, configuration) are not passed on.
import type { Given, GivenOptions } from "../../options/parse.ts";
import { namesIn } from "../../options/values.ts";

export interface CodeSettings {
  /** Options of the engine, in the engine's spelling. */
  readonly engineWords: readonly string[];
  /** The first option that needs an engine process, such as "--smol". */
  readonly engineOption?: string | undefined;
  /** `node` means rt in processes that the code starts. */
  readonly forceRuntime: boolean;
  /** Files of --env-file, in command-line order. */
  readonly envFiles: readonly string[];
  /** The file of --tsconfig-override. */
  readonly tsconfig?: string | undefined;
  readonly preloads: readonly Preload[];
  /** Port of --port, which overrides the environment; not that of rtfig.toml. */
  readonly port?: string | undefined;
  /** A warning for each option without effect. */
  readonly unmet: readonly string[];
  /** rt implements a part of one of the options for the engine. */
  readonly isHelped: boolean;
  /** The registry is queried even for cached answers. */
  readonly asksRegistry: boolean;
  /** --watch or --hot: rt keeps running beside the engine. */
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

/** Returns a warning for each option that the engine does not implement. docs/reference/differences.md explains them. */
function findUnmet(given: GivenOptions): string[] {
  const lines: string[] = [];
  if (given.has("preserve-symlinks-main"))
    lines.push("--preserve-symlinks-main has no effect: the engine goes by the real path of the file");
  return lines.map((line) => `warning: ${line} (rt help differences)`);
}

/** Finds the first option that needs an engine process. Among rt's own options this is only --rt, which changes PATH. */
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

/** Splits a list, because the engine accepts one name per option. */
function splitList(given: Given): Given[] {
  if (!given.option.value?.isList || given.value === undefined) return [given];
  return namesIn(given.value).map((value) => ({ ...given, value }));
}

/** The engine's default order. */
const EXTENSION_ORDER = [".tsx", ".ts", ".jsx", ".cts", ".cjs", ".js", ".mjs", ".mts", ".json"];

/**
 * Appends the extensions that --extension-order omits. Without them, the engine's require() would not find such files, but
 * its import would, because import uses a separate order.
 */
function completeOrder(given: GivenOptions): string[] {
  const order = given.get("extension-order")?.all.flatMap(namesIn);
  if (order === undefined) return [];
  return EXTENSION_ORDER.filter((extension) => !order.includes(extension)).map(
    (extension) => `--extension-order=${extension}`,
  );
}

/** Code needs two words: otherwise the engine parses the first argument after it as a subcommand. */
function spell({ option, value }: Given): string[] {
  const flag = option.forward ?? `--${option.aliasOf ?? option.name}`;
  if (option.value?.isCode) return [flag, value || " "]; // for empty code the engine would print its help
  return [value === undefined ? flag : `${flag}=${value}`];
}

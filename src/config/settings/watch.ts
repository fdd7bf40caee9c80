// How a script, a binary or a run of many is watched: what runs again at a change, and how it is ended before.
import { UserError } from "../../user-error.ts";
import type { Given, GivenOptions } from "../../options/parse.ts";

export interface WatchSettings {
  /** What is run, for messages. */
  readonly label: string;
  readonly silent: boolean;
  readonly clearsScreen: boolean;
  /** What asks it to end, as the option has it: src/runner/watch/script-watch.ts says which of these a script can be sent. */
  readonly signal?: string | undefined;
  /** Files, folders and globs; none for the project. Those of the command line take the place of rtfig.toml's. */
  readonly paths: readonly string[];
  /** Lines as of a .gitignore in the working directory. */
  readonly ignore: readonly string[];
  /** Which of these two options stand on the command line, as "--watch-path". */
  readonly narrowing: readonly string[];
}

/**
 * Undefined where nothing is to be watched: a list, and a plan that is printed, are not worth waiting for changes.
 * Throws Failure.
 */
export function readWatchSettings(
  target: string | undefined,
  options: readonly Given[],
  given: GivenOptions,
): WatchSettings | undefined {
  const narrowing = ["watch-path", "watch-ignore"].filter((name) => given.get(name)?.isOnLine);
  if (!given.has("watch") && narrowing.length > 0)
    throw new UserError(`--${narrowing[0]} needs --watch`, "rt help watching");
  if (target === undefined || !given.has("watch") || given.has("dry-run")) return undefined;
  return {
    label: target === "-" ? "[stdin]" : target,
    silent: given.has("silent"),
    clearsScreen: !given.has("no-clear-screen"),
    signal: given.get("watch-kill-signal")?.last,
    paths: onLineFirst("watch-path", options),
    ignore: given.get("watch-ignore")?.all ?? [],
    narrowing: narrowing.map((name) => `--${name}`),
  };
}

function onLineFirst(name: string, options: readonly Given[]): string[] {
  const all = options.filter(({ option }) => option.name === name);
  const onLine = all.filter(({ isConfigured }) => !isConfigured);
  return (onLine.length > 0 ? onLine : all).map(({ value }) => value!);
}

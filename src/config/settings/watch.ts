// Reads the settings of watch mode for scripts, binaries and runs of several scripts.
import { UserError } from "../../user-error.ts";
import type { Given, GivenOptions } from "../../options/parse.ts";

export interface WatchSettings {
  /** Name of the program in messages. */
  readonly label: string;
  readonly silent: boolean;
  readonly clearsScreen: boolean;
  /** Value of --watch-kill-signal; src/runner/watch/script-watch.ts validates it. */
  readonly signal?: string | undefined;
  /** Files, folders and globs; empty for the project. The command line replaces the list of rtfig.toml. */
  readonly paths: readonly string[];
  /** Lines in the syntax of a .gitignore in the working directory. */
  readonly ignore: readonly string[];
  /** Which of these two options the command line has, as "--watch-path". */
  readonly narrowing: readonly string[];
}

/**
 * Returns undefined without watch mode. Lists and printed plans are not watched.
 * @throws UserError
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
    paths: preferCommandLine("watch-path", options),
    ignore: given.get("watch-ignore")?.all ?? [],
    narrowing: narrowing.map((name) => `--${name}`),
  };
}

function preferCommandLine(name: string, options: readonly Given[]): string[] {
  const all = options.filter(({ option }) => option.name === name);
  const onLine = all.filter(({ isConfigured }) => !isConfigured);
  return (onLine.length > 0 ? onLine : all).map(({ value }) => value!);
}

// How a script, a binary or a run of many is watched: what runs again at a change, and how it is ended before.
import type { GivenOptions } from "../options/parse.ts";

export interface WatchSettings {
  /** What is run, for messages. */
  readonly label: string;
  readonly clearsScreen: boolean;
  /** What asks it to end, as the option has it: src/run/watch/script-watch.ts says which of these a script can be sent. */
  readonly signal?: string | undefined;
}

/** Undefined where nothing is to be watched: a list, and a plan that is printed, are not worth waiting for changes. */
export function readWatchSettings(
  target: string | undefined,
  given: GivenOptions,
): WatchSettings | undefined {
  if (target === undefined || !given.has("watch") || given.has("dry-run")) return undefined;
  return {
    label: target,
    clearsScreen: !given.has("no-clear-screen"),
    signal: given.get("watch-kill-signal")?.last,
  };
}

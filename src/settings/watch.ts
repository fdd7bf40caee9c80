// How a script, a binary or a run of many is watched: what runs again at a change, and how it is ended before.
import { hasOption, type Invocation, lastValue } from "../options/parse.ts";
import { commandLine } from "./command-line.ts";

export interface WatchSettings {
  /** What is run, for messages. */
  readonly label: string;
  /** The words of the rt that runs it, each time anew. */
  readonly words: readonly string[];
  readonly clearsScreen: boolean;
  /** What asks it to end, as the option has it: src/run/watch/script-watch.ts says which of these a script can be sent. */
  readonly signal?: string | undefined;
}

const CARRIED_OUT = ["watch", "no-clear-screen", "watch-kill-signal", "cwd"];

/** Undefined where nothing is to be watched: a list, and a plan that is printed, are not worth waiting for changes. */
export function readWatchSettings(invocation: Invocation): WatchSettings | undefined {
  const { target } = invocation;
  if (target === undefined || !hasOption(invocation, "watch") || hasOption(invocation, "dry-run"))
    return undefined;
  return {
    label: target,
    words: commandLine(invocation, CARRIED_OUT),
    clearsScreen: !hasOption(invocation, "no-clear-screen"),
    signal: lastValue(invocation, "watch-kill-signal"),
  };
}

// Rebuilds the command line for another rt process, which runs a program while this one watches. That process reads rtfig.toml
// itself.
import { host } from "../../../platform/processes/process.ts";
import type { Given, Invocation } from "../../options/parse.ts";

export interface CommandLines {
  /** For the rt that executes the engine, which also watches. */
  readonly code: readonly string[];
  /** For the rt that runs a script once. */
  readonly script: readonly string[];
}

const WATCHING = ["watch", "watch-path", "watch-ignore", "watch-kill-signal", "no-clear-screen"];

/** Returns the user's command line without the options that rt has carried out already. */
export function commandLines(invocation: Invocation): CommandLines {
  return {
    code: wordsWithout(["cwd"], invocation),
    script: wordsWithout([...WATCHING, "cwd"], invocation),
  };
}

function wordsWithout(carriedOut: readonly string[], invocation: Invocation): string[] {
  const { options, command, target, args } = invocation;
  const words = options
    .filter(({ option, isConfigured }) => !isConfigured && !carriedOut.includes(option.name))
    .map(spell);
  const names = [command, target].filter((name) => name !== undefined);
  return [...words, ...names, ...host.exactArguments(args)];
}

function spell({ option, value }: Given): string {
  return value === undefined ? `--${option.name}` : `--${option.name}=${value}`;
}

// A command line put together again, for another rt that does what this one does not: it runs a program while this one
// watches. It reads rtfig.toml by itself.
import { host } from "../../../platform/processes/process.ts";
import type { Given, Invocation } from "../../options/parse.ts";

export interface CommandLines {
  /** Of the rt that becomes the engine, which watches as well. */
  readonly code: readonly string[];
  /** Of the rt that runs a script once. */
  readonly script: readonly string[];
}

const WATCHING = ["watch", "watch-path", "watch-ignore", "watch-kill-signal", "no-clear-screen"];

/** What the user wrote, without the options that are carried out already. */
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

// Rebuilds the command line for another rt process, which runs a program while this one watches it or restricts it. That process
// reads rtfig.toml itself.
import { host } from "../../../platform/processes/process.ts";
import { RESTRICTING_OPTIONS } from "../../options/commands.ts";
import type { Given, Invocation } from "../../options/parse.ts";

export interface CommandLines {
  /** For the rt that executes the engine, which also watches. */
  readonly code: readonly string[];
  /** For the rt that runs a script once. */
  readonly script: readonly string[];
  /** For the rt that runs restricted. It gets values of secrets, and cannot fetch them. */
  readonly restricted: readonly string[];
}

/** Options that the rt outside of the restrictions carries out. */
const RESTRICTING = [...RESTRICTING_OPTIONS, "secret", "no-redact"];
const WATCHING = ["watch", "watch-path", "watch-ignore", "watch-kill-signal", "no-clear-screen"];

/** Returns the user's command line without the options that rt has carried out already. */
export function commandLines(invocation: Invocation): CommandLines {
  return {
    code: wordsWithout(["cwd"], invocation),
    script: wordsWithout([...WATCHING, "cwd"], invocation),
    restricted: wordsWithout([...RESTRICTING, "cwd"], invocation),
  };
}

function wordsWithout(carriedOut: readonly string[], invocation: Invocation): string[] {
  const { options, command, target, args } = invocation;
  const words = options
    .filter(({ option, isConfigured }) => !isConfigured && !carriedOut.includes(option.name))
    .map(spell);
  const names = [command, target].filter((name) => name !== undefined);
  const isCode = options.some(({ option }) => option.evaluates);
  const end = isCode || (target !== undefined && target !== "-" && target.startsWith("-")) ? ["--"] : [];
  return [...words, ...end, ...names, ...host.exactArguments(args)];
}

function spell({ option, value }: Given): string {
  return value === undefined ? `--${option.name}` : `--${option.name}=${value}`;
}

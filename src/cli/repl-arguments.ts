// `rt repl` in the words of the runner. The engine's own REPL is written in its own language, and nothing of ours runs in it
// before the first line; so this is that of --interactive, in which rt and TypeScript are.
import type { Option } from "../options/options.ts";
import { type Invocation, parseCommandLine, UsageError } from "../options/parse.ts";

/** Code that is given needs no REPL: it is `rt -e` and `rt -p` then, as it is the same for the engine. */
const CODE = ["eval", "print"];

/** Throws UsageError. */
export function readRepl({ options, args }: Invocation, table: readonly Option[]): Invocation {
  const given = parseCommandLine(args, table);
  if (given.asksFor) return { ...given, command: "repl" };
  const hasCode = given.options.some(({ option }) => CODE.includes(option.name));
  const word = given.command ?? given.target;
  if (!hasCode && word !== undefined)
    throw new UsageError(`rt repl takes options alone, not "${word}"`, "a file is run by: rt <file>");
  const interactive = table.filter(({ name }) => name === "interactive").map((option) => ({ option }));
  return { ...given, options: [...options, ...given.options, ...(hasCode ? [] : interactive)] };
}

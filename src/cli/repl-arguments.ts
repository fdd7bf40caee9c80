// Translates `rt repl` into an invocation of `--interactive`.
//
// Non-obvious:
// - The engine's REPL cannot load rt before the first line; the Node.js-compatible one has rt and TypeScript.
import type { Option } from "../options/options.ts";
import { type Invocation, parseCommandLine, UsageError } from "../options/parse.ts";

/** With one of these, `rt repl` runs the code as `rt -e` and `rt -p` do, like the engine's command. */
const CODE = ["eval", "print"];

/** @throws UsageError */
export function readRepl({ options, args }: Invocation, table: readonly Option[]): Invocation {
  const given = parseCommandLine(args, table);
  if (given.asksFor) return { ...given, command: "repl" };
  const hasCode = given.options.some(({ option }) => CODE.includes(option.name));
  const word = given.command ?? given.target;
  if (!hasCode && word !== undefined)
    throw new UsageError(`rt repl accepts options only, not "${word}"`, "to run a file: rt <file>");
  const interactive = table.filter(({ name }) => name === "interactive").map((option) => ({ option }));
  return { ...given, options: [...options, ...given.options, ...(hasCode ? [] : interactive)] };
}

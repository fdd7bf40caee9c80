// What `rt x` is told in front of the package's name: that rt is to stand in for Node.js, by each of its names. Behind the
// package's name the words are the package's own.
import type { Invocation } from "../options/parse.ts";

const FORCED = ["--rt", "--bun", "-b"];
/** Those that a value follows. */
const VALUED = ["-p", "--package"];

/** As if --rt had been written in front of `x`. */
export function readForced(invocation: Invocation): Invocation {
  const { args, options } = invocation;
  let end = 0;
  while (args[end]?.startsWith("-") && args[end] !== "--") end += VALUED.includes(args[end]!) ? 2 : 1;
  const own = args.slice(0, end).filter((word) => !FORCED.includes(word));
  if (own.length === Math.min(end, args.length)) return invocation;
  const option = { name: "rt", by: "runner", group: "Runtime and process control", help: "" } as const;
  return { ...invocation, options: [...options, { option }], args: [...own, ...args.slice(end)] };
}

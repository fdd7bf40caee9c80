// A command line that is for a tool of the engine: which words are the tool's, and what rt has to read of them first.
//
// Surprising: a tool reads rtfig.toml by itself, so what the file says is no option here.
import type { Config } from "../rtfig.ts";
import type { Invocation } from "../../options/parse.ts";

export interface Tool {
  readonly name: string;
  /** Behind its name. */
  readonly words: readonly string[];
}

export interface ToolLine {
  readonly invocation: Invocation;
  readonly tool: Tool;
  /** The configuration that the tool's own words name. */
  readonly config?: string | undefined;
}

export function readToolLine(written: Invocation): ToolLine {
  const name = written.command!;
  const invocation =
    name === "x" ? readForced(written) : RELOADED.includes(name) ? readHot(written) : written;
  const { args, path } = findOwnConfig(invocation.args);
  return { invocation, tool: { name, words: args }, config: path };
}

/** What the engine would do before `rt` is there stands in front of the words: see config/rtfig.ts. */
export function withPreloads({ name, words }: Tool, config: Config | undefined): Tool {
  const setting = config?.settings.find(({ path }) => path.join(".") === `${name}.preload`);
  if (name !== "test" || !setting) return { name, words };
  const preloads = [setting.value].flat().map((module) => `--preload=${String(module)}`);
  return { name, words: [...preloads, ...words] };
}

/** A tool's own words may name the configuration; it is ours to read first. */
function findOwnConfig(args: readonly string[]): { args: readonly string[]; path?: string } {
  const end = args.indexOf("--");
  const index = args.findIndex(
    (word, position) => (end < 0 || position < end) && (word === "--config" || word.startsWith("--config=")),
  );
  if (index < 0) return { args };
  const isSplit = args[index] === "--config";
  const path = isSplit ? args[index + 1] : args[index]!.slice("--config=".length);
  if (path === undefined) return { args };
  return { args: [...args.slice(0, index), ...args.slice(index + (isSplit ? 2 : 1))], path };
}

/** The tools that the row of --hot names. */
const RELOADED = ["test", "build"];
/** The option of `rt build` whose value may be any option. */
const BUILT_IN = "--compile-exec-argv";

/** As if --watch had been written: the engine takes --hot in these tools and does nothing. */
function readHot({ options, args, ...rest }: Invocation): Invocation {
  const end = args.indexOf("--");
  const isHot = (word: string, index: number) =>
    word === "--hot" && (end < 0 || index < end) && args[index - 1] !== BUILT_IN;
  return {
    ...rest,
    options: options.map((given) =>
      given.option.name === "hot" ? { ...given, option: { ...given.option, name: "watch" } } : given,
    ),
    args: args.map((word, index) => (isHot(word, index) ? "--watch" : word)),
  };
}

/** What tells `rt x` that rt is to stand in for Node.js; behind the package's name the words are the package's own. */
const FORCED = ["--rt", "--bun", "-b"];
/** Those that a value follows. */
const VALUED = ["-p", "--package"];

/** As if --rt had been written in front of `x`. */
function readForced(invocation: Invocation): Invocation {
  const { args, options } = invocation;
  let end = 0;
  while (args[end]?.startsWith("-") && args[end] !== "--") end += VALUED.includes(args[end]!) ? 2 : 1;
  const own = args.slice(0, end).filter((word) => !FORCED.includes(word));
  if (own.length === Math.min(end, args.length)) return invocation;
  const option = { name: "rt", by: "runner", group: "Runtime and process control", help: "" } as const;
  return { ...invocation, options: [...options, { option }], args: [...own, ...args.slice(end)] };
}

// Parses the command line of an engine tool: the tool's words, and the options that rt must read first.
//
// Non-obvious: a tool reads rtfig.toml itself, so the file's options are not added to its command line.
import type { Config } from "../rtfig.ts";
import { acceptsRestriction, RESTRICTING_OPTIONS } from "../../options/commands.ts";
import type { Option } from "../../options/options.ts";
import type { Given, Invocation } from "../../options/parse.ts";
import { findFault } from "../../options/values.ts";
import { UserError } from "../../user-error.ts";

export interface Tool {
  readonly name: string;
  /** Words after its name. */
  readonly words: readonly string[];
}

export interface ToolLine {
  readonly invocation: Invocation;
  readonly tool: Tool;
  /** Value of --config among the tool's words. */
  readonly config?: string | undefined;
}

/** @throws UserError */
export function readToolLine(written: Invocation): ToolLine {
  const name = written.command!;
  const read = acceptsRestriction(name) ? readRestriction(written) : written;
  const invocation = name === "x" ? readForced(read) : RELOADED.includes(name) ? readHot(read) : read;
  const { args, path } = findOwnConfig(invocation.args);
  return { invocation, tool: { name, words: args }, config: path };
}

/** Adds the preloads of [test] as options, because the engine would run them before `rt` exists: see config/rtfig.ts. */
export function withPreloads({ name, words }: Tool, config: Config | undefined): Tool {
  if (name !== "test") return { name, words };
  const preloads = [config?.content.test?.preload ?? []].flat().map((module) => `--preload=${module}`);
  return { name, words: [...preloads, ...words] };
}

/** Extracts --config from the tool's words, because rt reads the file first. */
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

/** Tools that accept --hot. */
const RELOADED = ["test", "build"];
/** The option of `rt build` whose value may be any option. */
const BUILT_IN = "--compile-exec-argv";

/** Replaces --hot by --watch, because the engine accepts --hot in these tools and ignores it. */
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

const RESTRICTING = new RegExp(`^--(${RESTRICTING_OPTIONS.join("|")})(?:=(.*))?$`, "s");

/** Converts words of the tool to options of rt. @throws UserError */
function readRestriction(invocation: Invocation): Invocation {
  const { args, command, options } = invocation;
  const end = command === "x" ? endOfFlags(args) : args.indexOf("--");
  const own = end < 0 ? args : args.slice(0, end);
  if (!own.some((word) => RESTRICTING.test(word))) return invocation;
  // Loaded only here: creating the table takes time.
  const { OPTIONS } = require("../../options/options.ts") as typeof import("../../options/options.ts");
  const given = own.flatMap((word) => optionOf(word, OPTIONS) ?? []);
  const rest = own.filter((word) => !RESTRICTING.test(word));
  return { ...invocation, options: [...options, ...given], args: [...rest, ...args.slice(own.length)] };
}

function optionOf(word: string, options: readonly Option[]): Given | undefined {
  const [, name, value] = RESTRICTING.exec(word) ?? [];
  const option = options.find((each) => each.name === name);
  if (!option) return undefined;
  if (value === undefined) return { option };
  const fault = option.value ? findFault(option, value) : { reason: "takes no value" };
  if (fault) throw new UserError(`--${name} ${fault.reason}`, fault.hint);
  return { option, value };
}

/** Flags of `rt x` that make `node` mean rt. Words after the package's name belong to the package. */
const FORCED = ["--rt", "--bun", "-b"];
/** Flags that are followed by a value. */
const VALUED = ["-p", "--package"];

/** Converts these flags to --rt. */
function readForced(invocation: Invocation): Invocation {
  const { args, options } = invocation;
  const end = endOfFlags(args);
  const own = args.slice(0, end).filter((word) => !FORCED.includes(word));
  if (own.length === Math.min(end, args.length)) return invocation;
  const option = { name: "rt", by: "runner", group: "Runtime and process control", help: "" } as const;
  return { ...invocation, options: [...options, { option }], args: [...own, ...args.slice(end)] };
}

/** The index after the flags of `rt x`: of the binary's name, or of a `--` in front of it. */
export function endOfFlags(args: readonly string[]): number {
  let end = 0;
  while (args[end]?.startsWith("-") && args[end] !== "--") end += VALUED.includes(args[end]!) ? 2 : 1;
  return end;
}

// Decides how a command line is carried out. Pure: an invocation, what its target turned out to be, and a few
// facts go in; a Plan comes out, which execution.ts carries out and RT_DEBUG=plan prints. No
// other place chooses.
//
//   in-process   import the file here, into this process
//   engine       become the engine, with its options and our globals as a preload
//   program      become a program
//   script       run hooks and script in the system's shell, becoming the last of them
//   refuse       say what is wrong
import { type Given, hasOption, type Invocation } from "../options/parse.ts";
import type { Target } from "./target/target.ts";

export type Plan =
  | {
      readonly mode: "in-process";
      readonly file: string;
      readonly args: readonly string[];
      /** What the engine would be given behind the file, should it have to take over: it drops a `--` itself. */
      readonly engineArgs: readonly string[];
      /** The rtfig.toml that the engine would then go by. */
      readonly config?: string;
    }
  | {
      readonly mode: "engine";
      readonly argv: readonly string[];
      readonly reason: string;
      /** The entry point, where there is one. */
      readonly file?: string;
    }
  | {
      readonly mode: "program";
      readonly path: string;
      readonly name: string;
      readonly args: readonly string[];
    }
  | {
      readonly mode: "script";
      readonly target: Extract<Target, { kind: "script" }>;
      readonly args: readonly string[];
    }
  | { readonly mode: "nothing" }
  | {
      readonly mode: "refuse";
      readonly message: string;
      readonly hint?: string;
      /** A name to look for similar ones of. */
      readonly notFound?: string;
    };

export interface Facts {
  /** Why the file at hand cannot run in this process; see file/engine-reason.ts. */
  readonly engineReason?: string;
  /** Whether standard input, where it is the program, has nothing in it. */
  readonly isInputEmpty?: boolean;
  /** The rtfig.toml that was read. */
  readonly config?: string;
}

export function planRun(invocation: Invocation, target: Target, facts: Facts = {}): Plan {
  const { args } = invocation;
  const given = (name: string) => invocation.options.some(({ option }) => option.name === name);
  switch (target.kind) {
    case "file":
      return planFile(invocation, target.path, facts);
    case "stdin":
      if (facts.isInputEmpty) {
        return {
          mode: "refuse",
          message: "Standard input is empty",
          hint: "write code to it, as in: rt run - < file",
        };
      }
      return {
        mode: "engine",
        argv: ["run", ...engineOptions(invocation), "-", ...args],
        reason: "code on standard input",
      };
    case "none":
      return {
        mode: "engine",
        // Without the `--` the engine would read an argument that looks like an option as one.
        argv: [...engineOptions(invocation), ...(args[0]?.startsWith("-") ? ["--"] : []), ...args],
        reason: "code given as an argument",
      };
    case "script":
      return { mode: "script", target, args: args[0] === "--" ? args.slice(1) : args };
    case "program":
      return { mode: "program", path: target.path, name: target.name, args };
    case "unrunnable":
      return { mode: "refuse", message: `Cannot run "${target.path}"`, hint: target.why };
    case "missing":
      if (given("if-present")) return { mode: "nothing" };
      return {
        mode: "refuse",
        message: `${target.what} not found "${clip(target.name)}"`,
        notFound: target.name,
      };
  }
}

/** Code that was meant for -e can be long. */
function clip(name: string): string {
  return name.length <= LONGEST_NAME ? name : `${name.slice(0, LONGEST_NAME)}...`;
}

const LONGEST_NAME = 200;

/** The name of an option that only the engine's own start can honour; --rt needs the PATH of a new process. */
export function engineOption({ options }: Invocation): string | undefined {
  for (const { option } of options)
    if (option.by !== "runner" || (option.aliasOf ?? option.name) === "rt") return option.name;
  return undefined;
}

function planFile(invocation: Invocation, path: string, { engineReason, config }: Facts): Plan {
  const option = engineOption(invocation);
  const reason = option ? `--${option}` : engineReason;
  if (reason)
    return {
      mode: "engine",
      argv: [...engineOptions(invocation), path, ...invocation.args],
      reason,
      file: path,
    };
  const args = invocation.args[0] === "--" ? invocation.args.slice(1) : invocation.args;
  return {
    mode: "in-process",
    file: path,
    args,
    engineArgs: invocation.args,
    ...(config === undefined ? {} : { config }),
  };
}

/** How the engine spells what was given; always in one word, so that no value is taken for a flag. */
function engineOptions({ options }: Invocation): string[] {
  const words: string[] = [];
  for (const given of options) {
    if (given.option.by === "runner" || CARRIED_OUT.has(given.option.name)) continue;
    for (const each of splitList(given)) words.push(...spell(each));
  }
  return words;
}

/** Done before the engine starts: it is in the directory, and is given the configuration, already. */
const CARRIED_OUT = new Set(["cwd", "config"]);

/** Options of which the engine takes one name at a time. */
const LISTS = new Set(["conditions", "main-fields", "extension-order"]);

function splitList(given: Given): Given[] {
  if (!LISTS.has(given.option.name) || given.value === undefined) return [given];
  const values = given.value.split(",").map((value) => value.trim());
  return values.filter((value) => value !== "").map((value) => ({ ...given, value }));
}

/** Code is the exception: only in this form do the engine's subcommands not claim the first argument behind it. */
const CODE: Readonly<Record<string, string>> = { eval: "-e", print: "-p" };

function spell({ option, value }: Given): string[] {
  const code = CODE[option.name];
  if (code !== undefined) return [code, value || " "]; // to the engine, no code at all is a call for help
  const flag = option.forward ?? `--${option.aliasOf ?? option.name}`;
  return [value === undefined ? flag : `${flag}=${value}`];
}

/** A tool of the engine: its own words. That which runs a package's binary knows --rt by the engine's name. */
export function planTool(command: string, invocation: Invocation): Plan {
  const isForced = command === "x" && hasOption(invocation, "rt");
  const argv = [command, ...(isForced ? ["--bun"] : []), ...engineOptions(invocation), ...invocation.args];
  return { mode: "engine", argv, reason: `the ${command} tool` };
}

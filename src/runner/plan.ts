// Decides how a command line is carried out. Pure: settings, what the target turned out to be, and a few facts go in; a
// Plan comes out, which execution.ts carries out and RT_DEBUG=plan prints. No other place chooses.
//
//   in-process   import the file here, into this process
//   engine       become the engine, with its options and our globals as a preload
//   program      become a program
//   script       run hooks and script in the system's shell, becoming the last of them
//   refuse       say what is wrong
import type { CodeSettings } from "../config/settings/code.ts";
import type { RunSettings } from "../config/settings/settings.ts";
import type { RunTarget } from "./resolve/target.ts";

export type ExecutionPlan =
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
      /** In front of the user's. */
      readonly words?: readonly string[];
      readonly args: readonly string[];
    }
  | {
      readonly mode: "script";
      readonly target: Extract<RunTarget, { kind: "script" }>;
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

export type RunRequest = Pick<RunSettings, "args" | "ifPresent" | "code">;

export function planRun(request: RunRequest, target: RunTarget, facts: Facts = {}): ExecutionPlan {
  const { args, ifPresent, code } = request;
  switch (target.kind) {
    case "file":
      return planFile(request, target.path, facts);
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
        // Started again, the engine would look for a file of that name, and end: watch/script-watch.ts does it.
        argv: ["run", ...code.engineWords.filter((word) => word !== "--watch"), "-", ...args],
        reason: "code on standard input",
      };
    case "none":
      return {
        mode: "engine",
        // Without the `--` the engine would read an argument that looks like an option as one.
        argv: [...code.engineWords, ...(args[0]?.startsWith("-") ? ["--"] : []), ...args],
        reason: "code given as an argument",
      };
    case "script":
      return { mode: "script", target, args: args[0] === "--" ? args.slice(1) : args };
    case "program":
      return {
        mode: "program",
        path: target.path,
        name: target.name,
        ...(target.words && { words: target.words }),
        args,
      };
    case "unrunnable":
      return { mode: "refuse", message: `Cannot run "${target.path}"`, hint: target.why };
    case "missing":
      if (ifPresent) return { mode: "nothing" };
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

function planFile({ args, code }: RunRequest, path: string, { engineReason, config }: Facts): ExecutionPlan {
  const reason = code.engineOption ?? engineReason;
  if (reason) return { mode: "engine", argv: [...code.engineWords, path, ...args], reason, file: path };
  return {
    mode: "in-process",
    file: path,
    args: args[0] === "--" ? args.slice(1) : args,
    engineArgs: args,
    ...(config === undefined ? {} : { config }),
  };
}

/** A tool of the engine: its own words. That which runs a package's binary knows --rt by the engine's name. */
export function planTool(command: string, words: readonly string[], code: CodeSettings): ExecutionPlan {
  const isForced = command === "x" && code.forceRuntime;
  const argv = [command, ...(isForced ? ["--bun"] : []), ...code.engineWords, ...words];
  return { mode: "engine", argv, reason: `the ${command} tool` };
}

// Decides how a command line is executed. Pure: settings, target and facts in, plan out. execution.ts executes it,
// RT_DEBUG=plan prints it.
//
//   in-process   import the file into this process
//   engine       become the engine, with its options and the runtime as a preload
//   program      become a program (exec)
//   script       run hooks and script in a shell, becoming the last of them
//   refuse       print an error
import type { CodeSettings } from "../config/settings/code.ts";
import type { RunSettings } from "../config/settings/settings.ts";
import type { RunTarget } from "./resolve/target.ts";

export type ExecutionPlan =
  | {
      readonly mode: "in-process";
      readonly file: string;
      readonly args: readonly string[];
      /** Arguments for the engine as a fallback: it removes a `--` itself. */
      readonly engineArgs: readonly string[];
      /** The rtfig.toml that the engine would use. */
      readonly config?: string;
    }
  | {
      readonly mode: "engine";
      readonly argv: readonly string[];
      readonly reason: string;
      /** The entry point, if there is one. */
      readonly file?: string;
    }
  | {
      readonly mode: "program";
      readonly path: string;
      readonly name: string;
      /** Arguments in front of the user's. */
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
      /** A name to find similar ones for. */
      readonly notFound?: string;
    };

export type ScriptPlan = Extract<ExecutionPlan, { mode: "script" }>;

export interface Facts {
  /** Why the file cannot run in this process (file/engine-reason.ts). */
  readonly engineReason?: string;
  /** Whether standard input is the program and is empty. */
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
        // Not --watch: the engine would look for a file of that name. watch/script-watch.ts restarts it.
        argv: ["run", ...code.engineWords.filter((word) => word !== "--watch"), "-", ...args],
        reason: "code on standard input",
      };
    case "none":
      return {
        mode: "engine",
        // Without `--` the engine would parse an argument as an option.
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

/** Code that was meant for -e may be long. */
function clip(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH)}...`;
}

const MAX_NAME_LENGTH = 200;

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

/** Plans an engine tool with its own arguments. `rt x` passes --rt on as --bun. */
export function planTool(command: string, words: readonly string[], code: CodeSettings): ExecutionPlan {
  const isForced = command === "x" && code.forceRuntime;
  const argv = [command, ...(isForced ? ["--bun"] : []), ...code.engineWords, ...words];
  return { mode: "engine", argv, reason: `the ${command} tool` };
}

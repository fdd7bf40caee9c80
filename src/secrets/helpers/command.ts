// Runs `rt secrets helper`: dispatches to the credential helpers that git, docker, AWS tools and npm start.
//
// Invariants:
// - Standard output contains only what the tool's protocol requires.
// - A helper never prompts when a program started it, and never prints a value to a terminal.
// - Errors follow the tool's protocol. If it defines none: one line and a hint on standard error, with the exit codes of
//   `rt secrets`.
import { printable } from "../../printable.ts";
import { HELPER_FLAGS, type HelperTool, type HelperName, HELPERS } from "../commands.ts";
import { parseArguments, ArgumentError } from "../command-arguments.ts";
import { runAwsHelper } from "./aws.ts";
import { installDocker, uninstallDocker } from "./docker-config.ts";
import { runDockerHelper } from "./docker.ts";
import { installGit, uninstallGit } from "./git-config.ts";
import { runGitHelper } from "./git.ts";
import { runNpmHelper } from "./npm.ts";

type HelperHandler = (action: string, operand: string) => Promise<number>;

const HANDLERS: Readonly<Record<HelperName, HelperHandler>> = {
  git: runGitHelper,
  docker: runDockerHelper,
  aws: runAwsHelper,
  npm: runNpmHelper,
};

/** Tools whose protocol defines how to handle an unknown action, so that their helpers receive every action. */
const PASS_ALL_ACTIONS: readonly HelperName[] = ["git", "docker"];

interface Installation {
  install(isLocal: boolean): void;
  uninstall(isLocal: boolean): void;
}

const INSTALLATIONS: Readonly<Partial<Record<HelperName, Installation>>> = {
  git: { install: installGit, uninstall: uninstallGit },
  docker: { install: installDocker, uninstall: uninstallDocker },
};

/** @throws ArgumentError, SecretsError */
export async function runHelperCommand(
  args: readonly string[],
  showHelp: () => Promise<void>,
): Promise<number> {
  const [first, ...actionArgs] = args;
  const own = PASS_ALL_ACTIONS.find((name) => name === first);
  if (own && actionArgs.length === 1 && !actionArgs[0]!.startsWith("-"))
    return await HANDLERS[own](actionArgs[0]!, "");
  const { options, operands } = parseArguments(args, HELPER_FLAGS);
  if (options.has("help")) {
    await showHelp();
    return 0;
  }
  const [tool, ...rest] = operands;
  const known = Object.keys(HELPERS).join(", ");
  if (tool === undefined)
    throw new ArgumentError("rt secrets helper needs the name of a tool", `use one of: ${known}`);
  if (!isHelper(tool))
    throw new ArgumentError(`Unknown credential helper "${printable(tool)}"`, `use one of: ${known}`);
  if (options.has("install") || options.has("uninstall")) return changeInstallation(tool, rest, options);
  if (options.has("local"))
    throw new ArgumentError(
      "--local needs --install or --uninstall",
      "rt secrets helper --install --local git",
    );
  return await runAction(tool, rest);
}

function isHelper(tool: string): tool is HelperName {
  return Object.hasOwn(HELPERS, tool);
}

async function runAction(tool: HelperName, [action, operand, ...more]: readonly string[]): Promise<number> {
  const { actions, operand: operandUsage }: HelperTool = HELPERS[tool];
  const hint = ["rt secrets helper", tool, actions.join("|"), operandUsage].filter(Boolean).join(" ");
  if (action === undefined) throw new ArgumentError(`rt secrets helper ${tool} needs an action`, hint);
  // The messages do not repeat arguments: one may be a secret value typed in the wrong position.
  if (!actions.includes(action))
    throw new ArgumentError(`rt secrets helper ${tool} has no such action`, hint);
  if ((operand === undefined) !== (operandUsage === undefined) || more.length > 0)
    throw new ArgumentError(
      operandUsage
        ? `rt secrets helper ${tool} ${action} takes one argument`
        : `rt secrets helper ${tool} ${action} takes no arguments`,
      hint,
    );
  return await HANDLERS[tool](action, operand ?? "");
}

function changeInstallation(tool: HelperName, rest: readonly string[], options: ReadonlySet<string>): number {
  const installation = INSTALLATIONS[tool];
  if (!installation)
    throw new ArgumentError(
      `rt does not write the configuration of ${tool}`,
      "see rt help credential-helpers for the lines to add",
    );
  if (rest.length > 0) throw new ArgumentError("--install and --uninstall take the name of one tool");
  if (options.has("install") && options.has("uninstall"))
    throw new ArgumentError("--install cannot be used with --uninstall", "remove one of them");
  const isLocal = options.has("local");
  if (isLocal && tool !== "git")
    throw new ArgumentError(`${tool} has no per-project configuration`, "remove --local");
  if (options.has("install")) installation.install(isLocal);
  else installation.uninstall(isLocal);
  return 0;
}

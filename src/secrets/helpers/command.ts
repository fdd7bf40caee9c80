// `rt secrets helper`: what other people's tools start to get at the credential store, each by its own protocol.
//
// Contract: standard output has what the protocol demands and nothing else. No helper asks anything where a program has
// started it, and none prints a value to a terminal: `rt secrets get` is for people. A protocol's own rules for errors
// win over those of `rt secrets`; where it has none, one line and a hint on standard error, and the exit codes of `rt secrets`.
import { printable } from "../../printable.ts";
import { HELPER_FLAGS, type HelperTool, type HelperName, HELPERS } from "../commands.ts";
import { readWords, ArgumentError } from "../command-arguments.ts";
import { answerAws } from "./aws.ts";
import { installDocker, uninstallDocker } from "./docker-config.ts";
import { answerDocker } from "./docker.ts";
import { installGit, uninstallGit } from "./git-config.ts";
import { answerGit } from "./git.ts";
import { answerNpm } from "./npm.ts";

/** Answers the exit code. */
type HelperHandler = (action: string, operand: string) => Promise<number>;

const ANSWER: Readonly<Record<HelperName, HelperHandler>> = {
  git: answerGit,
  docker: answerDocker,
  aws: answerAws,
  npm: answerNpm,
};

/** What a tool asks by its own words is for the tool to choose: these two get to see any. */
const OWN_WORDS: readonly HelperName[] = ["git", "docker"];

interface Installation {
  install(isLocal: boolean): void;
  uninstall(isLocal: boolean): void;
}

const INSTALLATIONS: Readonly<Partial<Record<HelperName, Installation>>> = {
  git: { install: installGit, uninstall: uninstallGit },
  docker: { install: installDocker, uninstall: uninstallDocker },
};

/** Throws WordsError, and what the store throws. */
export async function runHelperCommand(
  args: readonly string[],
  showHelp: () => Promise<void>,
): Promise<number> {
  const [first, ...asked] = args;
  const own = OWN_WORDS.find((name) => name === first);
  if (own && asked.length === 1 && !asked[0]!.startsWith("-")) return await ANSWER[own](asked[0]!, "");
  const { options, operands } = readWords(args, HELPER_FLAGS);
  if (options.has("help")) {
    await showHelp();
    return 0;
  }
  const [tool, ...rest] = operands;
  const known = Object.keys(HELPERS).join(", ");
  if (tool === undefined)
    throw new ArgumentError("rt secrets helper needs the name of a tool", `one of ${known}`);
  if (!isHelper(tool))
    throw new ArgumentError(`"${printable(tool)}" is no tool that rt helps`, `there are ${known}`);
  if (options.has("install") || options.has("uninstall")) return changeInstallation(tool, rest, options);
  if (options.has("local"))
    throw new ArgumentError("--local says where to install", "rt secrets helper --install --local git");
  return await answer(tool, rest);
}

function isHelper(tool: string): tool is HelperName {
  return Object.hasOwn(HELPERS, tool);
}

async function answer(tool: HelperName, [action, operand, ...more]: readonly string[]): Promise<number> {
  const { actions, operand: wanted }: HelperTool = HELPERS[tool];
  const hint = ["rt secrets helper", tool, actions.join("|"), wanted].filter(Boolean).join(" ");
  if (action === undefined) throw new ArgumentError(`rt secrets helper ${tool} needs an action`, hint);
  // What is too much may be a value that was typed in the wrong place.
  if (!actions.includes(action))
    throw new ArgumentError(`rt secrets helper ${tool} has no such action`, hint);
  if ((operand === undefined) !== (wanted === undefined) || more.length > 0)
    throw new ArgumentError(
      wanted
        ? `rt secrets helper ${tool} ${action} takes one word`
        : `rt secrets helper ${tool} ${action} takes no words`,
      hint,
    );
  return await ANSWER[tool](action, operand ?? "");
}

function changeInstallation(tool: HelperName, rest: readonly string[], options: ReadonlySet<string>): number {
  const installation = INSTALLATIONS[tool];
  if (!installation)
    throw new ArgumentError(
      `rt does not write the configuration of ${tool}`,
      `rt help secrets has the lines for it`,
    );
  if (rest.length > 0) throw new ArgumentError("--install and --uninstall take the name of one tool");
  if (options.has("install") && options.has("uninstall"))
    throw new ArgumentError("--install and --uninstall exclude each other");
  const isLocal = options.has("local");
  if (isLocal && tool !== "git")
    throw new ArgumentError(`${tool} has no configuration of a project`, "leave out --local");
  if (options.has("install")) installation.install(isLocal);
  else installation.uninstall(isLocal);
  return 0;
}

// A command line, carried out: parsed, resolved, planned, and its plan executed (execution.ts). What it leaves to main.ts
// is the outcome: an exit code, a signal to die of, a program to go on with, or nothing to add.
//
// What starting a script does not need is imported where it is used; each of those imports is a chunk of its own
// in the compiled file and costs nothing until then.
import { files } from "../../platform/files.ts";
import { host } from "../../platform/process.ts";
import type { Config } from "../config/rtfig.ts";
import { engineReason } from "../run/entry.ts";
import type { Ending } from "../run/launch.ts";
import { engineOption, planRun, planTool } from "../run/plan.ts";
import { resolveTarget } from "../run/resolve.ts";
import type { Target } from "../run/target.ts";
import { VERSION } from "../version.ts";
import { COMMANDS } from "./commands.ts";
import { complain, execute, settingsFor, watchScript } from "./execution.ts";
import type { Option } from "./options.ts";
import { runAsNode, runOwn, showHelp } from "./own-commands.ts";
import {
  hasOption,
  type Invocation,
  lastValue,
  mentionsOption,
  parseCommandLine,
  UsageError,
} from "./parse.ts";

/** The user's program starts when nothing of ours can be mistaken for a failure of its own. */
type Program = () => Promise<void>;

export type Outcome = Ending | Program | void;

export async function carryOutCommandLine(words: readonly string[]): Promise<Outcome> {
  try {
    if (isCalled("node")) return await runAsNode(words);
    if (isCalled("bunx")) return await carryOut({ options: [], command: "x", args: words }, words);
    const table = mentionsOption(words) ? (await import("./options.ts")).OPTIONS : [];
    return await carryOut(await parse(words, table), words);
  } catch (error) {
    return await explain(error);
  }
}

/** Whether a program has started us is only looked into where it matters. */
async function parse(words: readonly string[], table: readonly Option[]): Promise<Invocation> {
  try {
    return parseCommandLine(words, table);
  } catch (error) {
    const { isOwnChild } = await import("../run/parent.ts");
    if (!isOwnChild()) throw error;
    return parseCommandLine(words, table, true);
  }
}

async function carryOut(invocation: Invocation, words: readonly string[]): Promise<Outcome> {
  const { command } = invocation;
  if (hasOption(invocation, "version")) return console.log(VERSION);
  if (hasOption(invocation, "help") || words.length === 0) return await showHelp(command);
  if (command === undefined || COMMANDS[command]!.by === "run") return await run(invocation);
  // As in `rt --filter app test`: the commands know no packages, the script of that name does.
  if (hasAny(invocation, SELECTING)) return await run({ ...invocation, command: "run", target: command });
  if (invocation.options.length > 0) {
    const { refuseOptionsOfRuns } = await import("./shadowed.ts");
    refuseOptionsOfRuns(command, invocation);
  }
  if (COMMANDS[command]!.by === "engine") return await runTool(command, invocation);
  return await runOwn(command, invocation.args);
}

/** By a link of that name: see run/stand-in.ts. */
function isCalled(name: string): boolean {
  const { argv0 } = process;
  return argv0 === name || argv0.endsWith(`/${name}`) || argv0.endsWith(`${name}.exe`);
}

/** Tools in which code of the user's runs, and so sees `rt`. */
const RUNS_CODE = ["test", "repl"];

async function runTool(command: string, given: Invocation): Promise<Outcome> {
  const { hintAtShadowedScript } = await import("./shadowed.ts");
  const { findOwnConfig, testPreloads } = await import("../config/tool.ts");
  const cwd = changeDirectory(given);
  const { args, path } = findOwnConfig(given.args);
  const config = await readOwnConfig(path ?? lastValue(given, "config"));
  hintAtShadowedScript(command, cwd);
  const preloads = config && command === "test" ? testPreloads(config) : [];
  const words = command === "build" ? (await import("../run/build-words.ts")).addBuildWords(args) : args;
  const plan = planTool(command, { ...given, args: [...preloads, ...words] });
  return await execute(plan, given, RUNS_CODE.includes(command), config);
}

async function readOwnConfig(path: string | undefined): Promise<Config | undefined> {
  // By its name alone: a working directory below one that may not be entered can still be read that way.
  if (path === undefined && files.readFile("rtfig.toml", 1) === "ENOENT") return undefined;
  const { FILE_NAME, readConfig } = await import("../config/rtfig.ts");
  return readConfig(path ?? FILE_NAME);
}

/** The invocation as if the user had written the file's options in front of the others. */
async function configure(invocation: Invocation, config: Config | undefined): Promise<Invocation> {
  if (!config) return invocation;
  const { optionsOf } = await import("../config/rtfig.ts");
  return { ...invocation, options: [...optionsOf(config), ...invocation.options] };
}

/** Options that make it a run of many scripts, or of the scripts of many packages. */
const MANY = [
  "filter",
  "workspaces",
  "parallel",
  "sequential",
  "affected",
  "dry-run",
  "report",
  "concurrency",
];

/** Those of them that say which packages; the others, without a script, ask for nothing but the list. */
const SELECTING = ["filter", "workspaces", "affected"];

/** Options that give the code themselves. */
const EVALUATES = ["eval", "print", "interactive"];

function hasAny(invocation: Invocation, names: readonly string[]): boolean {
  for (const { option } of invocation.options) if (names.includes(option.aliasOf ?? option.name)) return true;
  return false;
}

async function run(given: Invocation): Promise<Outcome> {
  const cwd = changeDirectory(given);
  const config = await readOwnConfig(lastValue(given, "config"));
  const invocation = await configure(given, config);
  const evaluates = hasAny(invocation, EVALUATES);
  const isMany = hasAny(given, invocation.target === undefined ? SELECTING : MANY);
  if (!evaluates && isMany) {
    // A list, and a plan that is printed, are not worth waiting for changes.
    const runsScripts = invocation.target !== undefined && !hasOption(invocation, "dry-run");
    if (runsScripts && hasOption(invocation, "watch")) return await watchScript(invocation, cwd);
    const { runMany } = await import("../run/many.ts");
    return await runMany(invocation, cwd, await settingsFor(invocation));
  }
  if (!evaluates && invocation.target === undefined) {
    if (invocation.command !== "run")
      throw new UsageError("Nothing to run", "name a file or a script after the options");
    const { listScripts } = await import("./list.ts");
    return console.log(listScripts(cwd));
  }
  const target: Target = evaluates
    ? { kind: "none" }
    : resolveTarget({
        name: invocation.target!,
        cwd,
        explicitRun: invocation.command === "run",
        forceRuntime: hasOption(invocation, "rt"),
      });
  const mayStay = target.kind === "file" && engineOption(invocation) === undefined;
  const reason = mayStay ? await reasonFor(target.path, cwd, config) : undefined;
  const isInputEmpty = target.kind === "stdin" && !host.isTerminal(0) && host.isInputEmpty();
  return await execute(
    planRun(invocation, target, { engineReason: reason, config: config?.file, isInputEmpty }),
    invocation,
    true,
    config,
  );
}

function reasonFor(path: string, cwd: string, config: Config | undefined): ReturnType<typeof engineReason> {
  const { key } = config?.settings.find(({ key }) => key.isForCode) ?? {};
  return key ? `${key.name} in ${config!.file}` : engineReason(path, cwd);
}

function changeDirectory(invocation: Invocation): string {
  const directory = lastValue(invocation, "cwd");
  if (directory === undefined) return process.cwd();
  try {
    process.chdir(directory);
  } catch (error) {
    const isDenied = (error as NodeJS.ErrnoException).code === "EACCES";
    const hint = isDenied ? "permission denied" : "--cwd needs a directory that exists";
    throw new UsageError(`Cannot work in "${directory}"`, hint);
  }
  return process.cwd();
}

/**
 * What the user can mend is a line or two; anything else is a fault of ours and keeps its stack trace. Told apart
 * by name: a chunk that is loaded later has classes of its own.
 */
export async function explain(error: unknown): Promise<number> {
  const { name, message, hint, status, unknown, syscall } = error as Thrown;
  if (syscall === "uv_cwd")
    return complain("The current directory is not there any more", "go to another one, or give --cwd");
  if (!EXPECTED.includes(name)) throw error;
  if (!unknown) return complain(message, hint, status);
  const { suggestName } = await import("./suggest.ts");
  const nearest = suggestName(unknown.word, unknown.known);
  return complain(message, nearest ? `did you mean ${nearest}?` : hint);
}

interface Thrown extends Error {
  readonly syscall?: string;
  readonly hint?: string;
  readonly status?: number;
  readonly unknown?: UsageError["unknown"];
}

const EXPECTED = ["Failure", "UsageError", "PackageJsonError", "PrivateDirectoryError"];

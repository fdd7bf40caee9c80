// A command line, carried out: parsed, resolved, planned, and its plan executed (src/run/execution.ts). What it leaves to main.ts
// is the outcome: an exit code, a signal to die of, a program to go on with, or nothing to add.
//
// What starting a script does not need is imported where it is used; each of those imports is a chunk of its own
// in the compiled file and costs nothing until then.
import { files } from "../../platform/files.ts";
import { host } from "../../platform/process.ts";
import type { Config } from "../config/rtfig.ts";
import { engineReason } from "../run/file/engine-reason.ts";
import { execute, executeMany, type Outcome } from "../run/execution.ts";
import { planRun, planTool } from "../run/plan.ts";
import { resolveTarget } from "../run/target/resolution.ts";
import type { Target } from "../run/target/target.ts";
import { VERSION } from "../version.ts";
import { COMMANDS } from "../options/commands.ts";
import { complain } from "../complaint.ts";
import { readSettings } from "../settings/settings.ts";
import type { Option } from "../options/options.ts";
import { runAsNode, runOwn, showHelp } from "./own-commands.ts";
import {
  hasOption,
  type Invocation,
  lastValue,
  mentionsOption,
  parseCommandLine,
  UsageError,
} from "../options/parse.ts";

export async function carryOutCommandLine(words: readonly string[]): Promise<Outcome> {
  try {
    if (isCalled("node")) return await runAsNode(words);
    if (isCalled("bunx")) return await carryOut({ options: [], command: "x", args: words }, words);
    const table = mentionsOption(words) ? (await import("../options/options.ts")).OPTIONS : [];
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
    const { isOwnChild } = await import("./own-child.ts");
    if (!isOwnChild()) throw error;
    return parseCommandLine(words, table, true);
  }
}

async function carryOut(invocation: Invocation, words: readonly string[]): Promise<Outcome> {
  const { command } = invocation;
  if (hasOption(invocation, "version")) return console.log(VERSION);
  if (hasOption(invocation, "help") || words.length === 0) return await showHelp(command);
  if (command === undefined || COMMANDS[command]!.by === "run") return await run(invocation);
  if (invocation.options.length > 0) {
    const { refuseOptionsOfRuns } = await import("./shadowed.ts");
    refuseOptionsOfRuns(command, invocation);
  }
  if (COMMANDS[command]!.by === "engine") return await runTool(command, invocation);
  return await runOwn(command, invocation.args);
}

/** By a link of that name: see run/script/stand-ins.ts. */
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
  const words =
    command === "build" ? (await import("../run/engine/build-words.ts")).addBuildWords(args) : args;
  const settings = readSettings(given, process.env);
  const plan = planTool(command, [...preloads, ...words], settings.code);
  return await execute(plan, settings, RUNS_CODE.includes(command), config);
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

async function run(given: Invocation): Promise<Outcome> {
  const cwd = changeDirectory(given);
  const config = await readOwnConfig(lastValue(given, "config"));
  const settings = readSettings(await configure(given, config), process.env);
  const { target: name, evaluates, isExplicit } = settings;
  if (settings.many) return await executeMany(settings, cwd);
  if (!evaluates && name === undefined) {
    if (!isExplicit) throw new UsageError("Nothing to run", "name a file or a script after the options");
    const { listScripts } = await import("./list.ts");
    return console.log(listScripts(cwd));
  }
  const target: Target = evaluates
    ? { kind: "none" }
    : resolveTarget({ name: name!, cwd, explicitRun: isExplicit, forceRuntime: settings.code.forceRuntime });
  const mayStay = target.kind === "file" && settings.code.engineOption === undefined;
  const reason = mayStay ? await reasonFor(target.path, cwd, config) : undefined;
  const isInputEmpty = target.kind === "stdin" && !host.isTerminal(0) && host.isInputEmpty();
  const plan = planRun(settings, target, { engineReason: reason, config: config?.file, isInputEmpty });
  return await execute(plan, settings, true, config);
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
  const { nearest: findNearest } = await import("../nearest.ts");
  const [nearest] = findNearest(unknown.word, unknown.known);
  return complain(message, nearest ? `did you mean ${nearest}?` : hint);
}

interface Thrown extends Error {
  readonly syscall?: string;
  readonly hint?: string;
  readonly status?: number;
  readonly unknown?: UsageError["unknown"];
}

const EXPECTED = ["Failure", "UsageError", "PackageJsonError", "PrivateDirectoryError"];

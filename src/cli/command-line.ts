// A command line, carried out: parsed, made settings of, and handed to whoever it is for: the runner (src/run/run.ts), a
// tool of the engine, or a command of rt's own. What it leaves to main.ts is the outcome: an exit code, a signal to die of,
// a program to go on with, or nothing to add.
//
// What starting a script does not need is imported where it is used; each of those imports is a chunk of its own
// in the compiled file and costs nothing until then.
import { TRACED_NAME } from "../../platform/contract/tracing.ts";
import { host } from "../../platform/process.ts";
import { complain } from "../complaint.ts";
import { COMMANDS } from "../options/commands.ts";
import type { Option } from "../options/options.ts";
import { type Invocation, mentionsOption, parseCommandLine, UsageError } from "../options/parse.ts";
import { executeMany, type Outcome } from "../run/execution.ts";
import { runTarget, runTool } from "../run/run.ts";
import { selectsPackages } from "../settings/many.ts";
import { openSettings } from "../settings/sources.ts";
import { VERSION } from "../version.ts";
import { runAsNode, runOwn, showHelp } from "./own-commands.ts";

export async function carryOutCommandLine(words: readonly string[]): Promise<Outcome> {
  try {
    if (isCalled(TRACED_NAME)) return await (await import("../../platform/tracing.ts")).runTraced(words);
    if (isCalled("node")) return await runAsNode(words);
    if (isCalled("bunx")) return await carryOut({ options: [], command: "x", args: words }, words);
    if (isCalled("git-credential-rt")) return await runOwn("secrets", ["helper", "git", ...words]);
    if (isCalled("docker-credential-rt")) return await runOwn("secrets", ["helper", "docker", ...words]);
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
  if (invocation.asksFor === "version") return console.log(VERSION);
  if (invocation.asksFor === "revision") return console.log(describeRevision());
  if (invocation.asksFor === "help" || words.length === 0) return await showHelp(command);
  if (command === undefined || COMMANDS[command]!.by === "run") return await carryOutRun(invocation);
  // As in `rt --filter app test`: the commands know no packages, the script of that name does.
  if (selectsPackages(invocation))
    return await carryOutRun({ ...invocation, command: "run", target: command });
  if (invocation.options.length > 0) {
    const { refuseOptionsOfRuns } = await import("./shadowed.ts");
    refuseOptionsOfRuns(command, invocation);
  }
  if (COMMANDS[command]!.by === "engine") return await carryOutTool(command, invocation);
  return await runOwn(command, invocation.args);
}

/** As the engine has its own, in which the commit follows the version: the same version of rt has the same engine. */
function describeRevision(): string {
  return `${VERSION}+bun.${Bun.version}.${Bun.revision.slice(0, 9)}`;
}

/** By a link of that name: see run/script/stand-ins.ts. */
function isCalled(name: string): boolean {
  const { argv0 } = process;
  return argv0 === name || argv0.endsWith(`/${name}`) || argv0.endsWith(`${name}.exe`);
}

async function carryOutTool(command: string, given: Invocation): Promise<Outcome> {
  const invocation = command === "x" ? (await import("./x-words.ts")).readForced(given) : given;
  const { hintAtRepl, hintAtShadowedScript } = await import("./shadowed.ts");
  const { findOwnConfig, testPreloads } = await import("../config/tool.ts");
  const { args, path } = findOwnConfig(invocation.args);
  const opened = await openSettings(invocation, { config: path });
  hintAtShadowedScript(command, opened.cwd);
  hintAtRepl(command, args);
  const preloads = opened.config && command === "test" ? testPreloads(opened.config) : [];
  const words =
    command === "build" ? (await import("../run/engine/build-words.ts")).addBuildWords(args) : args;
  return await runTool(command, [...preloads, ...words], opened);
}

async function carryOutRun(invocation: Invocation): Promise<Outcome> {
  const opened = await openSettings(invocation);
  const { settings, cwd } = opened;
  if (invocation.options.some(({ option }) => option.name === "pick"))
    return await carryOutPicked(invocation, cwd);
  if (settings.many) return await executeMany(settings, opened.config, cwd);
  if (settings.evaluates || settings.target !== undefined) return await runTarget(opened);
  if (!settings.isExplicit)
    throw new UsageError("Nothing to run", "name a file or a script after the options");
  return await offerScripts(invocation, cwd);
}

async function carryOutPicked(invocation: Invocation, cwd: string): Promise<Outcome> {
  const { canPick, pickInvocation } = await import("./picked.ts");
  if (!canPick()) return await listAll(cwd);
  const picked = await pickInvocation(invocation, cwd);
  return "outcome" in picked ? picked.outcome : await carryOutRun(picked.invocation);
}

async function listAll(cwd: string): Promise<void> {
  const { listScripts } = await import("./list.ts");
  console.log(listScripts(cwd));
}

async function offerScripts(invocation: Invocation, cwd: string): Promise<Outcome> {
  await listAll(cwd);
  const { isPickWanted } = await import("./picked.ts");
  if (await isPickWanted()) return await carryOutPicked(invocation, cwd);
}

/**
 * What the user can mend is a line or two; anything else is a fault of ours and keeps its stack trace. Told apart
 * by name: a chunk that is loaded later has classes of its own.
 */
export async function explain(error: unknown): Promise<number> {
  const { name, message, hint, status, unknown, syscall } = error as Thrown;
  if (syscall === "uv_cwd")
    return complain("The current directory is not there any more", "go to another one, or give --cwd");
  const lack = describeLack(error as Thrown);
  if (lack) return complain(lack, "close what is not needed, or raise the limit: ulimit -a shows it");
  if (!EXPECTED.includes(name)) throw error;
  if (!unknown) return complain(message, hint, status);
  const { nearest: findNearest } = await import("../nearest.ts");
  const [nearest] = findNearest(unknown.word, unknown.known);
  return complain(message, nearest ? `did you mean ${nearest}?` : hint);
}

/** What a machine, or a limit on this process, has run out of. */
function describeLack({ code, syscall }: Thrown): string | undefined {
  // The engine starts nothing without descriptors from 10 up.
  if (code === "EMFILE" || (code === "EINVAL" && syscall === "fcntl"))
    return `Too many open files: the limit is ${host.descriptorLimit()} (ulimit -n)`;
  if (code === "ENFILE") return "Too many open files in the whole system";
  if (code === "EAGAIN") return "The system starts no more processes (ulimit -u)";
  return code === "ENOMEM" ? "There is not enough memory to start a process" : undefined;
}

interface Thrown extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly hint?: string | readonly string[];
  readonly status?: number;
  readonly unknown?: UsageError["unknown"];
}

const EXPECTED = ["Failure", "UsageError", "PackageJsonError", "PrivateDirectoryError"];

// Executes a command line: parses it, resolves the settings, and dispatches to the runner (src/runner/run.ts) or to a built-in
// command. Returns the outcome to main.ts: an exit code, a signal, a program to exec, or undefined.
//
// Invariants:
// - A module that starting a script does not need is imported dynamically: it is a separate chunk, which is not read at start.
import { host } from "../../platform/processes/process.ts";
import { printError } from "../error-output.ts";
import { COMMANDS } from "../options/commands.ts";
import type { Option } from "../options/options.ts";
import { type Invocation, mentionsOption, parseCommandLine, UsageError } from "../options/parse.ts";
import type { RunOutcome } from "../runner/outcome.ts";
import { reportPhase } from "../runner/phase-times.ts";
import { run } from "../runner/run.ts";
import { selectsPackages } from "../config/settings/many.ts";
import type { RunSettings } from "../config/settings/settings.ts";
import { type OpenedSettings, openSettings } from "../config/settings/settings-sources.ts";
import { describeRevision } from "../version.ts";
import { printLine } from "../output.ts";
import { readMultiCall, versionOf } from "./multi-call.ts";
import { runOwn, showHelp } from "./builtin-commands.ts";

export async function carryOutCommandLine(given: readonly string[]): Promise<RunOutcome> {
  try {
    const called = readMultiCall(process.argv0);
    if (called.program) return await called.program(given);
    const words = [...called.words, ...given];
    const table = mentionsOption(words) ? (await import("../options/options.ts")).OPTIONS : [];
    const invocation = await parse(words, table);
    return words.length === 0 ? await showHelp() : await carryOut(invocation);
  } catch (error) {
    return await explain(error);
  }
}

/** Searches the ancestors of this process only if the command line is invalid: a valid start does not pay for the search. */
async function parse(words: readonly string[], table: readonly Option[]): Promise<Invocation> {
  try {
    return parseCommandLine(words, table);
  } catch (error) {
    const { isOwnChild } = await import("./parent-process.ts");
    if (!isOwnChild()) throw error;
    return parseCommandLine(words, table, true);
  }
}

async function carryOut(written: Invocation): Promise<RunOutcome> {
  const { asksFor, command } = written;
  if (asksFor === "version") return printLine(versionOf(process.argv0));
  if (asksFor === "revision") return printLine(describeRevision());
  if (asksFor === "help") return await showHelp(command);
  const { by } = COMMANDS[command ?? "run"]!;
  // `rt --filter app test` means the script: built-in commands do not select packages.
  if (by !== "run" && selectsPackages(written))
    return await carryOutRun({ ...written, command: "run", target: command! });
  if (by !== "run" && written.options.length > 0) {
    const { refuseOptionsOfRuns } = await import("./misplaced-options.ts");
    refuseOptionsOfRuns(command!, written);
  }
  if (command === "repl") return await carryOutRepl(written);
  return by === "rt" ? await runOwn(command!, written.args) : await carryOutRun(written);
}

async function carryOutRepl(written: Invocation): Promise<RunOutcome> {
  const { OPTIONS } = await import("../options/options.ts");
  const { readRepl } = await import("./repl-arguments.ts");
  const invocation = readRepl(written, OPTIONS);
  if (invocation.asksFor) return await carryOut(invocation);
  const { refuseOptionsOfRuns } = await import("./misplaced-options.ts");
  refuseOptionsOfRuns("repl", invocation);
  const { hintAtShadowedScript } = await import("../runner/resolve/shadowed-script.ts");
  await hintAtShadowedScript("repl", process.cwd());
  return await carryOutRun({ ...invocation, command: undefined });
}

async function carryOutRun(invocation: Invocation): Promise<RunOutcome> {
  reportPhase("command line");
  const opened = await openSettings(invocation);
  const { target, evaluates, tool } = opened.settings;
  if (target === undefined && !evaluates && !tool && invocation.options.length > 0)
    (await import("./misplaced-options.ts")).refuseWithoutScript(invocation, opened.cwd);
  if (invocation.options.some(({ option }) => option.name === "pick"))
    return await carryOutPicked(invocation, opened.cwd);
  return namesSomething(opened.settings) ? await run(opened) : await offerScripts(invocation, opened);
}

function namesSomething({ many, tool, target, evaluates }: RunSettings): boolean {
  return many !== undefined || tool !== undefined || target !== undefined || evaluates;
}

async function offerScripts(invocation: Invocation, { settings, cwd }: OpenedSettings): Promise<RunOutcome> {
  if (!settings.isExplicit)
    throw new UsageError("No file or script is named", "name a file or a script after the options");
  await showScripts(cwd);
  const { isPickWanted } = await import("./pick-invocation.ts");
  const wanted = await isPickWanted();
  if (typeof wanted === "object") return wanted;
  if (wanted) return await carryOutPicked(invocation, cwd);
}

async function carryOutPicked(invocation: Invocation, cwd: string): Promise<RunOutcome> {
  const { canPick, pickInvocation, refuseUnpicked } = await import("./pick-invocation.ts");
  if (!canPick()) {
    refuseUnpicked(invocation);
    return await showScripts(cwd);
  }
  const picked = await pickInvocation(invocation, cwd);
  return "outcome" in picked ? picked.outcome : await carryOutRun(picked.invocation);
}

async function showScripts(cwd: string): Promise<void> {
  const { listScripts } = await import("./script-list.ts");
  printLine(listScripts(cwd));
}

/**
 * Prints an expected error as one or two lines and returns the exit code. Rethrows any other error: it is a bug in rt and needs
 * its stack trace. Compares names, not classes: each chunk may contain its own copy of a class.
 */
export async function explain(error: unknown): Promise<number> {
  const { name, message, hint, status, unknown, syscall, code } = error as Thrown;
  if (syscall === "uv_cwd" && code !== "ENOENT")
    return printError(
      `The path of the working directory is too long for this system (${code})`,
      "change to a parent directory, or move this one to a shorter path",
    );
  if (syscall === "uv_cwd")
    return printError("The working directory no longer exists", "change directory or use --cwd");
  const exhausted = describeExhaustion(error as Thrown);
  if (exhausted)
    return printError(exhausted, "close other programs, or raise the limit (ulimit -a shows it)");
  if (!EXPECTED.includes(name)) throw error;
  if (!unknown) return printError(message, hint, status);
  const { suggestNames } = await import("../did-you-mean.ts");
  const [nearest] = suggestNames(unknown.word, unknown.known);
  return printError(message, nearest ? `did you mean ${nearest}?` : hint);
}

/** Returns the exhausted resource of the machine or this process; undefined for any other error. */
function describeExhaustion({ code, syscall }: Thrown): string | undefined {
  // To start a process, the engine duplicates descriptors to numbers from 10 up: fcntl fails with EINVAL above the limit.
  if (code === "EMFILE" || (code === "EINVAL" && syscall === "fcntl"))
    return `Too many open files: the limit is ${host.descriptorLimit()} (ulimit -n)`;
  if (code === "ENFILE") return "Too many open files in the whole system";
  if (code === "EAGAIN") return "Process limit reached (ulimit -u)";
  return code === "ENOMEM" ? "Not enough memory to start a process" : undefined;
}

interface Thrown extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly hint?: string | readonly string[];
  readonly status?: number;
  readonly unknown?: UsageError["unknown"];
}

const EXPECTED = ["UserError", "UsageError", "PackageJsonError", "PrivateDirectoryError"];

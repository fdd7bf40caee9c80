// A command line, carried out: parsed, made settings of, and handed to whoever it is for: the runner (src/runner/run.ts), which
// has the engine's tools too, or a command of rt's own. What it leaves to main.ts is the outcome: an exit code, a signal to
// die of, a program to go on with, or nothing to add.
//
// What starting a script does not need is imported where it is used; each of those imports is a chunk of its own
// in the compiled file and costs nothing until then.
import { host } from "../../platform/processes/process.ts";
import { printError } from "../error-output.ts";
import { COMMANDS } from "../options/commands.ts";
import type { Option } from "../options/options.ts";
import { type Invocation, mentionsOption, parseCommandLine, UsageError } from "../options/parse.ts";
import type { RunOutcome } from "../runner/outcome.ts";
import { run } from "../runner/run.ts";
import { selectsPackages } from "../config/settings/many.ts";
import type { RunSettings } from "../config/settings/settings.ts";
import { type Opened, openSettings } from "../config/settings/settings-sources.ts";
import { VERSION } from "../version.ts";
import { printLine } from "../output.ts";
import { readCalled } from "./multi-call.ts";
import { runOwn, showHelp } from "./builtin-commands.ts";

export async function carryOutCommandLine(given: readonly string[]): Promise<RunOutcome> {
  try {
    const called = readCalled(process.argv0);
    if (called.program) return await called.program(given);
    const words = [...called.words, ...given];
    const table = mentionsOption(words) ? (await import("../options/options.ts")).OPTIONS : [];
    const invocation = await parse(words, table);
    return words.length === 0 ? await showHelp() : await carryOut(invocation);
  } catch (error) {
    return await explain(error);
  }
}

/** Whether a program has started us is only looked into where it matters. */
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
  if (asksFor === "version") return printLine(VERSION);
  if (asksFor === "revision") return printLine(describeRevision());
  if (asksFor === "help") return await showHelp(command);
  const { by } = COMMANDS[command ?? "run"]!;
  // As in `rt --filter app test`: the commands know no packages, the script of that name does.
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
  hintAtShadowedScript("repl", process.cwd());
  return await carryOutRun({ ...invocation, command: undefined });
}

async function carryOutRun(invocation: Invocation): Promise<RunOutcome> {
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

async function offerScripts(invocation: Invocation, { settings, cwd }: Opened): Promise<RunOutcome> {
  if (!settings.isExplicit)
    throw new UsageError("Nothing to run", "name a file or a script after the options");
  await showScripts(cwd);
  const { isPickWanted } = await import("./pick-invocation.ts");
  const wanted = await isPickWanted();
  if (typeof wanted === "object") return wanted;
  if (wanted) return await carryOutPicked(invocation, cwd);
}

async function carryOutPicked(invocation: Invocation, cwd: string): Promise<RunOutcome> {
  const { canPick, pickInvocation } = await import("./pick-invocation.ts");
  if (!canPick()) return await showScripts(cwd);
  const picked = await pickInvocation(invocation, cwd);
  return "outcome" in picked ? picked.outcome : await carryOutRun(picked.invocation);
}

async function showScripts(cwd: string): Promise<void> {
  const { listScripts } = await import("./script-list.ts");
  printLine(listScripts(cwd));
}

/** As the engine has its own, in which the commit follows the version: the same version of rt has the same engine. */
function describeRevision(): string {
  return `${VERSION}+bun.${Bun.version}.${Bun.revision.slice(0, 9)}`;
}

/**
 * What the user can mend is a line or two; anything else is a fault of ours and keeps its stack trace. Told apart
 * by name: a chunk that is loaded later has classes of its own.
 */
export async function explain(error: unknown): Promise<number> {
  const { name, message, hint, status, unknown, syscall, code } = error as Thrown;
  if (syscall === "uv_cwd" && code !== "ENOENT")
    return printError(
      `The path of the current directory is too long for this system (${code})`,
      "go to a folder further up, or move this one there",
    );
  if (syscall === "uv_cwd")
    return printError("The current directory is not there any more", "go to another one, or give --cwd");
  const lack = describeLack(error as Thrown);
  if (lack) return printError(lack, "close what is not needed, or raise the limit: ulimit -a shows it");
  if (!EXPECTED.includes(name)) throw error;
  if (!unknown) return printError(message, hint, status);
  const { suggestNames: findNearest } = await import("../did-you-mean.ts");
  const [nearest] = findNearest(unknown.word, unknown.known);
  return printError(message, nearest ? `did you mean ${nearest}?` : hint);
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

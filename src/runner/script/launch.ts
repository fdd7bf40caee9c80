// Launches programs and scripts.
//
// Invariants (specification, "Script execution"):
// - A failing pre-hook ends the run; the post-hook runs after the script succeeded.
// - The last step replaces rt (exec), so that its exit code and signals reach the user directly, except if rt is
//   process 1. Earlier steps are awaited.
import { errorReason } from "../../../platform/caught-error.ts";
import { files } from "../../../platform/files/files.ts";
import { host } from "../../../platform/processes/process.ts";
import { wantsColor } from "../../color.ts";
import { UserError } from "../../user-error.ts";
import type { SecretValue } from "../../redaction/secret-value.ts";
import { stepsOf } from "../../workspace/package-json.ts";
import type { ReplaceRequest } from "../../../platform/processes/contract/process.ts";
import type { PreparedTerminal } from "../../../platform/terminal/contract/terminal.ts";
import type { ExecutionPlan, ScriptPlan } from "../plan.ts";
import { appendArguments } from "../../shell-quoting.ts";
import type { ShellCommand } from "./shell.ts";
import type { ScriptSettings } from "../../config/settings/script.ts";
import {
  openRun,
  prepareProgram,
  prepareStep,
  type RunContext,
  type PreparedStep,
} from "./step-preparation.ts";
import { largestOf, variablesOf, withoutVariables } from "./secret-variables.ts";
import { type Replacement, replacementObserver } from "./replacement.ts";
import type { ExitStatus } from "./step-wait.ts";

/** Secrets and prepared resources of a target. */
export interface Supply {
  /** Secrets of the script or hook of that name; without a name, those of a program. */
  secretsFor(event?: string): readonly SecretValue[];
  /** Variables that are withheld from the script of that name. */
  withheldFrom?(event: string): readonly string[];
  /** Values that are redacted in all output, also in that of scripts that are not given them. */
  readonly inherited?: readonly SecretValue[];
  /** Inherited descriptors beyond the standard three. */
  readonly descriptors?: readonly number[];
  /** A pseudo-terminal that was opened in advance. */
  readonly early?: PreparedTerminal;
}

const NOTHING: Supply = { secretsFor: () => [] };

function withSecrets(
  step: PreparedStep,
  secrets: readonly SecretValue[],
  withheld: readonly string[],
): PreparedStep {
  if (secrets.length + withheld.length === 0) return step;
  const environment = { ...step.environment, ...withoutVariables(withheld), ...variablesOf(secrets) };
  return { ...step, environment };
}

export async function launchProgram(
  { path, name, words = [], args }: Extract<ExecutionPlan, { mode: "program" }>,
  settings: ScriptSettings,
  { secretsFor, descriptors, early }: Supply = NOTHING,
): Promise<ExitStatus> {
  const secrets = secretsFor();
  const context = openRun(settings);
  const mentioned = name.includes("/") ? firstLine(path) : `${name} ${firstLine(path)}`;
  const environment = { ...prepareProgram(context, mentioned), ...variablesOf(secrets) };
  const command = { program: path, argv: [name, ...words, ...host.exactArguments(args)], environment };
  const inherited = descriptors ?? context.descriptors;
  const outcome = await becomeOrRedact(
    inherited ? { ...command, descriptors: inherited } : command,
    secrets,
    early,
  );
  if (typeof outcome !== "string") return outcome;
  const status = outcome === "ENOENT" ? 127 : 126;
  const hint = outcome === "E2BIG" ? largestOf(secrets) : undefined;
  throw new UserError(`Cannot run "${path}": ${explainExec(outcome)}`, hint, status);
}

/** The #! line, if the program is a script. */
function firstLine(path: string): string {
  const start = files.readFile(path, 128);
  if (typeof start === "string" || start[0] !== 0x23 || start[1] !== 0x21) return "";
  return new TextDecoder().decode(start).split("\n")[0]!;
}

function explainExec(code: string): string {
  if (code === "ENOEXEC") return "it is neither a program nor a script with a #! line";
  if (code === "EBADARCH") return "it is built for another processor";
  if (code === "ENOENT") return "the interpreter in its #! line does not exist";
  if (code === "EACCES") return "permission denied";
  if (code === "E2BIG") return "its arguments and variables are too long for this system";
  return code;
}

/** The command lines of a script, with its steps if they were prepared in advance. */
export interface Preparation {
  readonly context: RunContext;
  readonly lines: readonly CommandLineOutput[];
  readonly steps?: readonly PreparedStep[];
}

function openScript({ target, args }: ScriptPlan, settings: ScriptSettings): Preparation {
  return { context: openRun(settings), lines: linesOf(target, args) };
}

/**
 * Prepares a script in advance, without side effects. Returns undefined on an error, which `launchScript` then
 * reports.
 */
export function prepareScript(plan: ScriptPlan, settings: ScriptSettings): Preparation | undefined {
  try {
    const { context, lines } = openScript(plan, settings);
    const { package: located } = plan.target;
    return {
      context,
      lines,
      steps: lines.map(({ event, line }) => prepareStep(context, located, event, line)),
    };
  } catch {
    return undefined;
  }
}

export async function launchScript(
  plan: ScriptPlan,
  settings: ScriptSettings,
  supply = NOTHING,
  prepared?: Preparation,
): Promise<ExitStatus> {
  const { target } = plan;
  const { secretsFor, withheldFrom, descriptors: inherited } = supply;
  let { early } = supply;
  const { directory } = target.package;
  const { context, lines, steps: ready } = prepared ?? openScript(plan, settings);
  // The log of one script may contain output of another.
  const shown = [...allOf(lines.map(({ event }) => secretsFor(event))), ...(supply.inherited ?? [])];
  const isRedacted = shown.some((secret) => secret.isRedacted);
  const showCommand = (line: string) => echo(line, settings, isRedacted ? shown : [], plan.args.length > 0);
  if (supply !== NOTHING) {
    const { refuseShort } = await import("../../redaction/minimum-length.ts");
    refuseShort(shown);
  }
  const steps: PreparedStep[] = [];
  for (const [index, { event, line }] of lines.entries()) {
    const step = ready?.[index] ?? prepareStep(context, target.package, event, line);
    steps.push(withSecrets(step, secretsFor(event), withheldFrom?.(event) ?? []));
  }
  const last = steps.pop()!;
  const observer = steps.length === 0 && supply === NOTHING ? replacementObserver() : undefined;
  observer?.observe(replacementBy(last, directory, settings));
  if (directory !== context.initialDirectory) process.chdir(directory);
  // While a hook runs, rt has internal descriptors open, which the script must not inherit.
  const descriptors =
    inherited ?? context.descriptors ?? (steps.length > 0 ? host.inheritedDescriptors() : undefined);
  for (const step of steps) {
    showCommand(step.command);
    const next = step === steps.at(-1) ? "replacement" : "step";
    const ending = await runStep(step, shown, descriptors!, next, early);
    early = undefined;
    if (ending === 0) continue;
    describeEnding(step.event, ending, settings);
    return ending;
  }
  showCommand(last.command);
  const outcome = await becomeOrRedact(commandOf(last, descriptors), shown, early);
  if (typeof outcome !== "string") return outcome;
  const hint =
    outcome === "E2BIG"
      ? (largestOf(secretsFor(target.name)) ?? "each value of config in package.json is a variable")
      : undefined;
  throw new UserError(`Cannot run the script "${target.name}": ${explainExec(outcome)}`, hint, 126);
}

interface CommandLineOutput {
  readonly event: string;
  readonly line: string;
}

/** Hooks and script, in order. */
function linesOf(
  { name, package: { manifest } }: ScriptPlan["target"],
  args: readonly string[],
): CommandLineOutput[] {
  const lines: CommandLineOutput[] = [];
  for (const { scriptName, command, isMain } of stepsOf(manifest, name)) {
    const line = isMain ? appendArguments(command, host.exactArguments(args)) : command;
    lines.push({ event: scriptName, line });
  }
  return lines;
}

/** Secrets without duplicates, by name. */
function allOf(secrets: readonly (readonly SecretValue[])[]): SecretValue[] {
  return [...new Map(secrets.flat().map((secret) => [secret.name, secret])).values()];
}

function replacementBy(step: PreparedStep, directory: string, { silent }: ScriptSettings): Replacement {
  const shown = (isTerminal: boolean) => commandLine(step.command, () => isTerminal);
  return { lines: silent ? undefined : [shown(true), shown(false)], directory, command: commandOf(step) };
}

function commandOf({ shell, environment }: PreparedStep, descriptors?: readonly number[]): ReplaceRequest {
  return { ...shell, environment: { ...environment, ...shell.environment }, descriptors };
}

/**
 * Returns the system's error code if the program cannot be started. @throws UserError
 * @param secrets values to redact in the output
 */
async function becomeOrRedact(
  command: ReplaceRequest,
  secrets: readonly SecretValue[],
  early: PreparedTerminal | undefined,
): Promise<ExitStatus | string> {
  if (secrets.length > 0 || early) {
    const { startRedactedIfNeeded } = await import("./redacted-process.ts");
    const outcome = await startRedactedIfNeeded(command, secrets, "end", early);
    if (outcome !== undefined) return outcome;
  }
  const mustStay = isFirstProcess() || outlivesItsShell(command);
  return mustStay ? await stayBefore(command, command.descriptors) : host.replace(command);
}

/** The engine's shell does not forward signals: a signal that ended it would leave its programs running. */
function outlivesItsShell({ engine = false }: ReplaceRequest): boolean {
  return engine && host.defaultShell === "system";
}

/**
 * Runs a step that is followed by another. @throws UserError, or the system error if it cannot be started
 * @param secrets values to redact in the output
 */
async function runStep(
  step: PreparedStep,
  secrets: readonly SecretValue[],
  descriptors: readonly number[],
  next: "step" | "replacement",
  early: PreparedTerminal | undefined,
): Promise<ExitStatus> {
  if (secrets.length > 0 || early) {
    const { startRedactedIfNeeded } = await import("./redacted-process.ts");
    const outcome = await startRedactedIfNeeded(commandOf(step, descriptors), secrets, next, early);
    if (typeof outcome === "string")
      throw new UserError(`Cannot run the script "${step.event}": ${explainExec(outcome)}`, undefined, 126);
    if (outcome !== undefined) return outcome;
  }
  const { waitForStep } = await import("./step-wait.ts");
  return await waitForStep(step, descriptors, next);
}

/** Process 1 of a container: the kernel drops signals that it does not handle, and most programs handle none. */
function isFirstProcess(): boolean {
  return process.pid === 1;
}

/** Forwards signals and exits as the program does. Returns the system's error code if it cannot be started. */
async function stayBefore(
  { environment, ...shell }: ShellCommand,
  descriptors = host.inheritedDescriptors(),
): Promise<ExitStatus | string> {
  const { waitForStep } = await import("./step-wait.ts");
  try {
    return await waitForStep({ shell: { ...shell, environment: {} }, environment }, descriptors, "end");
  } catch (error) {
    return errorReason(error);
  }
}

/** Writes a line to standard error. A module for the rest of a partial write is loaded only if it is needed. */
function showLine(line: string): void {
  const bytes = new TextEncoder().encode(`${line}\n`);
  const count = host.write(2, bytes);
  if (count === bytes.length) return;
  const { writeOwn } = require("../../output.ts") as typeof import("../../output.ts");
  try {
    writeOwn(2, bytes.subarray(Math.max(0, count)));
  } catch {
    // the reader has disconnected
  }
}

function echo(
  command: string,
  { silent }: ScriptSettings,
  secrets: readonly SecretValue[],
  hasArguments: boolean,
): void {
  if (silent) return;
  showLine(
    commandLine(secrets.length > 0 ? hideIn(command, secrets, hasArguments) : command, () =>
      host.isTerminal(2),
    ),
  );
}

/** Returns the line that shows a command. @param isTerminal for standard error */
export function commandLine(command: string, isTerminal: () => boolean): string {
  const shown = fitToPrint(command);
  const useColor = wantsColor(host.originalVariable, isTerminal);
  return useColor ? `\x1b[0;35m$\x1b[0m \x1b[2m\x1b[1m${shown}\x1b[0m` : `$ ${shown}`;
}

function hideIn(command: string, secrets: readonly SecretValue[], hasArguments: boolean): string {
  const { hideValues } = require("../../redaction/text.ts") as typeof import("../../redaction/text.ts");
  return hideValues(command, secrets, hasArguments);
}

/** A loop instead of a regular expression, which would take longer to create. */
function fitToPrint(text: string): string {
  let isPlain = true;
  for (const character of text) isPlain &&= character >= " " && character <= "~";
  if (isPlain && !text.includes("##")) return text;
  return (require("../../printable.ts") as typeof import("../../printable.ts")).oneLine(text);
}

function describeEnding(name: string, ending: ExitStatus, { silent }: ScriptSettings): void {
  if (silent) return;
  const event = fitToPrint(name);
  if (typeof ending === "number") return showLine(`error: script "${event}" exited with code ${ending}`);
  if (ending.signal === "SIGINT") return;
  showLine(`error: script "${event}" was terminated by signal ${ending.signal}`);
}

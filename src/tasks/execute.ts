// Runs the steps of one task (before, the script, after) and answers for every process that this starts.
//
// Contract: a failing step ends the task. INT, TERM and HUP that reach rt are passed at once to everything
// its children have started; what is still there after a grace, or at a second INT, is killed. When a run
// is over because of a signal or a failure, nothing of it is left running. A background process that a
// script leaves behind in a run without either is the script's affair.
import { files } from "../../platform/files.ts";
import { host } from "../../platform/process.ts";
import { trees } from "../../platform/process-tree.ts";
import type { Child, ChildExit, ChildRequest, StopSignal } from "../../platform/contract/process-tree.ts";
import type { Outcome, TaskEvent } from "./event.ts";
import { Refused } from "./schedule.ts";
import type { Command, Step, Task, TaskRequest } from "./task.ts";

/** Milliseconds between a signal that asks and SIGKILL. */
const GRACE = 5000;
const LOOK_AGAIN_AFTER = 10; // ms
const LACK_OF_RESOURCES = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);
/** What shells say of a program that is not there, or is none. */
const START_FAILURES: Readonly<Record<string, number>> = {
  ENOENT: 127,
  EACCES: 126,
  ENOEXEC: 126,
  E2BIG: 126,
};
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface ExecutorOptions {
  readonly request: Pick<TaskRequest, "commandFor">;
  readonly output: ChildRequest["output"];
  readonly inheritStdin: boolean;
  /** Added to every child's environment. */
  readonly extraEnvironment: Readonly<Record<string, string>>;
  emit(event: TaskEvent): void | Promise<void>;
  /** A signal came: nothing more is to be started. */
  onInterrupt(signal: NodeJS.Signals): void;
  /** Everything is about to stand still, rt included. */
  onSuspend(): void;
}

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #running = new Map<Child, Task>();
  readonly #started = performance.now();
  #stopped: Child[] = [];
  #isStopping = false;
  #killTimer: ReturnType<typeof setTimeout> | undefined;
  #interrupts = 0;
  #listeners: (() => void)[] = [];

  constructor(options: ExecutorOptions) {
    this.#options = options;
    for (const signal of host.heeded(FORWARDED)) {
      const listener = () => this.#interrupt(signal);
      process.on(signal, listener);
      this.#listeners.push(() => process.off(signal, listener));
    }
    // With inherited output the children are in our own group, which the terminal stops as a whole.
    if (options.output === "inherit") return;
    const stopSharing = trees.shareSuspension({
      children: () => [...new Set([...this.#running.keys(), ...this.#stopped])],
      onSuspend: () => options.onSuspend(),
      onResume: () => void options.emit({ type: "resume" }),
    });
    this.#listeners.push(stopSharing);
  }

  now(): number {
    return performance.now() - this.#started;
  }

  /** Never rejects because of the task; rejects with Refused when its first step found no resources. */
  async run(task: Task): Promise<Outcome> {
    const { emit } = this.#options;
    const begin = this.now();
    let outcome: Outcome = { kind: "success" };
    for (const step of task.steps) {
      outcome = await this.#runStep(task, step);
      if (outcome.kind !== "success") break;
    }
    const at = this.now();
    await emit({ type: "task-end", task, outcome, at, duration: at - begin });
    return outcome;
  }

  async #runStep(task: Task, step: Step): Promise<Outcome> {
    if (this.#isStopping) return { kind: "stopped", wasRunning: true };
    const { emit, request } = this.#options;
    const begin = this.now();
    let exit: ChildExit;
    let command: Command | undefined;
    try {
      command = request.commandFor({
        packageDirectory: task.packageDirectory,
        manifest: task.manifest,
        scriptName: step.scriptName,
        args: step.isMain ? task.args : [],
        isMain: step.isMain,
        isCollected: this.#options.output !== "inherit",
      });
      exit = await this.#start(task, step, command, begin);
    } catch (error) {
      const { code = "", message } = error as { code?: string; message: string };
      if (LACK_OF_RESOURCES.has(code) && step === task.steps[0]) throw new Refused(message, code);
      const reason = (command && explainStart(code, command)) ?? message;
      return { kind: "unstartable", code: START_FAILURES[code] ?? 1, step, reason };
    }
    const at = this.now();
    await emit({ type: "step-end", task, step, exit, at, duration: at - begin });
    if (exit.signal === null && exit.code === 0) return { kind: "success" };
    if (this.#isStopping) return { kind: "stopped", wasRunning: true };
    if (exit.signal !== null) return { kind: "signal", signal: exit.signal as NodeJS.Signals, step };
    return { kind: "failure", code: exit.code, step };
  }

  async #start(task: Task, step: Step, command: Command, at: number): Promise<ChildExit> {
    const { emit, output, inheritStdin, extraEnvironment } = this.#options;
    const deliver = (bytes: Uint8Array, isError: boolean) =>
      emit({ type: "output", task, step, bytes, isError });
    if (command.evaluate) {
      emit({ type: "step-start", task, step, at });
      const { code, stdout } = await command.evaluate();
      if (stdout.length > 0) await deliver(stdout, false);
      return { code, signal: null };
    }
    if (output === "inherit" && command.attend) {
      emit({ type: "step-start", task, step, at });
      return await command.attend();
    }
    const redacted = command.redact?.(deliver);
    const env = isEmpty(extraEnvironment) ? command.env : { ...extraEnvironment, ...command.env };
    const child = trees.startChild({
      program: command.program,
      argv: command.argv,
      cwd: command.cwd,
      env,
      output,
      inheritStdin,
      onOutput: redacted?.push ?? deliver,
    });
    this.#running.set(child, task);
    emit({ type: "step-start", task, step, at });
    const exit = await child.done;
    this.#running.delete(child);
    await redacted?.end();
    return exit;
  }

  #interrupt(signal: StopSignal & NodeJS.Signals): void {
    this.#interrupts++;
    this.#options.emit({ type: "interrupt", signal });
    this.#options.onInterrupt(signal);
    const isImpatient = this.#interrupts > 1 && signal === "SIGINT";
    // The terminal has told a child that shares it; telling it again would look like a second Ctrl-C.
    const isToldAlready =
      signal === "SIGINT" &&
      this.#options.output === "inherit" &&
      trees.terminalSignalsInherited &&
      isTerminal();
    this.stop(isImpatient ? "SIGKILL" : signal, isToldAlready && !isImpatient);
  }

  /** Ends everything that runs; returns at once. */
  stop(signal: StopSignal, isToldAlready = false): void {
    this.#isStopping = true;
    for (const child of this.#running.keys()) if (!this.#stopped.includes(child)) this.#stopped.push(child);
    if (!isToldAlready && this.#stopped.length > 0) trees.signalTrees(this.#stopped, signal);
    this.#killTimer ??= setTimeout(() => trees.signalTrees(this.#stopped, "SIGKILL"), GRACE);
  }

  /** After the last task: waits until nothing is left of what had to be stopped. */
  async finish(): Promise<void> {
    while (this.#stopped.length > 0 && trees.hasSurvivors(this.#stopped)) await Bun.sleep(LOOK_AGAIN_AFTER);
    clearTimeout(this.#killTimer);
  }

  /** From now on a signal is the system's affair again. */
  close(): void {
    for (const remove of this.#listeners) remove();
  }
}

/** The system's own words do not say what it is that is missing. */
function explainStart(code: string, { program, argv, cwd }: Command): string | undefined {
  if (files.readFile(cwd, 1) === "ENOENT") return `its directory is not there: ${cwd}`;
  const name = program ?? argv[0];
  if (code === "ENOENT") return `${name} is not there`;
  if (code === "EACCES") return `permission denied, for ${name} or ${cwd}`;
  if (code === "EMFILE") return `too many open files: the limit is ${host.descriptorLimit()} (ulimit -n)`;
  if (code === "E2BIG") return "the command and its environment are too long for this system";
  return undefined;
}

function isTerminal(): boolean {
  return host.isTerminal(0);
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

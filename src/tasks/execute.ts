// Runs the steps of one task (before, the script, after) and answers for every process that this starts.
//
// Contract: a failing step ends the task. INT, TERM and HUP that reach rt are passed at once to everything
// its children have started; what is still there after a grace, or at a second INT, is killed. When a run
// is over because of a signal or a failure, nothing of it is left running. A background process that a
// script leaves behind in a run without either is the script's affair. In a run that is watched it is not: it ends before
// its task starts again, and with the run.
import { files } from "../../platform/files.ts";
import { host } from "../../platform/process.ts";
import { trees } from "../../platform/process-tree.ts";
import type { Child, ChildExit, ChildRequest, StopSignal } from "../../platform/contract/process-tree.ts";
import type { Outcome, TaskEvent } from "./event.ts";
import { Refused } from "./schedule.ts";
import type { CachedTask, Command, Step, Task, TaskRequest } from "./task.ts";

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
  readonly request: Pick<TaskRequest, "commandFor" | "prepare" | "openCached">;
  readonly output: ChildRequest["output"];
  readonly inheritStdin: boolean;
  /** Added to every child's environment. */
  readonly extraEnvironment: Readonly<Record<string, string>>;
  emit(event: TaskEvent): void | Promise<void>;
  /** That of a watched run. @param task is about to start */
  readonly onStart?: ((task: Task) => void) | undefined;
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
  /** In a watched run: what each task has started last and may have left something of. */
  readonly #trees = new Map<Task, Child[]>();
  /** Tasks that are to start again, each with the end of all that was started before. */
  readonly #endings = new Map<Task, Promise<void>>();
  readonly #ends = new Map<Task, number>();
  /** Watched tasks that run. */
  readonly #active = new Set<Task>();
  readonly #begun = new Set<Task>();
  /** Those of them that begin again: what their scripts get may be another by now. */
  readonly #again = new Set<Task>();
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
    if (this.#options.onStart) await this.#prepareWatched(task);
    const begin = this.now();
    let outcome: Outcome = { kind: "success" };
    const cached = await this.#openCached(task);
    if (cached?.hit) {
      await this.#replay(task, cached.hit);
      outcome = { kind: "success", saved: cached.hit.saved };
    } else {
      for (const step of task.steps) {
        outcome = await this.#runStep(task, step, cached);
        if (outcome.kind !== "success") break;
      }
      for (const message of (await cached?.close(outcome.kind)) ?? []) void emit({ type: "notice", message });
    }
    const ending = this.#endings.get(task);
    if (ending) {
      await ending;
      outcome = { kind: "stopped", wasRunning: true };
    }
    const at = this.now();
    await emit({ type: "task-end", task, outcome, at, duration: at - begin });
    // Not before: up to here it may still be asked to end.
    if (this.#options.onStart) this.#noteEnd(task);
    return outcome;
  }

  async #openCached(task: Task): Promise<CachedTask | undefined> {
    const { request, extraEnvironment, emit } = this.#options;
    const opened = await request.openCached?.(task, extraEnvironment);
    if (!opened || !("notice" in opened)) return opened;
    void emit({ type: "notice", message: opened.notice });
    return undefined;
  }

  /** What it wrote then, as if it had run. */
  async #replay(task: Task, { pieces, saved }: NonNullable<CachedTask["hit"]>): Promise<void> {
    const { emit } = this.#options;
    for (const [index, step] of task.steps.entries()) {
      const at = this.now();
      await emit({ type: "step-start", task, step, at });
      for (const { bytes, isError } of pieces.filter((piece) => piece.step === index))
        await emit({ type: "output", task, step, bytes, isError });
      const exit = { code: 0, signal: null };
      await emit({ type: "step-end", task, step, exit, at, duration: 0, ...(step.isMain && { saved }) });
    }
  }

  /** Returns when what the task has started before is gone. */
  async #prepareWatched(task: Task): Promise<void> {
    await this.#endings.get(task);
    this.#endings.delete(task);
    this.#trees.delete(task);
    this.#ends.delete(task);
    this.#active.add(task);
    if (this.#begun.has(task)) this.#again.add(task);
    this.#begun.add(task);
    if (!this.#isStopping) this.#options.onStart!(task);
  }

  /** Its children are forgotten when nothing is left of them: their numbers may be given to others. */
  #noteEnd(task: Task): void {
    this.#active.delete(task);
    const children = this.#trees.get(task) ?? [];
    if (children.length > 0 && trees.hasSurvivors(children, [familyOf(task)])) return;
    this.#trees.delete(task);
    this.#ends.set(task, Date.now());
  }

  async #runStep(task: Task, step: Step, cached: CachedTask | undefined): Promise<Outcome> {
    if (this.#isStopping || this.#endings.has(task)) return { kind: "stopped", wasRunning: true };
    const { emit, request } = this.#options;
    const begin = this.now();
    let exit: ChildExit;
    let command: Command | undefined;
    try {
      if (this.#again.delete(task)) await request.prepare?.([task]);
      command = request.commandFor({
        packageDirectory: task.packageDirectory,
        manifest: task.manifest,
        scriptName: step.scriptName,
        args: step.isMain ? task.args : [],
        isMain: step.isMain,
        isCollected: this.#options.output !== "inherit" && !cached,
      });
      exit = await this.#start(task, step, command, begin, cached);
    } catch (error) {
      const { code = "", message } = error as { code?: string; message: string };
      if (LACK_OF_RESOURCES.has(code) && step === task.steps[0]) throw new Refused(message, code);
      const reason = (command && explainStart(code, command)) ?? message;
      return { kind: "unstartable", code: START_FAILURES[code] ?? 1, step, reason };
    }
    const at = this.now();
    await emit({ type: "step-end", task, step, exit, at, duration: at - begin });
    if (exit.signal === null && exit.code === 0) return { kind: "success" };
    if (this.#isStopping || this.#endings.has(task)) return { kind: "stopped", wasRunning: true };
    if (exit.signal !== null) return { kind: "signal", signal: exit.signal as NodeJS.Signals, step };
    return { kind: "failure", code: exit.code, step };
  }

  async #start(
    task: Task,
    step: Step,
    command: Command,
    at: number,
    cached: CachedTask | undefined,
  ): Promise<ChildExit> {
    const { emit, output, inheritStdin, extraEnvironment, onStart } = this.#options;
    const family = onStart && { family: familyOf(task) };
    const deliver = (bytes: Uint8Array, isError: boolean) =>
      emit({ type: "output", task, step, bytes, isError });
    if (command.evaluate) {
      emit({ type: "step-start", task, step, at });
      const { code, stdout } = await command.evaluate();
      if (stdout.length > 0) await deliver(stdout, false);
      return { code, signal: null };
    }
    if (cached) {
      const index = task.steps.indexOf(step);
      const request = { cwd: command.cwd, output: "separate", onOutput: deliver, ...family } as const;
      const followed = cached.start(index, request);
      emit({ type: "step-start", task, step, at });
      const exit = await this.#awaitExit(followed, task);
      // Where the system does not let it be followed, nothing has been started yet.
      if (this.#isStopping || (await followed.isTraced)) return exit;
      const env = cached.environmentOf(index);
      const { program, argv } = command;
      return await this.#awaitExit(
        trees.startChild({ program, argv, env, inheritStdin: false, ...request }),
        task,
      );
    }
    const env = isEmpty(extraEnvironment) ? command.env : { ...extraEnvironment, ...command.env };
    const child = trees.startChild({
      program: command.program,
      argv: command.argv,
      cwd: command.cwd,
      env,
      output,
      inheritStdin,
      onOutput: deliver,
      ...family,
    });
    emit({ type: "step-start", task, step, at });
    return await this.#awaitExit(child, task);
  }

  async #awaitExit(child: Child, task: Task): Promise<ChildExit> {
    this.#running.set(child, task);
    if (this.#options.onStart) this.#trees.set(task, [...(this.#trees.get(task) ?? []), child]);
    const exit = await child.done;
    this.#running.delete(child);
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

  /** Ends what watched tasks have started; those that run come back when all of it has ended, the others may start then. */
  end(tasks: readonly Task[], signal: StopSignal): void {
    const fresh = tasks.filter(
      (task) => !this.#endings.has(task) && (this.#active.has(task) || this.#trees.has(task)),
    );
    if (fresh.length === 0) return;
    const children = fresh.flatMap((task) => this.#trees.get(task) ?? []);
    const families = fresh.map(familyOf);
    if (children.length > 0) trees.signalTrees(children, signal, families);
    const ended = this.#awaitEnd(children, families);
    for (const task of fresh) this.#endings.set(task, ended);
  }

  async #awaitEnd(children: readonly Child[], families: readonly string[]): Promise<void> {
    const deadline = performance.now() + GRACE;
    while (trees.hasSurvivors(children, families)) {
      if (performance.now() > deadline) trees.signalTrees(children, "SIGKILL", families);
      await Bun.sleep(LOOK_AGAIN_AFTER);
    }
  }

  /** When the last of these watched tasks had ended, in milliseconds since 1970; undefined while something of them runs. */
  endOf(tasks: readonly Task[]): number | undefined {
    if (tasks.some((task) => this.#active.has(task))) return undefined;
    for (const task of tasks) if (this.#trees.has(task)) this.#noteEnd(task);
    if (tasks.some((task) => this.#trees.has(task))) return undefined;
    return Math.max(0, ...tasks.map((task) => this.#ends.get(task) ?? 0));
  }

  /** It has begun, and nobody has asked it to end. */
  isRunning(task: Task): boolean {
    return this.#active.has(task) && !this.#endings.has(task);
  }

  /** Ends everything that runs; returns at once. */
  stop(signal: StopSignal, isToldAlready = false): void {
    this.#isStopping = true;
    for (const child of [...this.#running.keys(), ...[...this.#trees.values()].flat()])
      if (!this.#stopped.includes(child)) this.#stopped.push(child);
    if (!isToldAlready && this.#stopped.length > 0) trees.signalTrees(this.#stopped, signal);
    this.#killTimer ??= setTimeout(() => trees.signalTrees(this.#stopped, "SIGKILL"), GRACE);
  }

  /** After the last task: waits until nothing is left of what had to be stopped. */
  async finish(): Promise<void> {
    // What a shell has put into the background does not listen to Ctrl-C.
    if (this.#options.onStart && this.#stopped.length > 0) trees.signalTrees(this.#stopped, "SIGTERM");
    while (this.#stopped.length > 0 && trees.hasSurvivors(this.#stopped)) await Bun.sleep(LOOK_AGAIN_AFTER);
    clearTimeout(this.#killTimer);
  }

  /** From now on a signal is the system's affair again. */
  close(): void {
    for (const remove of this.#listeners) remove();
  }
}

/** Tells what a task's descendants are from those of another, also when they have lost their parents. */
function familyOf({ index }: Task): string {
  return `${process.pid}.${index}`;
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

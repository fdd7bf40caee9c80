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
import type { RedactedOutput } from "../redaction/stream.ts";
import type { TaskEvent } from "./event.ts";
import { describeWhy } from "./report/wording.ts";
import { Refused } from "./schedule.ts";
import type { CachedTask, Command, Step, Task, TaskRequest, Outcome } from "./task.ts";
import { familyOf, GRACE, WatchedTrees } from "./watched-trees.ts";

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
  readonly request: Pick<
    TaskRequest,
    "commandFor" | "prepare" | "openCached" | "explainCached" | "beforeStart"
  >;
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
  readonly #watched: WatchedTrees | undefined;
  /** Tasks of it that begin again: what their scripts get may be another by now. */
  readonly #again = new Set<Task>();
  #isStopping = false;
  #killTimer: ReturnType<typeof setTimeout> | undefined;
  #interrupts = 0;
  #listeners: (() => void)[] = [];

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#watched = options.onStart && new WatchedTrees();
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

  /** Of a watched run alone. */
  get watched(): WatchedTrees {
    return this.#watched!;
  }

  now(): number {
    return performance.now() - this.#started;
  }

  /** Never rejects because of the task; rejects with Refused when its first step found no resources. */
  async run(task: Task): Promise<Outcome> {
    const { emit } = this.#options;
    const { request } = this.#options;
    if (this.#watched) {
      request.beforeStart?.(); // files change at any time in such a run
      await this.#beginWatched(task, this.#watched);
    }
    const begin = this.now();
    let outcome: Outcome = { kind: "success" };
    const cached = await this.#openCached(task);
    if (cached && request.explainCached)
      void emit({ type: "remark", line: describeWhy(task, cached.hit !== undefined, cached.why) });
    if (cached?.hit) {
      await this.#replay(task, cached.hit);
      outcome = { kind: "success", saved: cached.hit.saved };
    } else {
      request.beforeStart?.();
      for (const step of task.steps) {
        outcome = await this.#runStep(task, step, cached);
        if (outcome.kind !== "success") break;
      }
      for (const message of (await cached?.close(outcome.kind)) ?? []) void emit({ type: "notice", message });
      if (cached?.isFaulty && outcome.kind === "success")
        outcome = { kind: "failure", code: 1, step: task.steps.at(-1)! };
    }
    const ending = this.#watched?.endingOf(task);
    if (ending) {
      await ending;
      outcome = { kind: "stopped", wasRunning: true };
    }
    const at = this.now();
    const why = cached && { why: cached.why };
    await emit({ type: "task-end", task, outcome, at, duration: at - begin, ...why });
    // Not before: up to here it may still be asked to end.
    this.#watched?.finish(task);
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

  async #beginWatched(task: Task, watched: WatchedTrees): Promise<void> {
    if (await watched.begin(task)) this.#again.add(task);
    if (!this.#isStopping) this.#options.onStart?.(task);
  }

  async #runStep(task: Task, step: Step, cached: CachedTask | undefined): Promise<Outcome> {
    if (this.#isEnding(task)) return { kind: "stopped", wasRunning: true };
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
        isCollected: this.#options.output !== "inherit" || cached !== undefined,
        isKept: cached !== undefined,
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
    if (this.#isEnding(task)) return { kind: "stopped", wasRunning: true };
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
    if (output === "inherit" && command.attend) {
      emit({ type: "step-start", task, step, at });
      return await command.attend();
    }
    if (cached) {
      const index = task.steps.indexOf(step);
      const keep = (bytes: Uint8Array, isError: boolean) => {
        cached.keepOutput(index, bytes, isError);
        return deliver(bytes, isError);
      };
      const start = (begin: (onOutput: typeof deliver) => Child) => {
        const redacted = command.redact?.(keep);
        const child = begin(redacted?.push ?? keep);
        return this.#awaitExit(child, task, redacted);
      };
      const request = { cwd: command.cwd, output: "separate", ...family } as const;
      let isTraced: Promise<boolean> | undefined;
      const exit = start((onOutput) => {
        const followed = cached.start(index, { ...request, onOutput });
        isTraced = followed.isTraced;
        return followed;
      });
      emit({ type: "step-start", task, step, at });
      const ended = await exit;
      // Where the system does not let it be followed, nothing has been started yet.
      if (this.#isStopping || (await isTraced)) return ended;
      const env = cached.environmentOf(index);
      const { program, argv } = command;
      return await start((onOutput) =>
        trees.startChild({ program, argv, env, inheritStdin: false, ...request, onOutput }),
      );
    }
    const redacted = command.redact?.(deliver);
    const onOutput = redacted?.push ?? deliver;
    const env = isEmpty(extraEnvironment) ? command.env : { ...extraEnvironment, ...command.env };
    const child = trees.startChild({
      program: command.program,
      argv: command.argv,
      cwd: command.cwd,
      env,
      output,
      inheritStdin,
      onOutput,
      ...family,
    });
    emit({ type: "step-start", task, step, at });
    return await this.#awaitExit(child, task, redacted);
  }

  async #awaitExit(child: Child, task: Task, redacted: RedactedOutput | undefined): Promise<ChildExit> {
    this.#running.set(child, task);
    this.#watched?.add(task, child);
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

  #isEnding(task: Task): boolean {
    return this.#isStopping || this.#watched?.endingOf(task) !== undefined;
  }

  /** Ends everything that runs; returns at once. */
  stop(signal: StopSignal, isToldAlready = false): void {
    this.#isStopping = true;
    for (const child of [...this.#running.keys(), ...(this.#watched?.children ?? [])])
      if (!this.#stopped.includes(child)) this.#stopped.push(child);
    if (!isToldAlready && this.#hasStopped) trees.signalTrees(this.#stopped, signal);
    this.#killTimer ??= setTimeout(() => trees.signalTrees(this.#stopped, "SIGKILL"), GRACE);
  }

  /** After the last task: waits until nothing is left of what had to be stopped. */
  async finish(): Promise<void> {
    // What a shell has put into the background does not listen to Ctrl-C.
    if (this.#watched) trees.signalTrees(this.#stopped, "SIGTERM");
    while (this.#hasStopped && trees.hasSurvivors(this.#stopped)) await Bun.sleep(LOOK_AGAIN_AFTER);
    clearTimeout(this.#killTimer);
  }

  /** A watched run may have left what nobody knows the script of. */
  get #hasStopped(): boolean {
    return this.#stopped.length > 0 || this.#watched !== undefined;
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

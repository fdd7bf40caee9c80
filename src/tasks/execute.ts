// Runs the steps of one task (before, the script, after) and answers for every process that this starts.
//
// Contract: a failing step ends the task. INT, TERM and HUP that reach rt are passed at once to everything
// its children have started; what is still there after a grace, or at a second INT, is killed. When a run
// is over because of a signal or a failure, nothing of it is left running. A background process that a
// script leaves behind in a run without either is the script's affair. In a run that is watched it is not: it ends before
// its task starts again, and with the run.
import { host } from "../../platform/process.ts";
import { trees } from "../../platform/process-tree.ts";
import type { Child, ChildExit, ChildRequest, StopSignal } from "../../platform/contract/process-tree.ts";
import type { RedactedOutput } from "../redaction/stream.ts";
import { runElsewhere } from "./elsewhere.ts";
import type { TaskEvent } from "./event.ts";
import { replay, replayFailure } from "./replay.ts";
import { describeWhy, labelOf } from "./report/wording.ts";
import { Refused } from "./schedule.ts";
import { explainStart } from "./start-failure.ts";
import type { Turn, Turns } from "./share/turns.ts";
import type { CachedTask, Command, Step, Task, TaskRequest, Outcome, Watcher } from "./task.ts";
import { familyOf, GRACE, WatchedTrees } from "./watched-trees.ts";
import { decideWhere, type RemoteRun } from "./where.ts";

const LOOK_AGAIN_AFTER = 10; // ms
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface ExecutorOptions {
  readonly request: Pick<
    TaskRequest,
    "commandFor" | "prepare" | "openCached" | "explainCached" | "beforeStart" | "offerFor"
  >;
  /** Where tasks may run on other machines. */
  readonly remote?: RemoteRun | undefined;
  readonly output: ChildRequest["output"];
  readonly inheritStdin: boolean;
  /** Added to every child's environment. */
  readonly extraEnvironment: Readonly<Record<string, string>>;
  emit(event: TaskEvent): void | Promise<void>;
  readonly watcher?: Watcher | undefined;
  /** That of a run which several machines share. */
  readonly turns?: Turns | undefined;
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
    this.#watched = options.watcher && new WatchedTrees();
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

  /**
   * Never rejects because of the task; rejects with Refused when its first step found no resources, and with the Failure of
   * a server that is to run it.
   */
  async run(task: Task): Promise<Outcome> {
    const { emit, remote, request } = this.#options;
    // Files change at any time in a watched run, and where something comes from other machines.
    if (this.#watched || remote) request.beforeStart?.();
    if (this.#watched) await this.#beginWatched(task, this.#watched);
    const turn = await this.#options.turns?.take(task, () => this.#openCached(task));
    const begin = this.now();
    let outcome: Outcome = turn?.isStopped ? { kind: "stopped", wasRunning: false } : { kind: "success" };
    const offer = remote && request.offerFor!(task);
    if (offer && (offer.isCached || decideWhere(offer).place === "here")) await remote.bring(task);
    const cached = turn ? turn.cached : await this.#openCached(task);
    let where = offer && decideWhere(offer, cached && { isHit: cached.hit !== undefined, why: cached.why });
    if (cached && request.explainCached)
      void emit({ type: "remark", line: describeWhy(task, cached.hit !== undefined, cached.why) });
    if (turn?.failure) outcome = await replayFailure(task, turn.failure, this);
    else if (cached?.hit) {
      const machine = turn?.other !== undefined && { machine: turn.other };
      const isShown = cached.hit.restored === 0 && this.#options.watcher?.isShown(task, cached.inputs);
      if (!isShown) await replay(task, { ...cached.hit, ...machine }, this);
      outcome = { kind: "success", saved: cached.hit.saved, ...machine };
    } else if (where?.place === "remote" && !this.#isEnding(task)) {
      const ended = await runElsewhere(task, remote!, this.#redactionOf(task), this);
      ({ outcome } = ended);
      where = { ...where, ...(ended.machine !== undefined && { machine: ended.machine }) };
      // The server knows what it did; nobody has followed it.
      for (const message of (await cached?.close("stopped")) ?? []) void emit({ type: "notice", message });
    } else if (outcome.kind === "success") {
      request.beforeStart?.();
      outcome = await this.#runSteps(task, cached, turn);
      const publication = turn?.end(outcome);
      for (const message of (await cached?.close(outcome.kind, publication)) ?? [])
        void emit({ type: "notice", message });
      if (cached?.isFaulty && outcome.kind === "success")
        outcome = { kind: "failure", code: 1, step: task.steps.at(-1)! };
    }
    if (turn && !(await turn.finish(outcome, this.now() - begin))) {
      const message = `Another machine has taken over ${labelOf(task)}, since nothing was heard of this one; what it made here does not count`;
      void emit({ type: "notice", message });
      void emit({ type: "again", tasks: [task] });
      return await this.run(task);
    }
    if (!this.#isEnding(task))
      await this.#options.watcher?.onEnd(task, outcome.kind === "success" ? cached : undefined);
    const ending = this.#watched?.endingOf(task);
    if (ending) {
      await ending;
      outcome = { kind: "stopped", wasRunning: true };
    }
    if (where && where.place !== "remote") remote!.look();
    const at = this.now();
    const known = {
      ...(cached && { why: cached.why }),
      ...(where && { where }),
      ...(turn && { machine: turn.machine }),
    };
    await emit({ type: "task-end", task, outcome, at, duration: at - begin, ...known });
    // Not before: up to here it may still be asked to end.
    this.#watched?.finish(task);
    return outcome;
  }

  emit(event: TaskEvent): void | Promise<void> {
    return this.#options.emit(event);
  }

  #redactionOf(task: Task): Command["redact"] {
    const { packageDirectory, manifest, scriptName, args } = task;
    const request = { packageDirectory, manifest, scriptName, args, isMain: true, isCollected: true };
    return this.#options.request.commandFor({ ...request, isKept: true }).redact;
  }

  async #openCached(task: Task): Promise<CachedTask | undefined> {
    const { request, extraEnvironment, emit } = this.#options;
    const opened = await request.openCached?.(task, extraEnvironment);
    if (!opened || !("notice" in opened)) return opened;
    void emit({ type: "notice", message: opened.notice });
    return undefined;
  }

  async #runSteps(task: Task, cached: CachedTask | undefined, turn: Turn | undefined): Promise<Outcome> {
    try {
      for (const step of task.steps) {
        const outcome = await this.#runStep(task, step, cached);
        if (outcome.kind !== "success") return outcome;
      }
      return { kind: "success" };
    } catch (error) {
      await turn?.finish({ kind: "stopped", wasRunning: false }, 0);
      throw error;
    }
  }

  async #beginWatched(task: Task, watched: WatchedTrees): Promise<void> {
    if (await watched.begin(task)) this.#again.add(task);
    if (!this.#isStopping) this.#options.watcher?.onStart(task);
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
      const failure = explainStart(error as Error, command);
      if (failure.isLack && step === task.steps[0]) throw new Refused(failure.message, failure.system);
      return { kind: "unstartable", code: failure.code, step, reason: failure.reason };
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
    const { emit, output, inheritStdin, extraEnvironment, watcher } = this.#options;
    const family = watcher && { family: familyOf(task) };
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
    this.#options.remote?.stop();
    this.#options.turns?.stop();
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

function isTerminal(): boolean {
  return host.isTerminal(0);
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

// A task that is carried out on this machine: its steps (before, the script, after), one after the other, each started as
// src/runner says, or evaluated in rt itself.
//
// Contract: a failing step ends the task. One that is cached is followed; where the system does not let it be followed it is
// started again without that, since nothing of it has run. What could not be started has an outcome too.
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child, ChildExit, ChildRequest } from "../../../platform/processes/contract/process-tree.ts";
import type { RedactedOutput } from "../../redaction/stream.ts";
import type { TaskEvent } from "../task-events.ts";
import { ResourceExhausted } from "./schedule.ts";
import { explainStart } from "./spawn-error.ts";
import type { CachedTask, SpawnCommand, TaskOutcome, TaskStep, ScriptTask, TaskRequest } from "../task.ts";
import { familyOf, type WatchedTrees } from "./watched-process-trees.ts";

export interface StepsOptions {
  readonly request: Pick<TaskRequest, "commandFor" | "prepare">;
  readonly output: ChildRequest["output"];
  readonly inheritStdin: boolean;
  /** Added to every child's environment. */
  readonly extraEnvironment: Readonly<Record<string, string>>;
  readonly watched: WatchedTrees | undefined;
  emit(event: TaskEvent): void | Promise<void>;
  now(): number;
  /** Whether the task is not to go on, and whether the whole run is not. */
  isEnding(task: ScriptTask): boolean;
  isOver(): boolean;
}

export class Steps {
  readonly #options: StepsOptions;
  readonly #running = new Map<Child, ScriptTask>();
  /** Those that have ended and left something in the background; of a watched run `watched` knows. */
  readonly #left: Child[] = [];
  /** Tasks of a watched run that begin again: what their scripts get may be another by now. */
  readonly #again = new Set<ScriptTask>();

  constructor(options: StepsOptions) {
    this.#options = options;
  }

  /** What runs. */
  get children(): Child[] {
    return [...this.#running.keys()];
  }

  /** What has ended and had left something by then. */
  get left(): readonly Child[] {
    return this.#left;
  }

  /** Before it runs again. */
  renew(task: ScriptTask): void {
    this.#again.add(task);
  }

  /**
   * Rejects with Refused when the first of them found no resources.
   * @param cached what looks at them, and keeps what they do
   */
  async run(task: ScriptTask, cached: CachedTask | undefined): Promise<TaskOutcome> {
    for (const step of task.steps) {
      const outcome = await this.#runStep(task, step, cached);
      if (outcome.kind !== "success") return outcome;
    }
    return { kind: "success" };
  }

  async #runStep(task: ScriptTask, step: TaskStep, cached: CachedTask | undefined): Promise<TaskOutcome> {
    if (this.#options.isEnding(task)) return { kind: "stopped", wasRunning: true };
    const { emit, request } = this.#options;
    const begin = this.#options.now();
    let exit: ChildExit;
    let command: SpawnCommand | undefined;
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
      if (failure.isLack && step === task.steps[0])
        throw new ResourceExhausted(failure.message, failure.system);
      return { kind: "unstartable", code: failure.code, step, reason: failure.reason };
    }
    const at = this.#options.now();
    await emit({ type: "step-end", task, step, exit, at, duration: at - begin });
    if (exit.signal === null && exit.code === 0) return { kind: "success" };
    if (this.#options.isEnding(task)) return { kind: "stopped", wasRunning: true };
    if (exit.signal !== null) return { kind: "signal", signal: exit.signal as NodeJS.Signals, step };
    return { kind: "failure", code: exit.code, step };
  }

  async #start(
    task: ScriptTask,
    step: TaskStep,
    command: SpawnCommand,
    at: number,
    cached: CachedTask | undefined,
  ): Promise<ChildExit> {
    const { emit, output, inheritStdin, extraEnvironment, watched } = this.#options;
    const family = watched && { family: familyOf(task) };
    const deliver = (bytes: Uint8Array, isError: boolean) =>
      emit({ type: "output", task, step, bytes, isError });
    const begin = { type: "step-start", task, step, hide: command.hide, at } as const;
    if (command.evaluate) {
      emit(begin);
      const { code, stdout } = await command.evaluate();
      if (stdout.length > 0) await deliver(stdout, false);
      return { code, signal: null };
    }
    if (output === "inherit" && command.attend) {
      emit(begin);
      return await command.attend();
    }
    if (cached) {
      const index = task.steps.indexOf(step);
      const keep = (bytes: Uint8Array, isError: boolean) => {
        cached.keepOutput(index, bytes, isError);
        return deliver(bytes, isError);
      };
      const start = (startChild: (onOutput: typeof deliver) => Child) => {
        const redacted = command.redact?.(keep);
        const child = startChild(redacted?.push ?? keep);
        return this.#awaitExit(child, task, redacted);
      };
      const request = { cwd: command.cwd, output: "separate", ...family } as const;
      let isTraced: Promise<boolean> | undefined;
      const exit = start((onOutput) => {
        const followed = cached.start(index, { ...request, onOutput });
        isTraced = followed.isTraced;
        return followed;
      });
      emit(begin);
      const ended = await exit;
      // Where the system does not let it be followed, nothing has been started yet.
      if (this.#options.isOver() || (await isTraced)) return ended;
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
    emit(begin);
    return await this.#awaitExit(child, task, redacted);
  }

  async #awaitExit(child: Child, task: ScriptTask, redacted: RedactedOutput | undefined): Promise<ChildExit> {
    this.#running.set(child, task);
    this.#options.watched?.add(task, child);
    const exit = await child.done;
    this.#running.delete(child);
    if (!this.#options.watched) this.#left.push(...trees.findLeft([child]));
    await redacted?.end();
    return exit;
  }
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

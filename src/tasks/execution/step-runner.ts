// Runs the steps of a task locally, one after the other: `pre` hook, script, `post` hook. src/runner builds the
// commands.
//
// Invariants:
// - A failing step ends the task. A step that cannot be started has an outcome too.
// - A cached step runs under the tracer. If tracing is not permitted, it is started again without the tracer,
//   because nothing has run.
import { trees } from "../../../platform/processes/process-tree.ts";
import type {
  Child,
  ChildExit,
  ChildRequest,
  TerminalDimensions,
} from "../../../platform/processes/contract/process-tree.ts";
import type { RedactedOutput } from "../../redaction/stream.ts";
import type { TaskEvent } from "../task-events.ts";
import { ResourceExhausted } from "./schedule.ts";
import { explainSpawnError } from "./spawn-error.ts";
import type { CachedRun } from "../../cache/cached-script.ts";
import type { SpawnCommand, TaskOutcome, TaskStep, ScriptTask, TaskRequest } from "../task.ts";
import { awaitEnd, processTreeIdOf, type WatchedTrees } from "./watched-process-trees.ts";

export interface StepsOptions {
  readonly request: Pick<TaskRequest, "commandFor" | "secrets">;
  readonly output: ChildRequest["output"];
  /** The size of a pseudo-terminal. */
  terminalSize?(): TerminalDimensions | undefined;
  readonly inheritStdin: boolean;
  /** Added to the environment of every child. */
  readonly extraEnvironment: Readonly<Record<string, string>>;
  readonly watched: WatchedTrees | undefined;
  emit(event: TaskEvent): void | Promise<void>;
  now(): number;
  /** Whether the task is being ended, and whether the whole run is. */
  isEnding(task: ScriptTask): boolean;
  isOver(): boolean;
}

/** The exit code of timeout(1). */
const TIMEOUT_CODE = 124;

interface TaskTimer {
  readonly text: string;
  /** Set after the timeout; resolves when the process trees have ended. */
  ended: Promise<void> | undefined;
  /** Has an effect once: at the first step, when its secrets have been read. */
  start(): void;
  clear(): void;
}

export class Steps {
  readonly #options: StepsOptions;
  readonly #running = new Map<Child, ScriptTask>();
  /** Ended children that left background processes. In watch mode `watched` has them. */
  readonly #withSurvivors: Child[] = [];
  /** Tasks that restart in watch mode; their secrets are read again. */
  readonly #again = new Set<ScriptTask>();

  constructor(options: StepsOptions) {
    this.#options = options;
  }

  /** The running children. */
  get children(): Child[] {
    return [...this.#running.keys()];
  }

  /** Ended children that left background processes. */
  get withSurvivors(): readonly Child[] {
    return this.#withSurvivors;
  }

  /** Reads the task's secrets again before it restarts. */
  renew(task: ScriptTask): void {
    this.#again.add(task);
  }

  /**
   * @throws ResourceExhausted if the first step could not be started for lack of resources
   * @param cached traces the steps and records their output
   */
  async run(task: ScriptTask, cached: CachedRun | undefined): Promise<TaskOutcome> {
    const timer = this.#createTimer(task);
    try {
      for (const step of task.steps) {
        const outcome = await this.#runStep(task, step, cached, timer);
        await timer?.ended;
        if (timer?.ended && outcome.kind !== "stopped")
          return { kind: "failure", code: TIMEOUT_CODE, step, timeout: timer.text };
        if (outcome.kind !== "success") return outcome;
      }
      return { kind: "success" };
    } finally {
      timer?.clear();
    }
  }

  /** Ends the process trees of the task when its timeout has passed. */
  #createTimer(task: ScriptTask): TaskTimer | undefined {
    const timeout = task.rule?.timeout;
    if (!timeout) return undefined;
    const expire = () => {
      if (this.#options.isEnding(task)) return;
      const children = [...this.#running].filter(([, each]) => each === task).map(([child]) => child);
      const families = this.#options.watched && [processTreeIdOf(task)];
      trees.signalTrees(children, "SIGTERM", families);
      timer.ended = awaitEnd(children, families);
    };
    let handle: Timer | undefined;
    const timer: TaskTimer = {
      text: timeout.text,
      ended: undefined,
      start: () => (handle ??= setTimeout(expire, timeout.milliseconds)),
      clear: () => clearTimeout(handle),
    };
    return timer;
  }

  async #runStep(
    task: ScriptTask,
    step: TaskStep,
    cached: CachedRun | undefined,
    timer: TaskTimer | undefined,
  ): Promise<TaskOutcome> {
    if (this.#options.isEnding(task)) return { kind: "stopped", wasRunning: true };
    const { emit, request } = this.#options;
    const begin = this.#options.now();
    let exit: ChildExit;
    let command: SpawnCommand | undefined;
    try {
      if (this.#again.delete(task)) await request.secrets?.fetch([task]);
      timer?.start();
      command = request.commandFor({
        task,
        packageDirectory: task.packageDirectory,
        manifest: task.manifest,
        scriptName: step.scriptName,
        args: step.isMain ? task.args : [],
        isMain: step.isMain,
        isDependency: task.isDependency ?? false,
        isCollected: this.#options.output !== "inherit" || cached !== undefined,
      });
      exit = await this.#start(task, step, command, begin, cached);
    } catch (error) {
      const failure = explainSpawnError(error as Error, command);
      if (failure.isTransient && step === task.steps[0])
        throw new ResourceExhausted(failure.message, failure.system);
      return { kind: "unstartable", code: failure.code, step, reason: failure.reason };
    }
    const at = this.#options.now();
    await emit({ type: "step-end", task, step, exit, at, duration: at - begin });
    if (exit.signal === null && exit.code === 0) return { kind: "success" };
    if (this.#options.isEnding(task)) return { kind: "stopped", wasRunning: true };
    if (command.permissions) await emit({ type: "notice", message: command.permissions.failure });
    if (exit.signal !== null) return { kind: "signal", signal: exit.signal as NodeJS.Signals, step };
    return { kind: "failure", code: exit.code, step };
  }

  async #start(
    task: ScriptTask,
    step: TaskStep,
    command: SpawnCommand,
    at: number,
    cached: CachedRun | undefined,
  ): Promise<ChildExit> {
    const { emit, output, inheritStdin, extraEnvironment, watched } = this.#options;
    const family = watched && { family: processTreeIdOf(task) };
    const deliver = (bytes: Uint8Array, isError: boolean) =>
      emit({ type: "output", task, step, bytes, isError });
    const begin = { type: "step-start", task, step, hide: command.hide, at } as const;
    const permissions = this.#openPermissions(command);
    if (output === "inherit" && command.attend && !permissions) {
      void emit(begin);
      return await command.attend();
    }
    if (cached) {
      const index = task.steps.indexOf(step);
      const recordAndDeliver = (bytes: Uint8Array, isError: boolean) => {
        cached.keepOutput(index, bytes, isError);
        return deliver(bytes, isError);
      };
      const start = (startChild: (onOutput: typeof deliver) => Child) => {
        const redacted = command.redact?.(recordAndDeliver);
        const child = startChild(redacted?.push ?? recordAndDeliver);
        return this.#awaitExit(child, task, redacted);
      };
      const request = { cwd: command.cwd, output: "separate", ...family, permissions } as const;
      let isTraced: Promise<boolean> | undefined;
      const exit = start((onOutput) => {
        const traced = cached.start(index, { ...request, onOutput });
        isTraced = traced.isTraced;
        return traced;
      });
      void emit(begin);
      const ended = await exit;
      // If tracing is not permitted, nothing has been started yet.
      if (this.#options.isOver() || (await isTraced)) return ended;
      const env = cached.environmentOf(index);
      const { program, argv } = command;
      return await start((onOutput) =>
        trees.startChild({ program, argv, env, inheritStdin: false, ...request, onOutput }),
      );
    }
    const redacted = command.redact?.(deliver);
    const onOutput = redacted?.push ?? deliver;
    // A program on a terminal decides about colours itself.
    const isPlain = output === "terminal" || isEmpty(extraEnvironment);
    const env = isPlain ? command.env : { ...extraEnvironment, ...command.env };
    const child = trees.startChild({
      program: command.program,
      argv: command.argv,
      cwd: command.cwd,
      env,
      output,
      size: this.#options.terminalSize?.(),
      inheritStdin,
      onOutput,
      ...family,
      permissions,
    });
    void emit({ ...begin, terminal: child.terminal });
    return await this.#awaitExit(child, task, redacted);
  }

  #openPermissions({ permissions }: SpawnCommand): ChildRequest["permissions"] {
    if (!permissions) return undefined;
    const { rules, variables, explain } = permissions;
    return {
      rules,
      variables,
      onRefusal: (refusal) => {
        const message = explain(refusal);
        if (message !== undefined) void this.#options.emit({ type: "notice", message });
      },
    };
  }

  async #awaitExit(child: Child, task: ScriptTask, redacted: RedactedOutput | undefined): Promise<ChildExit> {
    this.#running.set(child, task);
    this.#options.watched?.add(task, child);
    const exit = await child.done;
    this.#running.delete(child);
    if (!this.#options.watched) this.#withSurvivors.push(...trees.findSurvivingChildren([child]));
    await redacted?.end();
    return exit;
  }
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

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
import type { Service } from "../services/service.ts";
import { permissionsOf } from "./refusals.ts";
import { ResourceExhausted } from "./schedule.ts";
import { explainSpawnError } from "./spawn-error.ts";
import type { CachedRun } from "../../cache/cached-script.ts";
import type { SpawnCommand, TaskOutcome, TaskStep, ScriptTask, TaskRequest } from "../task.ts";
import { createTimeout, type TimeoutTimer } from "./timeout.ts";
import { awaitEnd, processTreeIdOf, type WatchedTrees } from "./watched-process-trees.ts";

export interface StepsOptions {
  readonly request: Pick<TaskRequest, "commandFor" | "secrets" | "permissions" | "output">;
  readonly output: ChildRequest["output"];
  /** The size of a pseudo-terminal. */
  terminalSize?(): TerminalDimensions | undefined;
  readonly inheritStdin: boolean;
  /** Added to the environment of every child. */
  readonly extraEnvironment: Readonly<Record<string, string>>;
  readonly watched: WatchedTrees | undefined;
  /** Whether orphans are identified by a marker variable. */
  readonly isAdopting: boolean;
  emit(event: TaskEvent): void | Promise<void>;
  now(): number;
  /** Whether the task is being ended, and whether the whole run is. */
  isEnding(task: ScriptTask): boolean;
  isOver(): boolean;
  /** Called before a step of an interactive task gets the terminal. */
  yieldTerminal(): Promise<void>;
}

type StepStart = Pick<
  Extract<TaskEvent, { type: "step-start" }>,
  "type" | "task" | "step" | "hide" | "at" | "takesTerminal"
>;

/** Takes a step's output. `end` delivers what redaction holds back. */
type OutputReceiver = Pick<RedactedOutput, "push"> & Partial<Pick<RedactedOutput, "end">>;

/** Readers of a step's output, and deciders about its end. */
interface StepAttendants {
  readonly cached?: CachedRun | undefined;
  readonly service?: Service | undefined;
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

  get children(): Child[] {
    return [...this.#running.keys()];
  }

  childrenOf(task: ScriptTask): Child[] {
    return [...this.#running].filter(([, each]) => each === task).map(([child]) => child);
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
   * @param cached traces the steps and records their output @param service attends the script of a service
   */
  async run(task: ScriptTask, cached: CachedRun | undefined, service?: Service): Promise<TaskOutcome> {
    const timer = this.#createTimeout(task);
    try {
      for (const step of task.steps) {
        const outcome =
          service && step.isMain
            ? await this.#runService(task, step, service)
            : await this.#runStep(task, step, { cached, timer });
        await timer?.ended;
        if (timer?.ended && outcome.kind !== "stopped") return timer.failureOf(step);
        if (outcome.kind !== "success" || outcome.isStopped) return outcome;
      }
      if (!cached && !service) this.#options.request.permissions?.release(task);
      return { kind: "success" };
    } finally {
      timer?.clear();
    }
  }

  #createTimeout(task: ScriptTask): TimeoutTimer | undefined {
    const { watched } = this.#options;
    return createTimeout(task, () => {
      if (this.#options.isEnding(task)) return undefined;
      const children = this.childrenOf(task);
      const families = watched && [processTreeIdOf(task)];
      trees.signalTrees(children, "SIGTERM", families);
      return awaitEnd(children, families);
    });
  }

  /** Starts a service, and starts it again as often as it has to be. */
  async #runService(task: ScriptTask, step: TaskStep, service: Service): Promise<TaskOutcome> {
    for (;;) {
      const outcome = await service.conclude(await this.#runStep(task, step, { service }), step);
      if (outcome !== "again") return outcome;
    }
  }

  async #runStep(
    task: ScriptTask,
    step: TaskStep,
    attendants: StepAttendants & { readonly timer?: TimeoutTimer | undefined },
  ): Promise<TaskOutcome> {
    if (this.#options.isEnding(task)) return { kind: "stopped", wasRunning: true };
    const { cached, timer, service } = attendants;
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
        isCollected: this.#outputOf(task) !== "inherit" || cached !== undefined,
      });
      const obstacle = await service?.prepare(command);
      if (obstacle !== undefined) return { kind: "failure", code: 1, step, reason: obstacle };
      exit = await this.#start(task, step, command, begin, attendants);
    } catch (error) {
      const failure = explainSpawnError(error as Error, command);
      if (failure.isTransient && step === task.steps[0])
        throw new ResourceExhausted(failure.message, failure.system);
      return { kind: "unstartable", code: failure.code, step, reason: failure.reason };
    }
    const at = this.#options.now();
    const isStopped = service?.isStopped;
    await emit({
      type: "step-end",
      task,
      step,
      exit,
      at,
      duration: at - begin,
      ...(isStopped && { isStopped }),
    });
    if (exit.signal === null && exit.code === 0) {
      const reason = command.permissions?.lockedFailure;
      return reason === undefined ? { kind: "success" } : { kind: "failure", code: 1, step, reason };
    }
    if (this.#options.isEnding(task)) return { kind: "stopped", wasRunning: true };
    const { failure } = command.permissions ?? {};
    if (failure !== undefined && !isStopped) await emit({ type: "notice", message: failure });
    if (exit.signal !== null) return { kind: "signal", signal: exit.signal as NodeJS.Signals, step };
    return { kind: "failure", code: exit.code, step };
  }

  async #start(
    task: ScriptTask,
    step: TaskStep,
    command: SpawnCommand,
    at: number,
    { cached, service }: StepAttendants,
  ): Promise<ChildExit> {
    const { emit, isAdopting } = this.#options;
    // Output of a task with permissions is redacted in pipes only.
    const needsPipes = command.permissions !== undefined && command.redact !== undefined;
    const output = needsPipes ? this.#options.output : this.#outputOf(task);
    const takesTerminal = output === "inherit" && (task.rule?.interactive ?? false);
    const begin = { type: "step-start", task, step, hide: command.hide, at, takesTerminal } as const;
    const permissions = permissionsOf(task, command, emit);
    if (takesTerminal) {
      // The reporter suspends its view now.
      await emit(begin);
      await this.#options.yieldTerminal();
    }
    if (output === "inherit" && command.attend && !permissions) {
      if (!takesTerminal) void emit(begin);
      return await command.attend();
    }
    const family = isAdopting && { family: processTreeIdOf(task) };
    const request = { cwd: command.cwd, permissions, ...family };
    if (cached) return await this.#startTraced(begin, command, request, cached);
    const startChild = command.permissions?.start ?? trees.startChild;
    const redacted = this.#receive(begin, command, service);
    const child = startChild({
      ...request,
      program: command.program,
      argv: command.argv,
      // The launcher of a task with permissions is not the engine.
      engine: command.engine && !permissions,
      env: this.#environmentOf(command, output, takesTerminal),
      output,
      size: this.#options.terminalSize?.(),
      inheritStdin: task.rule?.interactive === true || (this.#options.inheritStdin && !service),
      onOutput: redacted.push,
      ...(service ? { keepsOutput: true } : { mayFailLate: true }),
    });
    if (!takesTerminal) void emit({ ...begin, terminal: child.terminal });
    return await this.#awaitExit(child, task, redacted, service);
  }

  /** Starts the step under the tracer, and keeps its output for the cache. */
  async #startTraced(
    begin: StepStart,
    command: SpawnCommand,
    shared: Pick<ChildRequest, "cwd" | "family" | "permissions">,
    cached: CachedRun,
  ): Promise<ChildExit> {
    const { task, step } = begin;
    const index = task.steps.indexOf(step);
    const request = { ...shared, output: "separate" } as const;
    const keep = cached.keepOutput.bind(cached, index);
    const traced = this.#receive(begin, command, undefined, keep);
    const child = cached.start(index, { ...request, onOutput: traced.push });
    const exit = this.#awaitExit(child, task, traced);
    void this.#options.emit(begin);
    const ended = await exit;
    // If tracing is not permitted, nothing has been started yet.
    if (this.#options.isOver() || (await child.isTraced)) return ended;
    const untraced = this.#receive(begin, command, undefined, keep);
    const { program, argv } = command;
    const env = cached.environmentOf(index);
    const again = { ...request, program, argv, env, inheritStdin: false, onOutput: untraced.push };
    // A step that has to be observed is an error here.
    const startAgain = command.permissions?.start ?? trees.startChild;
    return await this.#awaitExit(startAgain(again), task, untraced);
  }

  /** Delivers a step's output, redacted, to all who read it. */
  #receive(
    { task, step }: StepStart,
    { redact }: SpawnCommand,
    service: Service | undefined,
    keep?: (bytes: Uint8Array, isError: boolean) => void,
  ): OutputReceiver {
    const deliver = (bytes: Uint8Array, isError: boolean) => {
      keep?.(bytes, isError);
      service?.observe(bytes);
      return this.#options.emit({ type: "output", task, step, bytes, isError });
    };
    return redact?.(deliver) ?? { push: deliver };
  }

  #environmentOf(
    { env }: SpawnCommand,
    output: ChildRequest["output"],
    takesTerminal: boolean,
  ): ChildRequest["env"] {
    const { extraEnvironment } = this.#options;
    // A program on a terminal decides about colours itself.
    const isPlain = output === "terminal" || takesTerminal || isEmpty(extraEnvironment);
    return isPlain ? env : { ...extraEnvironment, ...env };
  }

  /** An interactive task inherits the terminal. JSON lines do not mix with other output. */
  #outputOf(task: ScriptTask): ChildRequest["output"] {
    const { output, request } = this.#options;
    return task.rule?.interactive && request.output !== "json" ? "inherit" : output;
  }

  async #awaitExit(
    child: Child,
    task: ScriptTask,
    output: OutputReceiver,
    service?: Service,
  ): Promise<ChildExit> {
    this.#running.set(child, task);
    this.#options.watched?.add(task, child);
    const ended = service ? service.follow(child) : child.done;
    const exit = await ended.finally(() => this.#running.delete(child));
    if (!this.#options.watched) this.#withSurvivors.push(...trees.findSurvivingChildren([child]));
    await output.end?.();
    return exit;
  }
}

function isEmpty(record: object): boolean {
  for (const _ in record) return false;
  return true;
}

// One run of a service: waits until it is ready, starts it again after a failure, and ends its process tree.
//
// Invariants:
// - `onReady` is called once, also if the service starts again later.
// - A service that ends by itself has failed while a task needs it, whatever its exit code is.
// - It has ended when its whole process tree has: a daemon outlives its first process.
import type { Child, ChildExit, StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import { parseDuration } from "../../config/tasks/duration.ts";
import { describeOutcome, labelOf } from "../labels.ts";
import type { TaskEvent } from "../task-events.ts";
import type { ScriptTask, SpawnCommand, TaskOutcome, TaskStep } from "../task.ts";
import { awaitEnd, processTreeIdOf } from "../execution/watched-process-trees.ts";
import { printable } from "../../printable.ts";
import { OutputTail } from "./output-tail.ts";
import { createReadiness, type Readiness } from "./readiness.ts";

export interface ServiceControl {
  /** The service is ready: its dependents may start. */
  onReady(): void;
  /** Whether a task of the run depends on it. */
  readonly hasDependents: boolean;
  /** Whether such a task has not ended. */
  isNeeded(): boolean;
}

export interface ServiceOptions extends ServiceControl {
  readonly task: ScriptTask;
  emit(event: TaskEvent): void | Promise<void>;
  now(): number;
  /** Whether the service is being ended together with other tasks. */
  isEnding(): boolean;
}

const DEFAULT_LIMIT = "60s";
/** The exit code of timeout(1). */
const TIMEOUT_CODE = 124;
/** Milliseconds between two checks. */
const [FIRST_CHECK, SLOWEST_CHECK, CHECK_GROWTH] = [10, 250, 1.5];
/** Milliseconds between two looks at a daemon, and at what may end a wait for another start. */
const [DAEMON_CHECK, BACKOFF_CHECK] = [200, 20];
/** Milliseconds before a start after a failure; doubled up to the last, and begun anew after a long run. */
const [FIRST_BACKOFF, LAST_BACKOFF, LONG_RUN] = [500, 30_000, 60_000];

export class Service {
  readonly #options: ServiceOptions;
  readonly #tail: OutputTail;
  readonly #family: string;
  #readiness: Readiness | undefined;
  #child: Child | undefined;
  #isStopped = false;
  #isReady = false;
  /** The limit has passed. */
  #isLate = false;
  #limitTimer: Timer | undefined;
  #restarts = 0;
  #started = performance.now();

  constructor(options: ServiceOptions) {
    this.#options = options;
    const { task } = options;
    this.#tail = new OutputTail(task.rule?.ready?.log);
    this.#family = processTreeIdOf(task);
  }

  /** Whether it may be ended after other tasks. */
  get isReady(): boolean {
    return this.#isReady || !this.#options.hasDependents;
  }

  get child(): Child | undefined {
    return this.#child;
  }

  /** Whether rt ends it because no task needs it. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Called before each start. Returns why the service cannot be ready. */
  async prepare(command: SpawnCommand): Promise<string | undefined> {
    const { ready = {} } = this.#options.task.rule ?? {};
    this.#tail.begin();
    this.#readiness = createReadiness(ready, {
      command,
      tail: this.#tail,
      family: this.#family,
      probeFamily: `${this.#family}.ready`,
    });
    const obstacle = await this.#readiness.findObstacle();
    if (obstacle !== undefined && this.#options.hasDependents) return obstacle;
    if (obstacle !== undefined) this.#readiness = undefined;
    return undefined;
  }

  observe(bytes: Uint8Array): void {
    this.#tail.append(bytes);
  }

  /** Waits for the end of a started process and its tree. */
  async follow(child: Child): Promise<ChildExit> {
    this.#child = child;
    this.#started = performance.now();
    if (this.#isStopped) void this.#endTree("SIGTERM");
    else if (!this.#isReady) void this.#awaitReady(child);
    const exit = await child.done;
    trees.guardOrphans(this.#family, false);
    const isDaemon = exit.signal === null && exit.code === 0;
    while (isDaemon && trees.hasSurvivors([child], [this.#family])) {
      trees.guardOrphans(this.#family, false);
      await Bun.sleep(DAEMON_CHECK);
    }
    if (!isDaemon) await this.#endTree("SIGTERM");
    trees.guardOrphans(this.#family, true);
    this.#child = undefined;
    return exit;
  }

  async #awaitReady(child: Child): Promise<void> {
    const { hasDependents, task, onReady } = this.#options;
    if (!hasDependents) onReady();
    const limit = task.rule?.ready?.timeout ?? DEFAULT_LIMIT;
    this.#limitTimer ??= setTimeout(() => this.#expire(), parseDuration(limit));
    const readiness = this.#readiness;
    let delay = FIRST_CHECK;
    const isCurrent = () => this.#child === child && this.#readiness === readiness && !this.#isOver();
    while (readiness && isCurrent()) {
      const how = await readiness.probe(child);
      if (!isCurrent()) return;
      trees.guardOrphans(this.#family, false);
      if (how !== undefined) return this.#becomeReady(how);
      await Promise.race([Bun.sleep(delay), this.#tail.awaitText()]);
      delay = Math.min(delay * CHECK_GROWTH, SLOWEST_CHECK);
    }
  }

  #becomeReady(how: string): void {
    const { task, emit, now, onReady } = this.#options;
    this.#isReady = true;
    clearTimeout(this.#limitTimer);
    void emit({ type: "ready", task, how, at: now(), duration: performance.now() - this.#started });
    onReady();
  }

  #expire(): void {
    if (this.#isReady || this.#isStopped || this.#options.isEnding()) return;
    // Without dependents no task waits for it.
    if (!this.#options.hasDependents) return void (this.#readiness = undefined);
    this.#isLate = true;
    void this.#endTree("SIGTERM");
  }

  /** Ends the service. Returns at once. */
  stop(signal: StopSignal): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    void this.#endTree(signal);
  }

  async #endTree(signal: StopSignal): Promise<void> {
    const child = this.#child;
    if (!child || !trees.hasSurvivors([child], [this.#family])) return;
    trees.signalTrees([child], signal, [this.#family]);
    await awaitEnd([child], [this.#family]);
  }

  /** Decides what a start's end means: the outcome of the task, or "again" after a delay. */
  async conclude(outcome: TaskOutcome, step: TaskStep): Promise<TaskOutcome | "again"> {
    const { task, isNeeded, hasDependents } = this.#options;
    if (this.#isOver()) return this.#end(this.#describeOver(step));
    const isObstructed = outcome.kind === "unstartable" || (outcome.kind === "failure" && outcome.reason);
    if (task.rule?.restart === "on-failure" && !isObstructed) {
      await this.#backOff(outcome);
      return this.#isOver() ? this.#end(this.#describeOver(step)) : "again";
    }
    if (isObstructed || !(hasDependents && isNeeded())) return this.#end(outcome);
    const reason = `${describeEnd(outcome)} ${this.#isReady ? "while other tasks needed it" : "before it was ready"}`;
    return this.#end({ kind: "failure", code: codeOf(outcome), step, reason: this.#withLastLines(reason) });
  }

  /** Whether it does not start again, whatever its end was. */
  #isOver(): boolean {
    return this.#isStopped || this.#isLate || this.#options.isEnding();
  }

  #describeOver(step: TaskStep): TaskOutcome {
    if (this.#options.isEnding()) return { kind: "stopped", wasRunning: true };
    return this.#isStopped ? { kind: "success", isStopped: true } : this.#describeDelay(step);
  }

  /** Waits before another start, at most until the service is over. */
  async #backOff(outcome: TaskOutcome): Promise<void> {
    const { task, emit } = this.#options;
    if (performance.now() - this.#started >= LONG_RUN) this.#restarts = 0;
    const delay = Math.min(FIRST_BACKOFF * 2 ** this.#restarts, LAST_BACKOFF);
    this.#restarts += 1;
    const message = `${labelOf(task)}: ${describeEnd(outcome)}; it starts again in ${delay / 1000} s`;
    void emit({ type: "notice", message });
    const end = performance.now() + delay;
    while (performance.now() < end && !this.#isOver()) await Bun.sleep(BACKOFF_CHECK);
  }

  #end(outcome: TaskOutcome): TaskOutcome {
    clearTimeout(this.#limitTimer);
    return outcome;
  }

  #describeDelay(step: TaskStep): TaskOutcome {
    const limit = this.#options.task.rule?.ready?.timeout ?? DEFAULT_LIMIT;
    const reason = `Not ready after ${limit}; rt waited for ${this.#readiness?.awaited}`;
    return { kind: "failure", code: TIMEOUT_CODE, step, reason: this.#withLastLines(reason) };
  }

  /** Prints the last lines, because other output may have followed them. */
  #withLastLines(reason: string): string {
    const { task, emit } = this.#options;
    const lines = this.#tail.lines();
    if (lines.length === 0) return `${reason}; it printed nothing`;
    void emit({ type: "remark", line: `The last lines of ${labelOf(task)}:` });
    for (const line of lines) void emit({ type: "remark", line: `  ${printable(line)}` });
    return reason;
  }
}

function describeEnd(outcome: TaskOutcome): string {
  return outcome.kind === "success" ? "Exited with code 0" : describeOutcome(outcome);
}

/** A service that exits with 0 has failed too. */
function codeOf(outcome: TaskOutcome): number {
  if (outcome.kind === "signal")
    return 128 + process.getBuiltinModule("node:os").constants.signals[outcome.signal];
  return outcome.kind === "failure" ? outcome.code : 1;
}

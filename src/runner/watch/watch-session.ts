// State of one plan in a watched run: restarts the tasks that a change affects, and tracks their starts.
//
// Invariants:
// - An affected task ends and restarts, whether it runs, has ended or was blocked by a failure. A task that has not
//   started, or is ending, sees the change when it starts.
// - If a task's inputs are recorded, a change during its run counts at once if the task has read the path,
//   otherwise after its end.
import type { StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import type { CachedRun, RecordedInputs } from "../../cache/cached-script.ts";
import type { RunStatus, ScriptTask, WatchedRun, WatchHooks } from "../../tasks/task.ts";
import type { TaskPlan } from "../../tasks/planning/plan.ts";
import { parentDirectory } from "../../workspace/package-json.ts";
import { type Affected, chooseTasks, findAffectedTasks, type Reached } from "./affected-tasks.ts";
import type { ServiceInputs } from "./service-inputs.ts";
import type { KnownTasks } from "./task-inputs.ts";
import type { WatchMessages } from "../../watch/watch-messages.ts";
import type { ScriptRun } from "../../watch/self-writes.ts";
import type { SourceWatcher } from "../../watch/source-watcher.ts";

/** Start counters of different plans are separated by this offset. */
const MOST_STARTS = 1_000_000;

export interface SessionOptions {
  /** Number of the plan, 1-based. */
  readonly number: number;
  readonly killSignal: StopSignal;
  readonly notes: WatchMessages;
  readonly hasReference: boolean;
  readonly known: KnownTasks;
  readonly serviceInputs: ServiceInputs;
  /** Whether inputs are watched outside the scope; not if the user has named paths to watch. */
  readonly watchesInputs: boolean;
  readonly watcher: Pick<SourceWatcher, "include" | "isSource">;
  /** Called when `react` may be called. */
  onReady(): void;
  /**
   * A task is about to start. @param concerns whether no other running task still has to react to a change of the
   * file
   */
  onStart(concerns: (path: string) => boolean): void;
  clear(): Promise<void>;
}

export class WatchSession implements WatchHooks {
  readonly #plan: TaskPlan;
  readonly #options: SessionOptions;
  readonly #affectedBy: (path: string) => Affected;
  readonly #began = Date.now();
  readonly #starts = new Map<ScriptTask, number>();
  /** Number of restarts for each set of affected tasks. */
  readonly #counts = new Map<Affected, number>();
  /** Changes during a task's run that may concern its inputs. */
  readonly #pending = new Map<ScriptTask, Set<string>>();
  readonly #failed = new Set<ScriptTask>();
  /** The file that outdated a task at its end and restarted it: once for each file. */
  readonly #outdatedBy = new Map<ScriptTask, string | undefined>();
  #run: WatchedRun | undefined;
  #isIdle = false;
  /** Reasons of the next round. */
  #reasons: readonly string[] = [];
  #isOver = false;

  constructor(plan: TaskPlan, options: SessionOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#affectedBy = findAffectedTasks(plan, options.hasReference);
  }

  get killSignal(): StopSignal {
    return this.#options.killSignal;
  }

  /** Whether a change has ended the plan. */
  get isOver(): boolean {
    return this.#isOver;
  }

  #reach(path: string): Reached | "anew" {
    const { known, serviceInputs, watcher } = this.#options;
    const affected = watcher.isSource(path) ? this.#affectedBy(path) : undefined;
    const { tasks } = this.#plan;
    return chooseTasks(path, affected, tasks, (task) => known.of(task), serviceInputs);
  }

  /** Returns whether a change of the path restarts a service, whatever kind of file it is. */
  isServiceInput(path: string): boolean {
    return this.#options.serviceInputs.values().some((isInput) => isInput(path));
  }

  /** @returns false if the change needs another plan, or has to be repeated when the run has begun */
  react(paths: readonly string[]): boolean {
    const run = this.#run;
    if (!run || this.#isOver) return false;
    const reached = new Map(paths.map((path) => [path, this.#reach(path)]));
    if ([...reached.values()].includes("anew")) {
      this.#isOver = true;
      run.end();
      return false;
    }
    const all = [...reached] as [string, Reached][];
    const tasks = new Set(all.flatMap(([, each]) => each.tasks));
    const isKnown = this.#plan.tasks.some((task) => this.#options.known.of(task)?.isNewest);
    if (isKnown) void this.#compareInputs(all, tasks);
    else this.#start(tasks, paths);
    return true;
  }

  /** Adds tasks with an input that differs from its recorded state, except for changes that they will still see. */
  async #compareInputs(
    reached: readonly (readonly [string, Reached])[],
    tasks: Set<ScriptTask>,
  ): Promise<void> {
    const { known } = this.#options;
    const reasons: string[] = [];
    const idle: string[] = [];
    for (const [path, { tasks: others, exact }] of reached) {
      const isHeld = this.#holdChange(path);
      const makers = this.#plan.tasks.filter((task) => known.of(task)?.inputs.isOwn(path));
      let isReason = others.length > 0;
      // Outputs of a failed task restart no other task: the failed task would be retried with each of them.
      const isOfFailedTask = makers.some((task) => this.#failed.has(task));
      for (const task of isOfFailedTask ? [] : exact) {
        // The task itself may have changed the listing, so the change is compared after the task has ended.
        if (this.#pending.has(task) && !known.of(task)!.inputs.hasRead(path)) continue;
        if (this.#mayHaveSeen(task, path) || !(await known.of(task)!.inputs.differs(path))) continue;
        tasks.add(task);
        // The producer of a changed output runs first, unless it runs already.
        for (const maker of makers) if (!this.#run!.isRunning(maker)) tasks.add(maker);
        isReason = true;
      }
      // The file may be from a failed task, whose outputs are unknown.
      const isListed = this.#plan.tasks.some(
        (task) => this.#failed.has(task) && known.of(task)?.inputs.has(path),
      );
      if (isReason) reasons.push(path);
      else if (!isHeld && !isListed && exact.length === 0 && makers.length === 0) idle.push(path);
    }
    if (this.#isOver) return;
    if (tasks.size > 0) this.#start(tasks, reasons);
    else if (idle.length > 0) this.#start(tasks, idle);
  }

  /** Keeps the change for running tasks with recorded inputs. Returns whether there are any. */
  #holdChange(path: string): boolean {
    const running = [...this.#pending].filter(([task]) => !this.#options.known.of(task)?.inputs.isOwn(path));
    for (const [, paths] of running) paths.add(path);
    return running.length > 0;
  }

  /** Whether the change may precede the task's start, so that the task sees it. */
  #mayHaveSeen(task: ScriptTask, path: string): boolean {
    if (!this.#pending.has(task)) return false;
    const { lstatSync } = process.getBuiltinModule("node:fs");
    const state =
      lstatSync(path, { throwIfNoEntry: false }) ??
      lstatSync(parentDirectory(path) ?? "/", { throwIfNoEntry: false });
    return state === undefined || state.ctimeMs <= this.#starts.get(task)!;
  }

  #start(tasks: ReadonlySet<ScriptTask>, paths: readonly string[]): void {
    const { notes } = this.#options;
    if (tasks.size === 0) {
      notes.printReasons(paths, "; no selected package depends on it");
      return;
    }
    const again = this.#run!.again([...tasks]);
    if (again.length === 0) return;
    for (const [affected, count] of this.#counts)
      if (typeof affected !== "string" && affected.some((task) => again.includes(task)))
        this.#counts.set(affected, count + 1);
    if (this.#isIdle) this.#reasons = [...this.#reasons, ...paths];
    else notes.printReasons(paths);
  }

  isExact(path: string): boolean {
    const reached = this.#reach(path);
    if (reached === "anew" || reached.tasks.length > 0) return false;
    return this.#plan.tasks.some((task) => this.#options.known.of(task)?.isNewest);
  }

  /** The latest start of the tasks that a change of this file would restart. */
  runOf(path: string): ScriptRun {
    const { number } = this.#options;
    const reached = this.#reach(path);
    if (reached === "anew") return { number, begin: this.#began, end: this.#run?.endOf(this.#plan.tasks) };
    const affected = this.#affectedBy(path);
    const count = this.#counts.get(affected) ?? 0;
    this.#counts.set(affected, count);
    const { tasks } = reached;
    return {
      number: number * MOST_STARTS + count,
      begin: Math.max(this.#began, ...tasks.map((task) => this.#starts.get(task) ?? 0)),
      end: this.#run?.endOf(tasks),
    };
  }

  onBegin(run: WatchedRun): void {
    this.#run = run;
    this.#options.notes.setPrinter((lines) => {
      for (const line of lines.split("\n")) run.say(line);
    });
    this.#options.onReady();
  }

  onStart(task: ScriptTask): void {
    this.#starts.set(task, Date.now());
    if (this.#options.known.of(task)?.isNewest) this.#pending.set(task, new Set());
    this.#options.onStart((path) => {
      const reached = this.#reach(path);
      // The inputs of this task are compared after its end.
      if (reached === "anew" || reached.exact.length > 0) return false;
      const goesOn = (other: ScriptTask) => other !== task && this.#run!.isRunning(other);
      return reached.tasks.includes(task) && !reached.tasks.some(goesOn);
    });
  }

  async onEnd(task: ScriptTask, cached: Pick<CachedRun, "inputs" | "outdatedBy"> | undefined): Promise<void> {
    const { inputs, outdatedBy } = cached ?? {};
    const { known, watcher, watchesInputs } = this.#options;
    known.set(task, inputs);
    if (cached) this.#failed.delete(task);
    else this.#failed.add(task);
    if (inputs && watchesInputs) watcher.include(inputs.directories);
    const isNews = outdatedBy !== this.#outdatedBy.get(task);
    this.#outdatedBy.set(task, outdatedBy);
    const changed = (isNews ? outdatedBy : undefined) ?? (await this.#findChanged(task, inputs));
    this.#pending.delete(task);
    if (changed !== undefined && !this.#isOver) this.#start(new Set([task]), [changed]);
  }

  /** A change during its run that was not watched, or not known to concern the task. */
  async #findChanged(task: ScriptTask, inputs: RecordedInputs | undefined): Promise<string | undefined> {
    const pending = () => [...(this.#pending.get(task) ?? [])];
    if (!inputs)
      return pending().find((path) => {
        const reached = this.#reach(path);
        return reached !== "anew" && reached.tasks.includes(task);
      });
    if (this.#options.watchesInputs) return await inputs.findChanged();
    for (const path of pending()) if (inputs.has(path) && (await inputs.differs(path))) return path;
    return undefined;
  }

  isShown(task: ScriptTask, inputs: RecordedInputs | undefined): boolean {
    const known = this.#options.known.of(task);
    return known?.isNewest === true && inputs?.print === known.inputs.print;
  }

  onIdle(status: RunStatus): void {
    this.#isIdle = true;
    const [code, signal] = typeof status === "number" ? [status, null] : [1, status.signal];
    this.#options.notes.printExit({ code, signal });
  }

  async onRound(): Promise<void> {
    await this.#options.clear();
    this.#options.notes.printReasons(this.#reasons);
    this.#reasons = [];
    this.#isIdle = false;
  }
}

// One plan of a watched run in many packages, for as long as it holds: what a change makes of it, and which start of what a
// file belongs to.
//
// Contract: a task whose package a change reaches ends and starts again, whether it runs, has ended or was held back by a
// failure; one that has yet to begin, or is ending already, finds the change when it starts.
import type { StopSignal } from "../../../platform/contract/process-tree.ts";
import type { Plan, RunStatus, Task, WatchedRun, Watcher } from "../../tasks/run-tasks.ts";
import { type Affected, findAffectedTasks } from "./affected-tasks.ts";
import type { WatchNotes } from "./notes.ts";
import type { Run } from "./own-writes.ts";

/** Counts of the starts of one plan are told from those of the next by this. */
const MOST_STARTS = 1_000_000;

export interface SessionOptions {
  /** Counts the plans, from one up. */
  readonly number: number;
  readonly killSignal: StopSignal;
  readonly notes: WatchNotes;
  readonly hasReference: boolean;
  /** From here on it can be asked to react. */
  onReady(): void;
  /** A task is about to start. @param concerns whether nothing that goes on has yet to hear of a file's change */
  onStart(concerns: (path: string) => boolean): void;
  clear(): Promise<void>;
}

export class Session implements Watcher {
  readonly #plan: Plan;
  readonly #options: SessionOptions;
  readonly #affectedBy: (path: string) => Affected;
  readonly #began = Date.now();
  readonly #starts = new Map<Task, number>();
  /** Of what a file reaches, how often that was started again. */
  readonly #counts = new Map<readonly Task[], number>();
  #run: WatchedRun | undefined;
  #isIdle = false;
  /** Of the round that is about to begin. */
  #reasons: readonly string[] = [];
  #isOver = false;

  constructor(plan: Plan, options: SessionOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#affectedBy = findAffectedTasks(plan, options.hasReference);
  }

  get killSignal(): StopSignal {
    return this.#options.killSignal;
  }

  /** Whether a change has ended it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** @returns false where the change is left to another plan, or has to be told again when the run has begun */
  react(paths: readonly string[]): boolean {
    const run = this.#run;
    if (!run || this.#isOver) return false;
    const reached = new Set<Task>();
    for (const path of paths) {
      const affected = this.#affectedBy(path);
      if (affected === "all") {
        this.#isOver = true;
        run.end();
        return false;
      }
      for (const task of affected) reached.add(task);
    }
    const { notes } = this.#options;
    if (reached.size === 0) {
      notes.tellReasons(paths, "; nothing that was chosen depends on it");
      return true;
    }
    const again = run.again([...reached]);
    if (again.length === 0) return true;
    for (const [tasks, count] of this.#counts)
      if (tasks.some((task) => again.includes(task))) this.#counts.set(tasks, count + 1);
    if (this.#isIdle) this.#reasons = [...this.#reasons, ...paths];
    else notes.tellReasons(paths);
    return true;
  }

  /** That start of what a change of this file reaches which was the last. */
  runOf(path: string): Run {
    const { number } = this.#options;
    const affected = this.#affectedBy(path);
    if (affected === "all") return { number, begin: this.#began, end: this.#run?.endOf(this.#plan.tasks) };
    const count = this.#counts.get(affected) ?? 0;
    this.#counts.set(affected, count);
    return {
      number: number * MOST_STARTS + count,
      begin: Math.max(this.#began, ...affected.map((task) => this.#starts.get(task) ?? 0)),
      end: this.#run?.endOf(affected),
    };
  }

  onBegin(run: WatchedRun): void {
    this.#run = run;
    this.#options.notes.printBy((line) => run.say(line));
    this.#options.onReady();
  }

  onStart(task: Task): void {
    this.#starts.set(task, Date.now());
    this.#options.onStart((path) => {
      const affected = this.#affectedBy(path);
      const goesOn = (other: Task) => other !== task && this.#run!.isRunning(other);
      return affected !== "all" && affected.includes(task) && !affected.some(goesOn);
    });
  }

  onIdle(status: RunStatus): void {
    this.#isIdle = true;
    const [code, signal] = typeof status === "number" ? [status, null] : [1, status.signal];
    this.#options.notes.tellEnd({ code, signal });
  }

  async onRound(): Promise<void> {
    await this.#options.clear();
    this.#options.notes.tellReasons(this.#reasons);
    this.#reasons = [];
    this.#isIdle = false;
  }
}

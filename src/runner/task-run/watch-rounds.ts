// Runs the rounds of a watched run. A round ends when no task runs, and a change starts the next one.
//
//   running --no task runs--> idle --a change--> running
//      |                       |
//      +---------------+-------+
//                      v  `end`, a signal or an error
//                    over
import type { StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import type { Executor } from "../../tasks/execution/executor.ts";
import type { Schedule, TaskFailure } from "../../tasks/execution/schedule.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import type { RunStatus, ScriptTask, WatchedRun, WatchHooks } from "../../tasks/task.ts";
import type { TaskEvent } from "../../tasks/task-events.ts";

/** rt may be notified of a signal this much later than of the end that the signal caused. */
const SIGNAL_DELAY = 20; // ms

interface RoundOptions {
  readonly watcher: WatchHooks;
  readonly executor: Executor;
  readonly schedule: Schedule;
  readonly queue: OutputQueue;
  emit(event: TaskEvent): void | Promise<void>;
  /** Ends all running tasks, and starts no others. */
  stop(signal: StopSignal): void;
  /** Receives an internal error, which ends the run. */
  fail(error: unknown): void;
  /** Whether a signal or an error has ended the run. */
  isOver(): boolean;
  /** Ends the reports of a round, and returns the round's status. */
  finishRound(failure: TaskFailure | null | void): Promise<RunStatus>;
  /** Opens the reports of the next round. */
  openRound(): Promise<void>;
}

export class WatchRounds implements WatchedRun {
  readonly #options: RoundOptions;
  #isEnding = false;
  #isIdle = false;
  /** Tasks that the next round restarts. */
  #wanted: ScriptTask[] = [];
  #wake = () => {};

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  /** Returns the failure of the last round when the run is over. */
  async run(): Promise<TaskFailure | null | void> {
    const { watcher, schedule, fail, finishRound } = this.#options;
    watcher.onBegin(this);
    for (;;) {
      const failure = await schedule.finished.catch(fail);
      if (this.#isOver()) return failure;
      if (!schedule.isIdle) continue; // a restart was requested in the same turn
      this.#isIdle = true;
      const status = await finishRound(failure);
      // Ctrl-C reaches rt and a script in the terminal at the same time, and rt may be notified of the script's end
      // first.
      if (failure?.outcome.kind === "signal") await Bun.sleep(SIGNAL_DELAY);
      if (this.#isOver()) return failure;
      watcher.onIdle(status);
      if (this.#wanted.length === 0 && !this.#isOver())
        await new Promise<void>((resolve) => (this.#wake = resolve));
      if (this.#isOver()) return failure;
      await watcher.onRound();
      await this.#beginRound();
    }
  }

  async #beginRound(): Promise<void> {
    const { executor, schedule, openRound } = this.#options;
    await openRound();
    executor.beginRound();
    const round = schedule.reach(this.#wanted);
    this.#wanted = [];
    this.#isIdle = false;
    this.#restart(round);
  }

  #restart(tasks: readonly ScriptTask[]): void {
    const { emit, executor, schedule, watcher } = this.#options;
    void emit({ type: "again", tasks });
    executor.watched.end(tasks, watcher.killSignal);
    schedule.again(tasks);
  }

  #isOver(): boolean {
    return this.#isEnding || this.#options.isOver();
  }

  /** Ends the wait for a change, because there is one or the run is over. */
  wake(): void {
    this.#wake();
  }

  again(tasks: readonly ScriptTask[]): readonly ScriptTask[] {
    const reached = this.#options.schedule.reach(tasks);
    if (this.#isIdle) {
      this.#wanted.push(...reached);
      this.wake();
    } else if (reached.length > 0) this.#restart(reached);
    return reached;
  }

  end(): void {
    this.#isEnding = true;
    this.#options.stop(this.#options.watcher.killSignal);
  }

  say(line: string): void {
    const { queue, emit } = this.#options;
    void (this.#isIdle ? queue.write(2, `${line}\n`) : emit({ type: "remark", line }));
  }

  endOf(tasks: readonly ScriptTask[]): number | undefined {
    return this.#options.executor.watched.endOf(tasks);
  }

  isRunning(task: ScriptTask): boolean {
    return this.#options.executor.watched.isRunning(task);
  }
}

/** For a run with the list of tasks that is not watched: it is over after the first round. */
export function createListHooks(): WatchHooks {
  let run: WatchedRun | undefined;
  return {
    killSignal: "SIGTERM",
    onBegin(begun) {
      run = begun;
    },
    onStart() {},
    async onEnd() {},
    isShown: () => false,
    onIdle: () => run?.end(),
    onRound() {},
  };
}

// Passes the events of a run to all its reporters.
//
// Invariants: an error of a reporter never rejects a promise that tasks wait for. It ends the run instead.
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";

export class ReporterGroup {
  /** Replaced for each round of a watched run. */
  reporters: readonly Reporter[] = [];
  readonly #fail: (error: unknown) => void;

  constructor(fail: (error: unknown) => void) {
    this.#fail = fail;
  }

  /** A returned promise delays further output of the event's task. */
  readonly emit = (event: TaskEvent): void | Promise<void> => {
    try {
      return this.#report(event)?.catch(this.#fail);
    } catch (error) {
      this.#fail(error);
    }
  };

  #report(event: TaskEvent): void | Promise<void> {
    let pending: Promise<void> | undefined;
    for (const reporter of this.reporters) {
      const wait = reporter.report(event);
      if (wait) pending = pending ? Promise.all([pending, wait]).then(() => {}) : wait;
    }
    return pending;
  }

  /** Returns false if output could not be written. */
  async finish(): Promise<boolean> {
    const finishing = this.reporters;
    this.reporters = [];
    let isComplete = true;
    for (const reporter of finishing) {
      try {
        if ((await reporter.finish()) === false) isComplete = false;
      } catch (error) {
        this.#fail(error);
        isComplete = false;
      }
    }
    return isComplete;
  }
}

// Holds events back while an interactive task has the terminal, and passes them to another reporter afterwards.
//
//   open --an interactive task starts--> held --it ends--> draining --all events are passed--> open
//                                          ^-- another one starts --+
//
// Invariants:
// - The order of events is kept. Output of a task between two other events of the task is passed in one piece.
// - Output never delays a service. The oldest is dropped, with a note, if neither memory nor the temporary folder can
//   hold it.
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { ScriptTask } from "../../tasks/task.ts";
import { TaskLog } from "../task-log.ts";

type OutputEvent = Extract<TaskEvent, { type: "output" }>;

interface HeldOutput {
  readonly event: Omit<OutputEvent, "bytes">;
  readonly log: TaskLog;
}

export class HeldReporter implements Reporter {
  readonly #inner: Reporter;
  #state: "open" | "held" | "draining" = "open";
  /** The last task that has got the terminal. */
  #holder: ScriptTask | undefined;
  readonly #entries: (TaskEvent | HeldOutput)[] = [];
  /** The logs that take further output of a task. */
  readonly #logs = new Map<ScriptTask, HeldOutput[]>();
  #drained: Promise<void> = Promise.resolve();
  #isComplete = true;

  constructor(inner: Reporter) {
    this.#inner = inner;
  }

  report(event: TaskEvent): void | Promise<void> {
    if (this.#state === "open") {
      const passed = this.#inner.report(event);
      if (takesTerminal(event)) this.#hold(event.task);
      return passed;
    }
    // The reporter is suspended.
    if (event.type === "suspend" || event.type === "resume") return;
    if (event.type === "output") return this.#holdOutput(event);
    if ("task" in event) this.#logs.delete(event.task);
    // Hooks of the task do not hold again after its end.
    const isOwn = this.#state === "held" && takesTerminal(event) && event.task === this.#holder;
    this.#entries.push(isOwn ? { ...event, takesTerminal: false } : event);
    if (this.#state === "held" && event.type === "task-end" && event.task === this.#holder) this.#release();
    // An interactive task waits until it has the terminal.
    if (this.#state === "draining" && takesTerminal(event)) return this.#drained;
  }

  #hold(task: ScriptTask): void {
    this.#state = "held";
    this.#holder = task;
    void this.#inner.report({ type: "suspend" });
  }

  #holdOutput({ task, step, isError, bytes }: OutputEvent): void {
    const logs = this.#logs.get(task) ?? [];
    let output = logs.find(({ event }) => event.step === step && event.isError === isError);
    if (!output) {
      output = { event: { type: "output", task, step, isError }, log: new TaskLog({ whenFull: "drop" }) };
      this.#logs.set(task, [...logs, output]);
      this.#entries.push(output);
    }
    void output.log.append(bytes);
  }

  #release(): void {
    this.#state = "draining";
    void this.#inner.report({ type: "resume" });
    this.#drained = this.#drain();
  }

  async #drain(): Promise<void> {
    for (let entry = this.#entries.shift(); entry; entry = this.#entries.shift()) {
      if ("log" in entry) await this.#pass(entry);
      else await this.#inner.report(entry);
      if (!("log" in entry) && takesTerminal(entry)) return this.#hold(entry.task);
    }
    this.#state = "open";
  }

  async #pass(output: HeldOutput): Promise<void> {
    const logs = this.#logs.get(output.event.task);
    if (logs?.includes(output)) this.#logs.delete(output.event.task);
    if (!output.log.isWhole) this.#isComplete = false;
    for (const bytes of output.log.take()) await this.#inner.report({ ...output.event, bytes });
  }

  async finish(): Promise<boolean> {
    await this.#drained;
    while (this.#state === "held") {
      this.#release();
      await this.#drained;
    }
    return (await this.#inner.finish()) !== false && this.#isComplete;
  }
}

function takesTerminal(event: TaskEvent): event is Extract<TaskEvent, { type: "step-start" }> {
  return event.type === "step-start" && event.takesTerminal === true;
}

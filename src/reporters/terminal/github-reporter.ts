// Reporter for GitHub Actions: the output of each script is one foldable group without other lines between.
//
// Invariants:
// - The script that started first and still runs is shown live. Output of the others is buffered until their groups
//   open; if the buffer is full, those scripts wait (backpressure).
// - Lines have no prefix, so that annotations of scripts (`::error file=...`) work.
// - Names are escaped, so they cannot contain workflow commands. Output of scripts can, `::stop-commands::`
//   included.
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { ScriptTask } from "../../tasks/task.ts";
import { TaskLog } from "../task-log.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import { describeOutcome, formatDuration, isFailure, labelOf } from "../../tasks/labels.ts";
import { commandProperty, commandText } from "./workflow-command.ts";

interface LogGroup {
  readonly task: ScriptTask;
  readonly log: TaskLog;
  closing: string | null;
}

const NEWLINE = 10;

/** @param fail called with the error that prevents output from being shown */
export function createGitHubReporter(queue: OutputQueue, fail: (error: unknown) => void): Reporter {
  const waiting: LogGroup[] = [];
  let front: LogGroup | null = null;
  let isLineOpen = false;
  let advancing: Promise<void> | undefined;

  function show(bytes: Uint8Array): void | Promise<void> {
    isLineOpen = bytes[bytes.length - 1] !== NEWLINE;
    return queue.write(1, bytes);
  }

  function advance(): Promise<void> {
    advancing ??= showReady()
      .catch(fail)
      .finally(() => (advancing = undefined));
    return advancing;
  }

  /** Shows buffered output, closes ended groups and opens the next one, until the front script is still running. */
  async function showReady(): Promise<void> {
    for (;;) {
      front ??= open(waiting.shift());
      if (front === null) return;
      while (!front.log.isEmpty) for (const bytes of front.log.take()) await show(bytes);
      if (front.closing === null) return;
      void queue.write(1, `${isLineOpen ? "\n" : ""}::endgroup::\n${front.closing}`);
      isLineOpen = false;
      front = null;
    }
  }

  function open(entry: LogGroup | undefined): LogGroup | null {
    if (entry) void queue.write(1, `::group::${commandText(labelOf(entry.task))}\n`);
    return entry ?? null;
  }

  function warn(message: string): void | Promise<void> {
    const lead = isLineOpen ? "\n" : "";
    isLineOpen = false;
    return queue.write(1, `${lead}::warning::${commandText(message)}\n`);
  }

  /**
   * Explains a stalled script. The front script never waits for a full buffer, so there is no deadlock unless it
   * waits for another script itself.
   */
  function onWait(task: ScriptTask, reason: string): void {
    void warn(
      `Cannot buffer the output of ${labelOf(task)} (${reason}): the script waits until its group is shown`,
    );
  }

  const entryOf = (task: ScriptTask): LogGroup | undefined =>
    front?.task === task ? front : waiting.find((entry) => entry.task === task);

  return {
    report(event: TaskEvent): void | Promise<void> {
      switch (event.type) {
        case "step-start": {
          if (entryOf(event.task)) return;
          const { task } = event;
          const log = new TaskLog({ whenFull: "wait", onWait: (reason) => onWait(task, reason) });
          waiting.push({ task, log, closing: null });
          return front === null ? void advance() : undefined;
        }
        case "output": {
          const entry = entryOf(event.task);
          return entry && entry === front && !advancing ? show(event.bytes) : entry?.log.append(event.bytes);
        }
        case "task-end": {
          const { outcome, duration, task } = event;
          const text = `${labelOf(task)}: ${describeOutcome(outcome)}`;
          const line = isFailure(outcome)
            ? `::error title=${commandProperty(labelOf(task))}::${commandText(text)}\n`
            : `${text}${outcome.kind === "success" ? ` in ${formatDuration(duration)}` : ""}\n`;
          const entry = entryOf(task);
          if (!entry) {
            const lead = isLineOpen ? "\n" : "";
            isLineOpen = false;
            return queue.write(1, lead + line);
          }
          entry.closing = line;
          return entry === front ? void advance() : undefined;
        }
        case "notice":
          return warn(event.message);
        case "remark": {
          const lead = isLineOpen ? "\n" : "";
          isLineOpen = false;
          return queue.write(1, `${lead}${event.line}\n`);
        }
        case "step-end":
        case "ready":
        case "again":
        case "interrupt":
        case "suspend":
        case "resume":
          return;
      }
    },
    async finish() {
      await advancing;
      await advance();
    },
  };
}

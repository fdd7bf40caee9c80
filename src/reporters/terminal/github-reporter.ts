// GitHub Actions: each script's output as a group that can be folded, whole, with nothing between its lines.
//
// Contract: the script that started first and has not ended is shown as it runs; what others write meanwhile
// is kept and shown when their turn comes; where there is no room to keep it, they wait. Lines carry no prefix, so the
// annotations (`::error file=...`) that scripts print are understood.
//
// Not defended: a script may speak to the service as rt does, `::endgroup::` and `::stop-commands::` included; the
// latter, without its end, makes rt's own commands plain text too. Names get no such voice: they are escaped.
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { ScriptTask } from "../../tasks/task.ts";
import { TaskLog } from "../task-log.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import { describeOutcome, formatDuration, labelOf } from "../../tasks/labels.ts";
import { commandProperty, commandText } from "./workflow-command.ts";

interface LogGroup {
  readonly task: ScriptTask;
  readonly log: TaskLog;
  closing: string | null;
}

const NEWLINE = 10;

/** @param fail told what keeps the output from being shown */
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
    advancing ??= move()
      .catch(fail)
      .finally(() => (advancing = undefined));
    return advancing;
  }

  /** Shows what was kept, closes what has ended, opens the next, until the front one is still running. */
  async function move(): Promise<void> {
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

  /** The script in front is never in the way of those that wait for it to end, unless it waits for one of them. */
  function onWait(task: ScriptTask, reason: string): void {
    void warn(`No room to keep the output of ${labelOf(task)} (${reason}): it waits until its turn comes`);
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
          const isFailure =
            outcome.kind === "failure" || outcome.kind === "signal" || outcome.kind === "unstartable";
          const text = `${labelOf(task)}: ${describeOutcome(outcome)}`;
          const line = isFailure
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
        case "again":
        case "interrupt":
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

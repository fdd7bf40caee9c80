// GitHub Actions: each script's output as a group that can be folded, whole, with nothing between its lines.
//
// Contract: the script that started first and has not ended is shown as it runs; what others write meanwhile
// is kept and shown when their turn comes. Lines carry no prefix, so the annotations (`::error file=...`)
// that scripts print are understood.
import type { Reporter, TaskEvent } from "../event.ts";
import type { Task } from "../task.ts";
import { TaskLog } from "./task-log.ts";
import type { OutputQueue } from "./output-queue.ts";
import { describeOutcome, formatDuration } from "./wording.ts";

interface Entry {
  readonly task: Task;
  readonly log: TaskLog;
  closing: string | null;
}

const NEWLINE = 10;

export function createGitHubReporter(queue: OutputQueue): Reporter {
  const waiting: Entry[] = [];
  let front: Entry | null = null;
  let isLineOpen = false;
  let advancing: Promise<void> | undefined;

  function show(bytes: Uint8Array): void | Promise<void> {
    isLineOpen = bytes[bytes.length - 1] !== NEWLINE;
    return queue.write(1, bytes);
  }

  function advance(): Promise<void> {
    advancing ??= move().finally(() => {
      advancing = undefined;
    });
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

  function open(entry: Entry | undefined): Entry | null {
    if (entry) void queue.write(1, `::group::${entry.task.label}\n`);
    return entry ?? null;
  }

  const entryOf = (task: Task): Entry | undefined =>
    front?.task === task ? front : waiting.find((entry) => entry.task === task);

  return {
    report(event: TaskEvent): void | Promise<void> {
      switch (event.type) {
        case "step-start":
          if (entryOf(event.task)) return;
          waiting.push({ task: event.task, log: new TaskLog(), closing: null });
          return front === null ? void advance() : undefined;
        case "output": {
          const entry = entryOf(event.task);
          return entry && entry === front && !advancing ? show(event.bytes) : entry?.log.append(event.bytes);
        }
        case "task-end": {
          const { outcome, duration, task } = event;
          const isFailure =
            outcome.kind === "failure" || outcome.kind === "signal" || outcome.kind === "unstartable";
          const text = `${task.label}: ${describeOutcome(outcome)}`;
          const line = isFailure
            ? `::error title=${task.label}::${text}\n`
            : `${text}${outcome.kind === "success" ? ` in ${formatDuration(duration)}` : ""}\n`;
          const entry = entryOf(task);
          if (!entry) return queue.write(1, line);
          entry.closing = line;
          return entry === front ? void advance() : undefined;
        }
        case "notice":
          return queue.write(1, `::warning::${event.message}\n`);
        case "step-end":
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

// Prints the output of many scripts line by line, each line prefixed with its script.
//
// Invariants:
// - Style "script" (`--filter`, `--workspaces`): `PKG SCRIPT: line`, all on stdout, hooks under their own names.
// - Style "label" (`--parallel`, `--sequential`): `LABEL | line`, aligned and coloured labels, each stream on its
//   own descriptor, outcomes on stderr.
// - Without prefixes (`--log-prefix=none`) only output has none: rt's own lines name their script.
import { colorLabel } from "../../output.ts";
import { oneLine } from "../../printable.ts";
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { TaskStep, ScriptTask } from "../../tasks/task.ts";
import { isWorkflowCommand } from "./workflow-command.ts";
import { LinePrefixer, OpenLine } from "./line-prefixer.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import {
  describeExit,
  describeOutcome,
  describeSaved,
  formatDuration,
  labelOf,
  nameScript,
} from "../../tasks/labels.ts";

export interface PrefixOptions {
  readonly style: "script" | "label";
  readonly tasks: readonly ScriptTask[];
  readonly queue: OutputQueue;
  readonly useColor: boolean;
  /** Whether workflow commands of the CI service (annotations, groups) get no prefix. */
  readonly passCommands: boolean;
  /** Whether lines of output have no prefix. */
  readonly omitsPrefix?: boolean;
}

const LABEL_COLORS = [36, 33, 35, 32, 34, 96, 93, 95, 92, 94] as const;

export function createPrefixReporter({
  style,
  tasks,
  queue,
  useColor,
  passCommands,
  omitsPrefix = false,
}: PrefixOptions): Reporter {
  const openLine = new OpenLine();
  const width = style === "label" ? Math.max(0, ...tasks.map((task) => Bun.stringWidth(labelOf(task)))) : 0;
  const streams = new Map<string, LinePrefixer>();

  function prefixOf(task: ScriptTask, step: TaskStep | null): string {
    if (style === "script") return `${nameScript(task, step?.scriptName ?? task.scriptName)}: `;
    const label = labelOf(task);
    const padded = label + " ".repeat(width - Bun.stringWidth(label));
    const color = LABEL_COLORS[task.index % LABEL_COLORS.length];
    return useColor ? `\x1b[${color}m${padded}\x1b[0m | ` : `${padded} | `;
  }

  function streamOf(task: ScriptTask, step: TaskStep, isError: boolean): LinePrefixer {
    const key = `${task.index} ${isError} ${style === "script" ? step.scriptName : ""}`;
    let stream = streams.get(key);
    if (!stream) {
      const isBare = passCommands ? isWorkflowCommand : undefined;
      stream = new LinePrefixer({
        queue,
        descriptor: isError && style === "label" ? 2 : 1,
        prefix: omitsPrefix ? "" : prefixOf(task, step),
        openLine,
        isBare,
      });
      streams.set(key, stream);
    }
    return stream;
  }

  function endStreams(task: ScriptTask, step: TaskStep): void {
    for (const isError of [false, true]) {
      const key = `${task.index} ${isError} ${style === "script" ? step.scriptName : ""}`;
      streams.get(key)?.end();
      streams.delete(key);
    }
  }

  function say(task: ScriptTask, step: TaskStep | null, message: string): void {
    openLine.take(null, false);
    void queue.write(style === "label" ? 2 : 1, `${prefixOf(task, step)}${message}\n`);
  }

  return {
    report(event: TaskEvent): void | Promise<void> {
      switch (event.type) {
        case "output":
          return streamOf(event.task, event.step, event.isError).write(event.bytes);
        case "step-end":
          endStreams(event.task, event.step);
          return say(
            event.task,
            event.step,
            event.isStopped
              ? "Stopped"
              : event.saved === undefined
                ? describeExit(event.exit, style === "label" ? formatDuration(event.duration) : null)
                : describeSaved(event.saved, event.machine),
          );
        case "ready":
          return say(event.task, null, `Ready (${event.how})`);
        case "task-end": {
          const { kind } = event.outcome;
          // All other outcomes were printed at the end of their step.
          if (
            kind === "skipped" ||
            kind === "unstartable" ||
            (kind === "failure" && (event.outcome.timeout ?? event.outcome.reason) !== undefined) ||
            (kind === "success" && (event.outcome.retries !== undefined || event.outcome.isUnneeded)) ||
            (kind === "stopped" && (!event.outcome.wasRunning || event.outcome.because))
          ) {
            return say(event.task, null, describeOutcome(event.outcome));
          }
          return;
        }
        case "notice":
          openLine.take(null, false);
          return queue.write(2, `${colorLabel(`warning: ${oneLine(event.message)}`)}\n`);
        case "remark":
          openLine.take(null, false);
          return queue.write(2, `${event.line}\n`);
        case "step-start":
        case "again":
        case "interrupt":
        case "suspend":
        case "resume":
          return;
      }
    },
    finish() {},
  };
}

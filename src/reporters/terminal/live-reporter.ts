// The live view on a terminal: the scripts that run, each with its last lines, redrawn in place; what has
// ended scrolls up for good.
//
// Contract: never more rows than the terminal has, never a line that wraps, whatever is resized: so nothing
// is left behind when the view is redrawn. Of each script the last `elideLines` lines are shown (0: all, once
// it has ended), and the whole output of a failed one at the end.
//
// Surprising: when the terminal has become narrower, it has itself broken the lines that were drawn before,
// so the rows to go back over are counted anew with the old lines and the new width.
import { outputs } from "../../../platform/terminal/output.ts";
import { oneLine } from "../../printable.ts";
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { ScriptTask } from "../../tasks/task.ts";
import { type BlockState, clip, type Frame, renderBlock, renderFrame, rowsTaken } from "./live-frame.ts";
import { LinePrefixer, OpenLine } from "./line-prefixer.ts";
import { LastLines } from "./tail-lines.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import { TaskLog } from "../task-log.ts";
import { describeOutcome, formatDuration, labelOf, nameScript } from "../../tasks/labels.ts";

export interface LiveOptions {
  readonly tasks: readonly ScriptTask[];
  readonly queue: OutputQueue;
  /** 0 for all. */
  readonly elideLines: number;
  readonly useColor: boolean;
  /** Without the commands. */
  readonly silent: boolean;
}

interface LiveTask {
  readonly task: ScriptTask;
  readonly lines: LastLines;
  readonly log: TaskLog;
  command: string;
}

const REDRAW_AFTER = 50; // ms
const KEPT_WHEN_ALL = 100;
const BEGIN_UPDATE = "\x1b[?2026h";
const END_UPDATE = "\x1b[?2026l";

export function createLiveReporter({ tasks, queue, elideLines, useColor, silent }: LiveOptions): Reporter {
  const running = new Map<ScriptTask, LiveTask>();
  const failed = new Map<ScriptTask, LiveTask>();
  /** They have not begun. */
  const waiting = new Set(tasks);
  let isComplete = true;
  let drawn: Frame = { lines: [] };
  let scrolled = "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  function requestRedraw(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      drawUnlessHeldUp();
    }, REDRAW_AFTER);
  }

  /** A terminal that takes nothing (Ctrl-S) gets one picture when it goes on, not all that it has missed. */
  function drawUnlessHeldUp(): void {
    if (queue.isHeldUp) requestRedraw();
    else draw();
  }

  function draw(): void {
    const { columns, rows } = terminalSize();
    const blocks = [...running.values()].map(blockOf);
    const next = renderFrame(blocks, { columns, rows, elideLines, waiting: waiting.size, useColor });
    const back = Math.min(rowsTaken(drawn, columns), rows - 1);
    // Overwritten line by line, not erased first: no flicker, and terminals that keep what is erased from
    // their first row on (tmux) have nothing to keep.
    const text = scrolled + next.lines.map((line) => `${line}\n`).join("");
    const start = back > 0 ? `\x1b[${back}A\r` : "\r";
    void queue.write(1, `${BEGIN_UPDATE}${start}${text.replaceAll("\n", "\x1b[K\n")}\x1b[J${END_UPDATE}`);
    drawn = next;
    scrolled = "";
  }

  function blockOf({ task, lines, command }: LiveTask): BlockState {
    return {
      title: nameScript(task, task.scriptName),
      command: silent ? "" : command,
      lines: lines.all(),
      total: lines.total,
      status: "Running...",
      tone: "running",
    };
  }

  function end(task: ScriptTask, status: string, tone: BlockState["tone"]): void {
    waiting.delete(task);
    const live = running.get(task);
    running.delete(task);
    const { columns } = terminalSize();
    const block: BlockState = live
      ? blockOf(live)
      : { title: nameScript(task, task.scriptName), command: "", lines: [], total: 0, status, tone };
    if (live && elideLines === 0 && block.total > block.lines.length) {
      // All lines are wanted, and there are more than are kept: they come from the log.
      draw();
      eraseFrame(columns);
      void queue.write(1, `${clip(block.title, columns - 1)}\n`);
      printLog(live);
      scrolled +=
        renderBlock({ ...block, lines: [], total: 0, status, tone }, { columns, elideLines, useColor })
          .slice(1)
          .join("\n") + "\n";
    } else {
      scrolled += `${renderBlock({ ...block, status, tone }, { columns, elideLines, useColor }).join("\n")}\n`;
      if (live && tone === "failed" && block.total > (elideLines || KEPT_WHEN_ALL)) failed.set(task, live);
      else live?.log.discard();
    }
    requestRedraw();
  }

  function eraseFrame(columns: number): void {
    const back = rowsTaken(drawn, columns);
    if (back > 0) void queue.write(1, `\x1b[${back}A\r\x1b[J`);
    drawn = { lines: [] };
  }

  function printLog({ log }: LiveTask): void {
    const prefixer = new LinePrefixer({ queue, descriptor: 1, prefix: "│ ", openLine: new OpenLine() });
    if (!log.isWhole) isComplete = false;
    for (const bytes of log.take()) void prefixer.write(bytes);
    prefixer.end();
  }

  const resized = () => drawUnlessHeldUp();
  process.on("SIGWINCH", resized);

  return {
    report(event: TaskEvent): void | Promise<void> {
      switch (event.type) {
        case "step-start": {
          waiting.delete(event.task);
          const known = running.get(event.task);
          if (known) known.command = event.step.command;
          else
            running.set(event.task, {
              task: event.task,
              lines: new LastLines(elideLines || KEPT_WHEN_ALL),
              log: new TaskLog({ whenFull: "forget" }),
              command: event.step.command,
            });
          return requestRedraw();
        }
        case "output": {
          const live = running.get(event.task);
          live?.lines.append(event.bytes);
          void live?.log.append(event.bytes);
          return requestRedraw();
        }
        case "task-end": {
          const { outcome, duration, task } = event;
          if (outcome.kind === "success")
            return end(task, `Done in ${formatDuration(duration)}`, "succeeded");
          if (outcome.kind === "stopped")
            return end(task, outcome.wasRunning ? "Interrupted" : "Not started", "skipped");
          return end(task, describeOutcome(outcome), outcome.kind === "skipped" ? "skipped" : "failed");
        }
        case "notice":
          scrolled += `warn: ${oneLine(event.message)}\n`;
          return requestRedraw();
        case "remark":
          scrolled += `${event.line}\n`;
          return requestRedraw();
        case "again":
          for (const task of event.tasks) {
            if (!running.has(task)) waiting.add(task);
            failed.get(task)?.log.discard();
            failed.delete(task);
          }
          return requestRedraw();
        case "resume":
          drawn = { lines: [] }; // the shell has written below
          return draw();
        case "step-end":
        case "interrupt":
          return;
      }
    },
    finish() {
      clearTimeout(timer);
      process.off("SIGWINCH", resized);
      draw();
      for (const live of failed.values()) {
        void queue.write(1, `\n${labelOf(live.task)}: all of its output\n`);
        printLog(live);
      }
      return isComplete;
    },
  };
}

/** Below some size there is nothing to be drawn; such a terminal is taken for a little larger. */
function terminalSize(): { columns: number; rows: number } {
  const { columns, rows } = outputs.terminalSize() ?? { columns: 80, rows: 24 };
  return { columns: Math.max(columns, 8), rows: Math.max(rows, 3) };
}

// Live view on a terminal: shows running scripts with their last lines, redrawn in place. Ended scripts scroll up.
//
// Invariants:
// - The view never has more rows than the terminal and no line wraps, so a redraw leaves no remains, also after a
//   resize.
// - Each script shows its last `elideLines` lines (0: all, once it has ended). At the end, all output of failed
//   scripts is printed.
//
// Non-obvious: a narrower terminal wraps the lines that were drawn before. The number of rows to go back is
// computed from the old lines and the new width.
import { outputs } from "../../../platform/terminal/output.ts";
import { colorLabel } from "../../output.ts";
import { oneLine } from "../../printable.ts";
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { ScriptTask } from "../../tasks/task.ts";
import { type BlockState, clip, type Frame, renderBlock, renderFrame, rowsTaken } from "./live-frame.ts";
import { LinePrefixer, OpenLine } from "./line-prefixer.ts";
import { LastLines } from "./tail-lines.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import { TaskLog } from "../task-log.ts";
import { describeOutcome, describeRetries, formatDuration, labelOf, nameScript } from "../../tasks/labels.ts";

export interface LiveOptions {
  readonly tasks: readonly ScriptTask[];
  readonly queue: OutputQueue;
  /** 0 for all. */
  readonly elideLines: number;
  readonly useColor: boolean;
  /** Whether to omit the commands. */
  readonly silent: boolean;
}

interface LiveTask {
  readonly task: ScriptTask;
  readonly lines: LastLines;
  readonly log: TaskLog;
  command: string;
  /** The evidence that a service is ready. */
  ready?: string;
}

const REDRAW_AFTER = 50; // ms
const LINES_IN_MEMORY = 100;
const BEGIN_UPDATE = "\x1b[?2026h";
const END_UPDATE = "\x1b[?2026l";

export function createLiveReporter({ tasks, queue, elideLines, useColor, silent }: LiveOptions): Reporter {
  const running = new Map<ScriptTask, LiveTask>();
  const failed = new Map<ScriptTask, LiveTask>();
  /** Tasks that have not started. */
  const waiting = new Set(tasks);
  let isComplete = true;
  /** Another program has the terminal. */
  let isSuspended = false;
  let drawn: Frame = { lines: [] };
  let scrolled = "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  function requestRedraw(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      drawUnlessHeldUp();
    }, REDRAW_AFTER);
  }

  /** A suspended terminal (Ctrl-S) gets one frame when it continues, not all missed ones. */
  function drawUnlessHeldUp(): void {
    if (queue.isHeldUp) requestRedraw();
    else draw();
  }

  function draw(): void {
    if (isSuspended) return;
    const { columns, rows } = terminalSize();
    const blocks = [...running.values()].map(blockOf);
    const next = renderFrame(blocks, { columns, rows, elideLines, waiting: waiting.size, useColor });
    const back = Math.min(rowsTaken(drawn, columns), rows - 1);
    // Lines are overwritten and not erased first. That avoids flicker, and tmux does not store erased rows in its
    // history.
    const text = scrolled + next.lines.map((line) => `${line}\n`).join("");
    const start = back > 0 ? `\x1b[${back}A\r` : "\r";
    void queue.write(1, `${BEGIN_UPDATE}${start}${text.replaceAll("\n", "\x1b[K\n")}\x1b[J${END_UPDATE}`);
    drawn = next;
    scrolled = "";
  }

  function blockOf({ task, lines, command, ready }: LiveTask): BlockState {
    return {
      title: nameScript(task, task.scriptName),
      command: silent ? "" : command,
      lines: lines.all(),
      total: lines.total,
      status: ready === undefined ? "Running..." : `Ready (${ready})`,
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
      // All lines are requested, but only the last ones are in memory: the rest is read from the log.
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
      if (live && tone === "failed" && block.total > (elideLines || LINES_IN_MEMORY)) failed.set(task, live);
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
          const live = running.get(event.task);
          if (live) live.command = event.step.command;
          else
            running.set(event.task, {
              task: event.task,
              lines: new LastLines(elideLines || LINES_IN_MEMORY),
              log: new TaskLog({ whenFull: "drop" }),
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
        case "ready": {
          const live = running.get(event.task);
          if (live) live.ready = event.how;
          return requestRedraw();
        }
        case "task-end": {
          const { outcome, duration, task } = event;
          if (outcome.kind === "success" && (outcome.isStopped || outcome.isUnneeded))
            return end(task, describeOutcome(outcome), "succeeded");
          if (outcome.kind === "success")
            return end(task, `Done in ${formatDuration(duration)}${describeRetries(outcome)}`, "succeeded");
          if (outcome.kind === "stopped")
            return end(task, outcome.wasRunning ? "Interrupted" : "Not started", "skipped");
          return end(task, describeOutcome(outcome), outcome.kind === "skipped" ? "skipped" : "failed");
        }
        case "notice":
          scrolled += `${colorLabel(`warning: ${oneLine(event.message)}`, 1)}\n`;
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
        case "suspend":
          draw();
          isSuspended = true;
          return;
        case "resume":
          isSuspended = false;
          drawn = { lines: [] }; // another program has written below the view
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
        void queue.write(1, `\n${labelOf(live.task)}: complete output\n`);
        printLog(live);
      }
      return isComplete;
    },
  };
}

/** Very small terminals are treated as slightly larger, because nothing would fit. */
function terminalSize(): { columns: number; rows: number } {
  const { columns, rows } = outputs.terminalSize() ?? { columns: 80, rows: 24 };
  return { columns: Math.max(columns, 8), rows: Math.max(rows, 3) };
}

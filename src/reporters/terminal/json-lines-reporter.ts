// Prints the events of a run as JSON lines on standard output (`--output=json`), for programs.
//
// Invariants: the format is documented in docs/; `version` changes when a field changes its meaning. Every line of
// standard output is one object. Times are milliseconds since the start of the run.
import { escapeJson, oneLine } from "../../printable.ts";
import type { OutputQueue } from "../../tasks/output-queue.ts";
import type { Reporter, TaskEvent } from "../../tasks/task-events.ts";
import type { ScriptTask, TaskStep } from "../../tasks/task.ts";
import { endingFields, roundTime, taskFields } from "../task-fields.ts";

/** A line of output that is longer is split; each part but the last has `isPartial`. In characters. */
const MAX_LINE = 1 << 16;

interface OpenOutput {
  readonly decoder: TextDecoder;
  text: string;
}

export function createJsonLinesReporter(tasks: readonly ScriptTask[], queue: OutputQueue): Reporter {
  const started = performance.now();
  const open = new Map<string, OpenOutput>();

  function print(type: string, fields: object): void | Promise<void> {
    return queue.write(1, `${escapeJson(JSON.stringify({ type, ...fields }))}\n`);
  }

  function printLine(
    task: ScriptTask,
    { scriptName }: TaskStep,
    isError: boolean,
    line: string,
    rest?: object,
  ) {
    const stream = isError ? "stderr" : "stdout";
    return print("output", { task: task.label, script: scriptName, stream, line, ...rest });
  }

  function keyOf(task: ScriptTask, step: TaskStep, isError: boolean): string {
    return `${task.index} ${isError} ${step.scriptName}`;
  }

  function printOutput(task: ScriptTask, step: TaskStep, isError: boolean, bytes: Uint8Array) {
    const key = keyOf(task, step, isError);
    let output = open.get(key);
    if (!output) open.set(key, (output = { decoder: new TextDecoder(), text: "" }));
    const lines = (output.text + output.decoder.decode(bytes, { stream: true })).split("\n");
    let rest = lines.pop()!;
    let pending: void | Promise<void> = undefined;
    for (const line of lines) pending = printLine(task, step, isError, line.replace(/\r$/, "")) ?? pending;
    for (; rest.length > MAX_LINE; rest = rest.slice(MAX_LINE))
      pending = printLine(task, step, isError, rest.slice(0, MAX_LINE), { isPartial: true }) ?? pending;
    output.text = rest;
    return pending;
  }

  function endOutput(task: ScriptTask, step: TaskStep): void {
    for (const isError of [false, true]) {
      const key = keyOf(task, step, isError);
      const output = open.get(key);
      open.delete(key);
      const rest = output && output.text + output.decoder.decode();
      if (rest) void printLine(task, step, isError, rest);
    }
  }

  void print("run-start", {
    version: 1,
    startedAt: new Date().toISOString(),
    tasks: tasks.map((task) => ({ task: task.label, ...taskFields(task) })),
  });
  return {
    report(event: TaskEvent): void | Promise<void> {
      switch (event.type) {
        case "step-start": {
          const { scriptName: script, command } = event.step;
          return print("step-start", { task: event.task.label, script, command, at: roundTime(event.at) });
        }
        case "output":
          return printOutput(event.task, event.step, event.isError, event.bytes);
        case "step-end": {
          const { task, step, exit, saved, at, duration } = event;
          endOutput(task, step);
          return print("step-end", {
            task: task.label,
            script: step.scriptName,
            exitCode: exit.signal === null ? exit.code : null,
            signal: exit.signal,
            ...(saved !== undefined && { saved: roundTime(saved) }),
            at: roundTime(at),
            duration: roundTime(duration),
          });
        }
        case "ready": {
          const { task, how, at, duration } = event;
          return print("ready", { task: task.label, how, at: roundTime(at), duration: roundTime(duration) });
        }
        case "task-end": {
          const { task, at, duration } = event;
          const times = { at: roundTime(at), duration: roundTime(duration) };
          return print("task-end", { task: task.label, ...endingFields(event), ...times });
        }
        case "notice":
          return print("warning", { message: oneLine(event.message) });
        case "remark":
          return print("remark", { message: Bun.stripANSI(event.line) });
        case "again":
          return print("restart", { tasks: event.tasks.map(({ label }) => label) });
        case "interrupt":
          return print("interrupt", { signal: event.signal });
        case "suspend":
        case "resume":
          return;
      }
    },
    finish() {
      void print("run-end", { duration: roundTime(performance.now() - started) });
    },
  };
}

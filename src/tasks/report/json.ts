// The file of `--report`: what ran, in which order, how long and how it ended, as JSON for other programs.
//
// Contract: documented in docs/; `version` changes when a field changes its meaning. Times are milliseconds;
// `start` counts from `startedAt`. The file is written once, at the end, whole: a reader never sees half of it. What is no
// file (a pipe, /dev/stdout, /dev/null) is written to and stays what it is; a symbolic link stays one.
import { Failure } from "../../failure.ts";
import type { Outcome, Reporter, TaskEvent } from "../event.ts";
import type { OutputQueue } from "./output-queue.ts";
import { describeOutcome } from "./wording.ts";

interface ReportedStep {
  readonly script: string;
  readonly command: string;
  readonly start: number;
  duration: number | null;
  exitCode: number | null;
  signal: string | null;
}

/** Throws Failure where no file can be written: better said before the run than after it. */
export function createJsonReporter(file: string, cwd: string, queue: OutputQueue): Reporter {
  // Loaded when they are needed: this module shares a chunk with runs without a report.
  const { accessSync, constants } = process.getBuiltinModule("node:fs");
  const { dirname, resolve } = process.getBuiltinModule("node:path");
  const target = resolve(cwd, file);
  try {
    const replaced = fileToReplace(target);
    if (replaced !== undefined) accessSync(dirname(replaced), constants.W_OK);
  } catch (error) {
    throw new Failure(explain(target, error), "--report needs a file in a directory that can be written to");
  }
  const startedAt = new Date();
  const started = performance.now();
  const steps = new Map<string, ReportedStep>();
  const tasks: object[] = [];
  return {
    report(event: TaskEvent): void {
      if (event.type === "step-start") {
        const { scriptName: script, command } = event.step;
        steps.set(`${event.task.index} ${script}`, {
          script,
          command,
          start: round(event.at),
          duration: null,
          exitCode: null,
          signal: null,
        });
      } else if (event.type === "step-end") {
        const step = steps.get(`${event.task.index} ${event.step.scriptName}`);
        if (!step) return;
        step.duration = round(event.duration);
        step.signal = event.exit.signal;
        step.exitCode = event.exit.signal === null ? event.exit.code : null;
      } else if (event.type === "task-end") {
        const { task, outcome, at, duration } = event;
        tasks.push({
          package: task.packageName === "" ? null : task.packageName,
          directory: task.packageDirectory,
          script: task.scriptName,
          outcome: outcome.kind,
          message: describeOutcome(outcome),
          ...detailOf(outcome),
          start: round(at - duration),
          duration: round(duration),
          steps: task.steps.flatMap(({ scriptName }) => steps.get(`${task.index} ${scriptName}`) ?? []),
        });
      }
    },
    finish() {
      const report = {
        version: 1,
        startedAt: startedAt.toISOString(),
        duration: round(performance.now() - started),
        tasks,
      };
      try {
        const text = `${JSON.stringify(report, null, 2)}\n`;
        // Behind what is still to be written there.
        if (target === "/dev/stdout") void queue.write(1, text);
        else writeWhole(target, text);
      } catch (error) {
        void queue.write(2, `error: ${explain(target, error)}\n`);
        return false;
      }
      return true;
    },
  };
}

/** What a descriptor leads to may be a file with output in it, which has to stay. */
const DESCRIPTOR = /^\/(?:dev\/(?:std|fd\/)|proc\/)/;

/** Undefined for what is written to as it is. Throws what the system says. */
function fileToReplace(target: string): string | undefined {
  const { lstatSync, realpathSync, statSync } = process.getBuiltinModule("node:fs");
  if (DESCRIPTOR.test(target)) return undefined;
  const present = statSync(target, { throwIfNoEntry: false });
  if (present?.isDirectory()) throw Object.assign(new Error("A directory"), { code: "EISDIR" });
  if (present) return present.isFile() ? realpathSync(target) : undefined;
  // A link whose file is not there yet.
  return lstatSync(target, { throwIfNoEntry: false }) ? undefined : target;
}

function writeWhole(target: string, text: string): void {
  const { renameSync, rmSync, writeFileSync } = process.getBuiltinModule("node:fs");
  const file = fileToReplace(target);
  if (file === undefined) return writeFileSync(target, text, { flag: "a" });
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function explain(target: string, error: unknown): string {
  const { code } = error as { code?: string };
  return `Cannot write the report ${target}: ${code === "EISDIR" ? "it is a directory" : (code ?? String(error))}`;
}

function detailOf(outcome: Outcome): object {
  switch (outcome.kind) {
    case "success":
      return { exitCode: 0 };
    case "failure":
    case "unstartable":
      return { exitCode: outcome.code };
    case "signal":
      return { signal: outcome.signal };
    case "skipped":
      return { because: outcome.because.label };
    case "stopped":
      return {};
  }
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000;
}

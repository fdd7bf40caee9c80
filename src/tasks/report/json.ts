// The file of `--report`: what ran, in which order, how long and how it ended, as JSON for other programs.
//
// Contract: documented in docs/; `version` changes when a field changes its meaning. Times are milliseconds;
// `start` counts from `startedAt`. The file is written once, at the end, whole: a reader never sees half of it, and what
// could not be written whole is not there. Until it has its name it has one that nobody can guess, and is opened only if
// it is new: who may write into the folder cannot lead rt to another file. What is no file (a pipe, /dev/stdout,
// /dev/null) is written to and stays what it is, by a thread of the engine's: a pipe may wait for its reader for ever,
// and signals must not; a symbolic link stays one.
import { Failure } from "../../failure.ts";
import { escapeJson, oneLine } from "../../printable.ts";
import type { Outcome, Reporter, TaskEvent } from "../event.ts";
import type { Step, Task } from "../task.ts";
import type { OutputQueue } from "./output-queue.ts";
import { describeOutcome } from "./wording.ts";

interface ReportedStep {
  readonly script: string;
  readonly command: string;
  readonly secrets?: Step["secrets"];
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
  /** Of a task that has run again, the last. */
  const tasks = new Map<Task, object>();
  return {
    report(event: TaskEvent): void {
      if (event.type === "step-start") {
        const { scriptName: script, command, secrets } = event.step;
        steps.set(`${event.task.index} ${script}`, {
          script,
          command,
          ...(secrets && { secrets }),
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
        const { task, outcome, at, duration, why } = event;
        tasks.delete(task);
        tasks.set(task, {
          package: task.packageName === "" ? null : task.packageName,
          directory: task.packageDirectory,
          script: task.scriptName,
          outcome: outcome.kind,
          message: describeOutcome(outcome),
          ...detailOf(outcome),
          ...(why !== undefined && { why: oneLine(why) }),
          start: round(at - duration),
          duration: round(duration),
          steps: task.steps.flatMap(({ scriptName }) => steps.get(`${task.index} ${scriptName}`) ?? []),
        });
      }
    },
    async finish() {
      const report = {
        version: 1,
        startedAt: startedAt.toISOString(),
        duration: round(performance.now() - started),
        tasks: [...tasks.values()],
      };
      try {
        const text = `${escapeJson(JSON.stringify(report, null, 2))}\n`;
        // Behind what is still to be written there.
        if (target === "/dev/stdout") void queue.write(1, text);
        else return await Promise.race([writeReport(target, text), queue.hurried.then(() => false)]);
      } catch (error) {
        void queue.write(2, `error: ${oneLine(explain(target, error))}\n`);
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

async function writeReport(target: string, text: string): Promise<true> {
  const file = fileToReplace(target);
  if (file !== undefined) replaceFile(file, text);
  else await process.getBuiltinModule("node:fs").promises.writeFile(target, text, { flag: "a" });
  return true;
}

/** At once: no signal finds it half done. */
function replaceFile(file: string, text: string): void {
  const { renameSync, rmSync, writeFileSync } = process.getBuiltinModule("node:fs");
  const draft = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    writeFileSync(draft, text, { flag: "wx" });
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
      return outcome.saved === undefined ? { exitCode: 0 } : { exitCode: 0, saved: round(outcome.saved) };
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

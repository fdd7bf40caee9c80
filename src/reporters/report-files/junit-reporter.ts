// Writes a JUnit XML report (`--report=junit.xml`): a suite for each package, a case for each script.
//
// Invariants:
// - A failed script is a failure. A script that could not start or was killed by a signal is an error. Scripts that
//   did not run are skipped.
// - Only elements and attributes that all readers support are used. Characters that XML forbids are escaped as in
//   JSON.
import { oneLine } from "../../printable.ts";
import type { Reporter } from "../../tasks/task-events.ts";
import type { PackageJson } from "../../workspace/package-json.ts";
import type { TaskRequest, TaskOutcome } from "../../tasks/task.ts";
import type { ReportFile } from "./report-file.ts";
import { type RecordedRun, type RecordedTask, RunRecord } from "./run-record.ts";
import { describeOutcome, titleOf } from "../../tasks/labels.ts";

export function createJUnitReporter(file: ReportFile, request: TaskRequest): Reporter {
  const record = new RunRecord();
  return {
    report: (event) => record.add(event),
    finish: async () => await file.write(renderRun(record.finish(), titleOf(request))),
  };
}

function renderRun({ tasks, startedAt, duration }: RecordedRun, title: string): string {
  const suites = Map.groupBy(tasks, ({ task }) => task.packageName || ownName(task.manifest) || title);
  const counts = countOf(tasks);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name=${quote(title)} tests="${counts.tests}" failures="${counts.failures}" errors="${counts.errors}" time="${seconds(duration)}">`,
  ];
  for (const [name, members] of suites) {
    const { tests, failures, errors, skipped } = countOf(members);
    const time = members.reduce((sum, each) => sum + each.duration, 0);
    const begin = new Date(startedAt.getTime() + Math.min(...members.map(({ start }) => start)));
    // Without a time zone, as readers expect: UTC.
    const timestamp = begin.toISOString().slice(0, 19);
    lines.push(
      `  <testsuite name=${quote(name)} tests="${tests}" failures="${failures}" errors="${errors}" skipped="${skipped}" time="${seconds(time)}" timestamp="${timestamp}">`,
      ...members.flatMap((member) => renderCase(member, name)),
      "  </testsuite>",
    );
  }
  return `${[...lines, "</testsuites>"].join("\n")}\n`;
}

function renderCase({ task, outcome, duration, output, refusals }: RecordedTask, suite: string): string[] {
  const { beginning, omitted, end } = output.read();
  const note = omitted > 0 ? `[${omitted} bytes omitted]\n` : "";
  const isFlaky = outcome.kind === "success" && outcome.retries !== undefined;
  const text = (isFlaky ? `[${describeOutcome(outcome)}]\n` : "") + beginning + note + end;
  const kind = kindOf(outcome);
  const message = quote(describeOutcome(outcome));
  const result =
    kind === "success"
      ? []
      : [`      <${kind} message=${message}${kind === "skipped" ? "" : ` type=${quote(outcome.kind)}`}/>`];
  const written = text === "" ? [] : [`      <system-out>${escapeXml(Bun.stripANSI(text))}</system-out>`];
  return [
    `    <testcase name=${quote(task.scriptName)} classname=${quote(suite)} time="${seconds(duration)}">`,
    ...result,
    ...written,
    ...(refusals.length > 0 ? [`      <system-err>${escapeXml(refusals.join("\n"))}</system-err>`] : []),
    "    </testcase>",
  ];
}

function kindOf(outcome: TaskOutcome): "success" | "failure" | "error" | "skipped" {
  const { kind } = outcome;
  if (kind === "success" && outcome.isUnneeded) return "skipped";
  if (kind === "success" || kind === "failure") return kind;
  return kind === "skipped" || kind === "stopped" ? "skipped" : "error";
}

function ownName({ name }: PackageJson): string {
  return typeof name === "string" ? name : "";
}

function countOf(tasks: readonly RecordedTask[]) {
  const count = (kind: string) => tasks.filter(({ outcome }) => kindOf(outcome) === kind).length;
  return {
    tests: tasks.length,
    failures: count("failure"),
    errors: count("error"),
    skipped: count("skipped"),
  };
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

function quote(text: string): string {
  return `"${escapeXml(oneLine(text))}"`;
}

const ENTITIES: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };

function escapeXml(text: string): string {
  return text
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]/g, escapeAsJson)
    .replace(/[<>&"]/g, (character) => ENTITIES[character]!);
}

function escapeAsJson(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

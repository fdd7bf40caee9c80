// Tests how much output a report keeps. A real run with so much output would be too slow, so the tests call
// RunRecord.
import { expect, test } from "bun:test";
import { TruncatedOutput } from "../../src/reporters/report-files/truncated-output.ts";
import { RunRecord } from "../../src/reporters/report-files/run-record.ts";
import type { TaskOutcome, TaskStep, ScriptTask } from "../../src/tasks/task.ts";

const step: TaskStep = { scriptName: "build", command: "true", isMain: true };
const LINE = new TextEncoder().encode(`${"x".repeat(1023)}\n`);
const KIB_OF_EACH = 128;

test("a record of a run with much output keeps more of failed tasks than of successful ones", () => {
  const record = new RunRecord();
  const run = (index: number, outcome: TaskOutcome) => {
    const task = { index, steps: [step], scriptName: "build" } as unknown as ScriptTask;
    for (let line = 0; line < KIB_OF_EACH; line += 1)
      record.add({ type: "output", task, step, bytes: LINE, isError: false });
    record.add({ type: "task-end", task, outcome, at: 1, duration: 1 });
  };
  // 25 MiB in total.
  for (let index = 0; index < 200; index += 1) run(index, { kind: "success" });
  run(200, { kind: "failure", code: 1, step });
  run(201, { kind: "success" });
  const sizes = record.finish().tasks.map(({ output }) => output.size / 1024);
  expect([sizes[0], sizes[200], sizes[201]]).toEqual([KIB_OF_EACH, KIB_OF_EACH, 8]);
});

const encode = (text: string) => new TextEncoder().encode(text);

test("TruncatedOutput keeps a fixed size whatever is appended", () => {
  const output = new TruncatedOutput();
  for (let line = 0; line < 2000; line += 1) output.append(LINE);
  expect(output.size / 1024).toBeLessThanOrEqual(32 + 2 * 96);
  output.trim();
  expect(output.size / 1024).toBe(32 + 96);
});

test("TruncatedOutput keeps a character across the boundary of its parts whole", () => {
  const output = new TruncatedOutput();
  const text = `x${"\u00e9".repeat(30_000)}`;
  output.append(encode(text));
  expect(output.read()).toEqual({ beginning: text, omitted: 0, end: "" });
});

test("TruncatedOutput keeps the first and last lines, and the number of omitted bytes between", () => {
  const output = new TruncatedOutput();
  const lines = Array.from({ length: 9000 }, (_, index) => `${index + 10_000}\n`);
  for (const line of lines) output.append(encode(line));
  output.shorten();
  const { beginning, omitted, end } = output.read();
  expect(lines.join("")).toStartWith(beginning);
  expect(lines.join("")).toEndWith(end);
  expect([beginning, end].map((text) => text.startsWith("1") && text.endsWith("\n"))).toEqual([true, true]);
  expect(beginning.length + omitted + end.length).toBe(9000 * lines[0]!.length);
  expect(beginning.length + end.length).toBeGreaterThan(7 << 10);
});

// What a report keeps of a run whose scripts wrote much: too much for a run of the tests, so the record is asked itself.
import { expect, test } from "bun:test";
import { TruncatedOutput } from "../../src/reporters/report-files/truncated-output.ts";
import { RunRecord } from "../../src/reporters/report-files/run-record.ts";
import type { TaskOutcome, TaskStep, ScriptTask } from "../../src/tasks/task.ts";

const step: TaskStep = { scriptName: "build", command: "true", isMain: true };
const LINE = new TextEncoder().encode(`${"x".repeat(1023)}\n`);
const KIB_OF_EACH = 128;

test("of a run that wrote much, what failed is kept longer than what succeeded", () => {
  const record = new RunRecord();
  const run = (index: number, outcome: TaskOutcome) => {
    const task = { index, steps: [step], scriptName: "build" } as unknown as ScriptTask;
    for (let line = 0; line < KIB_OF_EACH; line += 1)
      record.add({ type: "output", task, step, bytes: LINE, isError: false });
    record.add({ type: "task-end", task, outcome, at: 1, duration: 1 });
  };
  // 25 MiB of them.
  for (let index = 0; index < 200; index += 1) run(index, { kind: "success" });
  run(200, { kind: "failure", code: 1, step });
  run(201, { kind: "success" });
  const sizes = record.finish().tasks.map(({ output }) => output.size / 1024);
  expect([sizes[0], sizes[200], sizes[201]]).toEqual([KIB_OF_EACH, KIB_OF_EACH, 8]);
});

const encode = (text: string) => new TextEncoder().encode(text);

test("what is kept of a talkative script does not grow with what it writes", () => {
  const kept = new TruncatedOutput();
  for (let line = 0; line < 2000; line += 1) kept.append(LINE);
  expect(kept.size / 1024).toBeLessThanOrEqual(32 + 2 * 96);
  kept.trim();
  expect(kept.size / 1024).toBe(32 + 96);
});

test("a character that lies across the border of what is kept is one", () => {
  const kept = new TruncatedOutput();
  const text = `x${"\u00e9".repeat(30_000)}`;
  kept.append(encode(text));
  expect(kept.read()).toEqual({ beginning: text, omitted: 0, end: "" });
});

test("what is shortened has its first lines, its last ones, and the number of all between", () => {
  const kept = new TruncatedOutput();
  const lines = Array.from({ length: 9000 }, (_, index) => `${index + 10_000}\n`);
  for (const line of lines) kept.append(encode(line));
  kept.shorten();
  const { beginning, omitted, end } = kept.read();
  expect(lines.join("")).toStartWith(beginning);
  expect(lines.join("")).toEndWith(end);
  expect([beginning, end].map((text) => text.startsWith("1") && text.endsWith("\n"))).toEqual([true, true]);
  expect(beginning.length + omitted + end.length).toBe(9000 * lines[0]!.length);
  expect(beginning.length + end.length).toBeGreaterThan(7 << 10);
});

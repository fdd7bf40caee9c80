// What a report keeps of a run whose scripts wrote much: too much for a run of the tests, so the record is asked itself.
import { expect, test } from "bun:test";
import { RunRecord } from "../../src/tasks/report/record.ts";
import type { Outcome, Step, Task } from "../../src/tasks/task.ts";

const step: Step = { scriptName: "build", command: "true", isMain: true };
const LINE = new TextEncoder().encode(`${"x".repeat(1023)}\n`);
const KIB_OF_EACH = 128;

test("of a run that wrote much, what failed is kept longer than what succeeded", () => {
  const record = new RunRecord();
  const run = (index: number, outcome: Outcome) => {
    const task = { index, steps: [step], scriptName: "build" } as unknown as Task;
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

// Tests which verdicts of an earlier run are reused from its report.
import { expect, test } from "bun:test";
import { appendFile } from "node:fs/promises";
import { relative } from "node:path";
import { createProject } from "../support/project.ts";
import { REPOSITORY } from "../support/rt.ts";
import type { Placed } from "./mutant.ts";
import { openVerdicts } from "./verdicts.ts";

const MUTANT: Placed = {
  file: "src/errors.ts",
  fault: "a fault",
  text: "x",
  becomes: "y",
  tests: ["cli/help"],
};
const KILLED = { verdict: "killed", remark: "a test's title" } as const;

test("a mutant's verdict is reused until its row or its file changes", async () => {
  await using project = await createProject({ "source.ts": "x" });
  const report = project.join("verdicts.jsonl");
  const mutant = { ...MUTANT, file: relative(REPOSITORY, project.join("source.ts")) };
  const others = [
    { ...mutant, becomes: "z" },
    { ...mutant, tests: ["cli/nearest"] },
    { ...mutant, file: "src/errors.ts" },
  ];
  const first = openVerdicts([mutant], report);
  expect(first.get(mutant)).toBeUndefined();
  first.add(mutant, KILLED);
  const second = openVerdicts([mutant, ...others], report);
  expect(second.get(mutant)).toMatchObject(KILLED);
  for (const other of others) expect(second.get(other)).toBeUndefined();
  await project.write({ "source.ts": "x, changed" });
  const third = openVerdicts([mutant], report);
  expect(third.get(mutant)).toBeUndefined();
  expect(third.likeliest(mutant)).toBe(KILLED.remark);
  expect(third.likeliest({ ...mutant, fault: "another" })).toBeUndefined();
});

test("a report with an incomplete line of a killed run keeps later verdicts", async () => {
  await using project = await createProject();
  const report = project.join("verdicts.jsonl");
  await appendFile(report, '{"key":"');
  openVerdicts([MUTANT], report).add(MUTANT, KILLED);
  expect(openVerdicts([MUTANT], report).get(MUTANT)).toMatchObject(KILLED);
});

test("a mutant is tried again when it could not be tried or when there is no report", async () => {
  await using project = await createProject();
  const report = project.join("verdicts.jsonl");
  const verdicts = openVerdicts([MUTANT], report);
  verdicts.add(MUTANT, { verdict: "not tried", remark: "" });
  expect(openVerdicts([MUTANT], report).get(MUTANT)).toBeUndefined();
  const none = openVerdicts([MUTANT], undefined);
  none.add(MUTANT, KILLED);
  expect(none.get(MUTANT)).toBeUndefined();
});

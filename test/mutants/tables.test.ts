// Tests that the rows of test/mutants/tables fit the source. `npm run mutants` tries them.
import { expect, test } from "bun:test";
import { resultOf } from "../support/output.ts";
import { REPOSITORY } from "../support/rt.ts";
import { applyMutant, findMistake, MAX_ROWS, nameOf, readTables } from "./mutant.ts";

const mutants = await readTables();

test("the text of each mutant occurs once in its file, and its test files exist", async () => {
  const mistakes = await Promise.all(mutants.map(findMistake));
  expect(mistakes.filter((mistake) => mistake !== undefined)).toEqual([]);
});

test("the tables have at most the number of rows that can be maintained", () => {
  expect(mutants.length).toBeLessThanOrEqual(MAX_ROWS);
});

test("names of mutants are unique", () => {
  const names = mutants.map(nameOf);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("applyMutant throws with the mutant's name when its text does not occur exactly once", () => {
  const mutant = { file: "src/a.ts", fault: "a fault", text: "x", becomes: "y", tests: [] };
  expect(applyMutant(mutant, "a x b")).toBe("a y b");
  expect(() => applyMutant(mutant, "a b")).toThrow(
    "src/a.ts: a fault: its text does not occur in the file: x",
  );
  expect(() => applyMutant(mutant, "x x")).toThrow(
    "src/a.ts: a fault: its text occurs 2 times in the file: x",
  );
});

test("npm run mutants exits with 1 and a message when its arguments are invalid", async () => {
  const run = async (...args: string[]) => {
    const child = Bun.spawn([process.execPath, "test/mutants/run.ts", ...args], {
      cwd: REPOSITORY,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    return await resultOf(child);
  };
  expect(await run("no such mutant")).toEqual({
    stdout: "",
    stderr: 'error: no mutant has "no such mutant" in its name\n',
    status: 1,
  });
  expect(await run("--jobs=0")).toEqual({
    stdout: "",
    stderr: 'error: --jobs needs a whole number from 1, not "0"\n',
    status: 1,
  });
});

import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, REPOSITORY } from "../support/rt.ts";
import { resultOf } from "../support/output.ts";
import { placeMutation, sampleMutants } from "./changed.ts";
import { readChangedLines } from "./changed-lines.ts";
import { applyMutant, type Placed } from "./mutant.ts";
import { applyMutation, listMutations } from "./mutations.ts";
import { findRelatedTests } from "./related-tests.ts";

function git(cwd: string, ...words: string[]): void {
  const identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false"];
  const { status, stderr } = spawnSync("git", [...identity, ...words], { cwd, env: cleanEnvironment() });
  if (status !== 0) throw new Error(String(stderr));
}

test("readChangedLines returns changed lines of commits, the working tree and untracked files in the product's TypeScript", async () => {
  await using project = await createProject({
    "src/committed.ts": "1\n2\n3\n",
    "src/edited.ts": "1\n2\n3\n",
    "src/moved.ts": "a long first line\na long second line\na long third line\n",
    "src/same.ts": "1\n",
    "test/a.test.ts": "1\n",
  });
  git(project.path, "init", "--quiet", "--initial-branch=main");
  git(project.path, "add", ".");
  git(project.path, "commit", "--quiet", "--message=first");
  git(project.path, "tag", "base");
  git(project.path, "mv", "src/moved.ts", "src/elsewhere.ts");
  await project.write({ "src/committed.ts": "1\n2\nthree\nfour\n" });
  git(project.path, "commit", "--quiet", "--all", "--message=second");
  await project.write({
    "src/edited.ts": "one\n3\n",
    "src/new.ts": "1\n2",
    "src/types.d.ts": "1\n",
    "src/style.css": "1\n",
    "test/a.test.ts": "2\n",
  });
  const changed = [...readChangedLines("base", project.path)].map(([file, lines]) => [file, [...lines]]);
  expect(changed.toSorted()).toEqual([
    ["src/committed.ts", [3, 4]],
    ["src/edited.ts", [1]],
    ["src/new.ts", [1, 2]],
  ]);
});

test("readChangedLines omits commits that the base got after the branch was created", async () => {
  await using project = await createProject({ "src/a.ts": "1\n", "src/b.ts": "1\n" });
  git(project.path, "init", "--quiet", "--initial-branch=main");
  git(project.path, "add", ".");
  git(project.path, "commit", "--quiet", "--message=first");
  git(project.path, "switch", "--quiet", "--create=branch");
  await project.write({ "src/a.ts": "2\n" });
  git(project.path, "commit", "--quiet", "--all", "--message=on the branch");
  git(project.path, "switch", "--quiet", "main");
  await project.write({ "src/b.ts": "2\n" });
  git(project.path, "commit", "--quiet", "--all", "--message=on main");
  git(project.path, "switch", "--quiet", "branch");
  expect([...readChangedLines("main", project.path).keys()]).toEqual(["src/a.ts"]);
});

const SOURCE = "if (a) b();\nif (a) b();\nif (a) b();\n";

test("a generated mutant changes its own position when the same text occurs several times", () => {
  const mutations = listMutations("source.ts", SOURCE);
  const placed = mutations.map((mutation) => placeMutation("source.ts", SOURCE, mutation, []));
  expect(placed.map((mutant) => applyMutant(mutant, SOURCE))).toEqual(
    mutations.map((mutation) => applyMutation(mutation, SOURCE)),
  );
  expect(placed[2]!.fault).toBe("2:5: negated condition: a -> !(a)");
});

test("sampleMutants keeps the order, includes every operator, and is deterministic for a seed", () => {
  const source = `${'f("x", 1, "y", 2);\n'.repeat(50)}if (a) b();\n`;
  const all: Placed[] = listMutations("source.ts", source).map((mutation) =>
    placeMutation("source.ts", source, mutation, []),
  );
  const sample = sampleMutants(all, 9, 1);
  expect(sample).toHaveLength(9);
  expect(sample).toEqual(sampleMutants(all, 9, 1));
  expect(sample).not.toEqual(sampleMutants(all, 9, 2));
  expect(sample).toEqual(all.filter((mutant) => sample.includes(mutant)));
  for (const operator of ["negated condition", "removed statement", "other constant"])
    expect(sample.some(({ fault }) => fault.includes(operator))).toBe(true);
  expect(sampleMutants(all, 1000, 1)).toEqual(all);
});

test("findRelatedTests returns tests for each folder of the product, the test with the file's name first", async () => {
  const files = [...new Bun.Glob("{src,platform,build}/**/*.ts").scanSync(REPOSITORY)];
  const folders = new Map(files.map((file) => [file.slice(0, file.lastIndexOf("/")), file]));
  const without = [...folders].filter(([, file]) => findRelatedTests(file).length === 0);
  expect(without).toEqual([]);
  expect(findRelatedTests("src/tasks/schedule.ts")[0]).toBe("tasks/schedule");
});

test.each([
  [["--changed", "no-such-commit"], /^error: git merge-base failed: /],
  [["--changed", "a", "b"], /^error: --changed takes one base, not "a" and "b"\n$/],
  [["--changed", "--max=0"], /^error: --max needs a whole number from 1, not "0"\n$/],
  [["--changed", "--seed=x"], /^error: --seed needs a whole number from 1, not "x"\n$/],
])("npm run mutants exits with 1 and a message when its arguments are %j", async (args, message) => {
  const child = Bun.spawn([process.execPath, "test/mutants/run.ts", ...args], {
    cwd: REPOSITORY,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const { status, stdout, stderr } = await resultOf(child);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(message);
});

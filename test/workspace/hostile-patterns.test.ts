// Patterns that expand to too many paths, and symlinks that form loops: an error that names the pattern, or a bounded search.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { runMeasured } from "../support/programs/measured.ts";
import { createProject, type Files, type Project } from "../support/project.ts";

const MAX_MEMORY = 400 * 1024 * 1024;

async function list(cwd: string, filter = "*") {
  const { stdout, stderr, status, memory } = await runMeasured(cwd, [
    "run",
    "--filter",
    filter,
    "--dry-run",
    "a",
  ]);
  expect(memory).toBeLessThan(MAX_MEMORY);
  return { stdout, stderr: stderr.replaceAll(cwd, "$P"), status };
}

const HINT = 'hint: name the folders that hold the packages, as in "packages/*"\n';
const declared = (workspaces: readonly string[]): Files => ({ "package.json": { workspaces } });
const member: Files = { "packages/m/package.json": { name: "m", scripts: { a: "echo" } } };

test.each<[what: string, files: Files, problem: string]>([
  [
    "braces for four million paths",
    declared(["{a,b}".repeat(22)]),
    `The pattern "${"{a,b}".repeat(12)}..." in "workspaces" in $P/package.json stands for more than 1000 paths`,
  ],
  [
    "braces within braces",
    declared([`${"{a,b{c,".repeat(12)}d${"}}".repeat(12)}`.repeat(3)]),
    `The pattern "${"{a,b{c,".repeat(9).slice(0, 60)}..." in "workspaces" in $P/package.json stands for more than 1000 paths`,
  ],
  [
    "negated braces",
    declared(["packages/*", `!${"{a,b}".repeat(30)}`]),
    `The pattern "!${"{a,b}".repeat(12).slice(0, 59)}..." in "workspaces" in $P/package.json stands for more than 1000 paths`,
  ],
  [
    "braces in pnpm-workspace.yaml",
    { "package.json": {}, "pnpm-workspace.yaml": `packages: ["{\\u001b,${"b,".repeat(1000)}c}"]` },
    `The pattern "{\\u001b,${"b,".repeat(29).slice(0, 57)}..." in "packages" in $P/pnpm-workspace.yaml stands for more than 1000 paths`,
  ],
  [
    "a pattern of pages",
    declared(["x".repeat(10_001)]),
    `The pattern "${"x".repeat(60)}..." in "workspaces" in $P/package.json is longer than 10000 characters`,
  ],
  [
    "ten thousand and one patterns",
    declared(Array.from({ length: 10_001 }, (_, index) => `p${index}`)),
    'Too many patterns in "workspaces" in $P/package.json (more than 10000)',
  ],
])("rejected before expansion: %s", async (_, files, problem) => {
  await using project = await createProject({ ...files, ...member });
  expect(await list(project.path)).toEqual({ stdout: "", stderr: `error: ${problem}\n${HINT}`, status: 1 });
});

test("braces for a thousand paths are expanded, and a repeated pattern is searched once", async () => {
  const all = Array.from({ length: 999 }, (_, index) => `x${index}/*`).join();
  await using project = await createProject({
    ...declared(Array.from({ length: 20 }, () => `{${all},packages/*}`)),
    ...member,
  });
  expect(await list(project.path)).toMatchObject({ stdout: expect.stringContaining("m a"), status: 0 });
});

test("a search with thousands of negated patterns fails, and the error names the pattern", async () => {
  await using project = await createProject(
    declared(["**", ...Array.from({ length: 9000 }, (_, index) => `!**/x${index}*y*z*/**`)]),
  );
  for (let index = 0; index < 1200; index++) mkdirSync(project.join(`a/d${index}`), { recursive: true });
  const { stderr, status } = await list(project.path);
  expect(stderr).toMatch(
    /^error: The pattern "\*\*\/x\d+\*y\*z\*\/\*\*" in "workspaces" in \$P\/package.json searches too many folders\nhint/,
  );
  expect(status).toBe(1);
});

describe("symlink loops", () => {
  let project: Project;
  beforeAll(async () => {
    project = await createProject(member);
    for (let index = 0; index < 1296; index++) {
      const digits = index.toString(6).padStart(4, "0");
      mkdirSync(project.join("tree", ...digits), { recursive: true });
    }
    for (const name of "abcdefgh") {
      symlinkSync(".", project.join(name));
      symlinkSync("..", project.join("packages", name));
      symlinkSync("../packages", project.join("packages/m", name));
    }
  });
  afterAll(() => project[Symbol.asyncDispose]());

  test.each([
    [["**/".repeat(7) + "*"]],
    [["**/**/**/**/**/**/m/**/**/**/**/**"]],
    [["*/".repeat(40) + "*", "packages/*"]],
    [["*/*/**/*/**/*/**/*", "packages/*"]],
    [["packages/../".repeat(400) + "packages/*"]],
  ])("end the search with the existing packages, case %#", async (patterns) => {
    await project.write(declared(patterns));
    expect(await list(project.path)).toMatchObject({ stdout: expect.stringContaining("m a"), status: 0 });
  });
});

test.each([
  ["braces", "{a,b}".repeat(22)],
  ["two stars", `./${"**/".repeat(30)}x`],
  ["stars", `${"*m".repeat(5000)}x`],
  ["brackets", `{${"[a-".repeat(3000)}}`],
])("a filter of many %s fails without a long search", async (_, filter) => {
  await using project = await createProject({ ...declared(["packages/*"]), ...member });
  const { stderr, status } = await list(project.path, filter);
  expect(stderr).toStartWith(`error: No workspace packages matched the filter "`);
  expect(status).toBe(1);
});

// Runs of several scripts that cannot start: each prints one error before any script starts.
import { describe, expect, test } from "bun:test";
import { createProject, type Files } from "../support/project.ts";
import { ABSENT, expectRt, RT, runRt } from "../support/rt.ts";
import { scripts, workspace } from "../support/workspace.ts";

describe("rt run --filter", () => {
  test.each<[string, Files, string[], string | RegExp]>([
    [
      "a filter that matches nothing",
      workspace({ web: scripts("true") }),
      ["--filter", "wbe", "t"],
      'error: No workspace packages matched the filter "wbe"\nhint: did you mean "web"?\n',
    ],
    [
      "an unknown script",
      workspace({ a: { scripts: { build: "true" } } }),
      ["--filter", "a", "biuld"],
      'error: Script "biuld" not found in package "a" matching "a"\nhint: did you mean "build"?\n',
    ],
    [
      "a script that is not a string",
      workspace({ a: { scripts: { t: ["x"] } } }),
      ["--filter", "a", "t"],
      'error: Script "t" in package "a" matching "a" is not a string\nhint: write the command as a string\n',
    ],
    [
      "a package without the script with --workspaces",
      workspace({ a: scripts("true"), b: {} }),
      ["--workspaces", "t"],
      'error: Script "t" not found in package "b"\nhint: pass --if-present to leave such packages out\n',
    ],
    [
      "two packages with the same name",
      workspace({ a: { name: "x" }, b: { name: "x" } }),
      ["--workspaces", "t"],
      'error: Two packages are named "x": packages/a and packages/b\nhint: rename one of them\n',
    ],
    [
      "a member package that cannot be read",
      { ...workspace({ a: scripts("true") }), "packages/b/package.json": '{\n "x" 1 }' },
      ["--workspaces", "t"],
      'error: Cannot read $PROJECT/packages/b/package.json:2:6: expected : after the member name "x", found 1\n',
    ],
    [
      "a filter that is a path without ./",
      workspace({ web: scripts("true") }),
      ["--filter", "packages/web", "t"],
      'error: No workspace packages matched the filter "packages/web"\nhint: write a path with ./, as in ./packages/web\n',
    ],
    [
      "a filter by commit outside of a repository",
      workspace({ web: scripts("true") }),
      ["--filter", "[main]", "t"],
      /^error: git rev-parse failed in .*: not a git repository.*\nhint: a git revision in --filter needs a git repository with a commit\n$/,
    ],
    [
      "filters that exclude what they include",
      workspace({ web: scripts("true") }),
      ["--filter", "web", "--filter", "!web", "t"],
      'error: No workspace packages are left by the filters "web", "!web"\n',
    ],
    [
      "an unknown script without a similar name",
      { "package.json": { scripts: { "": "true", x: "true" } } },
      ["--parallel", "t"],
      'error: Script "t" not found\nhint: `rt run` lists the scripts\n',
    ],
    [
      "an option after the first of several scripts",
      { "package.json": { scripts: { t: "true" } } },
      ["--parallel", "t", "--silent"],
      'error: Script "--silent" not found\nhint: put options before the first script\n',
    ],
    [
      "a report that cannot be written",
      { "package.json": { scripts: { t: "touch ran" } } },
      ["--report", "nowhere/report.json", "--parallel", "t"],
      "error: Cannot write the report $PROJECT/nowhere/report.json: ENOENT\nhint: --report needs a file in a directory that can be written to\n",
    ],
    [
      "a plan in an unknown format",
      workspace({ web: scripts("true") }),
      ["--dry-run=xml", "--filter", "*", "t"],
      'error: --dry-run cannot be "xml"\nhint: use one of: json, html, mermaid\n',
    ],
    [
      "modes that exclude each other",
      workspace({ web: scripts("true") }),
      ["--parallel", "--sequential", "t"],
      "error: --parallel cannot be used with --sequential\nhint: remove one of them\n",
    ],
    [
      "a concurrency limit of zero",
      workspace({ web: scripts("true") }),
      ["--concurrency", "0", "--filter", "*", "t"],
      'error: --concurrency needs a whole number from 1 up, not "0"\nhint: remove it to use the default\n',
    ],
  ])("reports %s", (_, files, args, stderr) =>
    expectRt({ files, args: ["run", ...args], stderr, status: 1 }),
  );
});

/** "one" and "two" share a name, and "user" depends on it. */
const SHARED_NAMES = workspace({
  one: { name: "x", ...scripts("echo one") },
  two: { name: "x", ...scripts("echo two") },
  alone: scripts("echo alone"),
  user: { ...scripts("echo user"), devDependencies: { x: "*" } },
  "user-of-user": { ...scripts("echo user-of-user"), dependencies: { user: "*" } },
  "user-by-path": { ...scripts("echo user-by-path"), dependencies: { x: "file:../two" } },
});

test.each<[string, string, string]>([
  ["an unrelated package", "./packages/alone", "alone t: alone"],
  ["one of them by its path", "./packages/two", "x t: two"],
  ["a package that depends on one by its path", "user-by-path...", "x t: two,user-by-path t: user-by-path"],
  ["the dependents of another package", "...alone", "alone t: alone"],
])("packages that share a name are accepted when the filter selects %s", async (_, filter, lines) => {
  await using project = await createProject(SHARED_NAMES);
  const { stdout, status } = await runRt({ args: ["run", "--filter", filter, "t"], cwd: project.path });
  expect([
    stdout
      .split("\n")
      .filter((line) => /: [^E]/.test(line))
      .join(),
    status,
  ]).toEqual([lines, 0]);
});

test("rt run --filter lists a package by its path when another package has its name", () =>
  expectRt({
    files: SHARED_NAMES,
    args: ["run", "--filter", "./packages/two"],
    stdout: "x scripts (1 found):\n  $ rt run --filter ./packages/two t\n    echo two\n",
  }));

test.each<[string, string]>([
  ["their name", "x"],
  ["every package", "*"],
  ["a package that depends on their name", "user"],
  ["a package with a dependency that depends on their name", "user-of-user"],
  ["dependents of one of them", "...{packages/two}"],
])("packages that share a name are refused when the filter selects %s", (_, filter) =>
  expectRt({
    files: SHARED_NAMES,
    args: ["run", "--filter", filter, "t"],
    stderr: 'error: Two packages are named "x": packages/one and packages/two\nhint: rename one of them\n',
    status: 1,
  }),
);

test("an RT_CONCURRENCY that is not a number is an error", () =>
  expectRt({
    files: { "package.json": { scripts: { t: "true" } } },
    args: ["run", "--parallel", "t"],
    env: { RT_CONCURRENCY: "many" },
    stderr:
      'error: RT_CONCURRENCY needs a whole number from 1 up, not "many"\nhint: remove it to use the default\n',
    status: 1,
  }));

test.skipIf(process.platform === "win32")(
  "a program whose interpreter does not exist is an error that names the interpreter",
  async () => {
    const files = { "package.json": { scripts: { t: "tool" } }, "node_modules/.bin/tool": `#!${ABSENT}\n` };
    await using project = await createProject(files, ["node_modules/.bin/tool"]);
    const { stderr, status } = await runRt({ args: ["run", "--sequential", "t"], cwd: project.path });
    const tool = project.join("node_modules/.bin/tool");
    expect([stderr, status]).toEqual([
      expect.stringContaining(`Cannot start: the interpreter in the #! line of ${tool} does not exist\n`),
      127,
    ]);
  },
);

test.each(["run t", "run --filter * t", "t.ts", "run"])(
  "a working directory that was deleted is a one-line error: rt %s",
  async (words) => {
    await using project = await createProject({ "gone/t.ts": "" });
    const program = ["bash", "-c", 'cd gone && rm -r ../gone && exec "$0" "$@"', RT];
    expect(await runRt({ program, args: words.split(" "), cwd: project.path })).toEqual({
      stdout: "",
      stderr: "error: The working directory no longer exists\nhint: change directory or use --cwd\n",
      status: 1,
    });
  },
);

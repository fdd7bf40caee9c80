// Tests plans, reports and lists of runs with several scripts: `--dry-run`, `--report` and `rt run` without a script.
import { describe, expect, test } from "bun:test";
import { createJsonReporter } from "../../src/reporters/report-files/json-reporter.ts";
import type { ScriptTask } from "../../src/tasks/task.ts";
import { symlink } from "node:fs/promises";
import { createProject } from "../support/project.ts";
import { expectRt, RT, runRt } from "../support/rt.ts";
import { scripts, workspace } from "../support/workspace.ts";

describe("rt run --dry-run and --report", () => {
  const files = workspace({
    a: scripts("echo a"),
    b: { scripts: { pret: "true", t: "exit 2" }, dependencies: { a: "*" } },
    c: { ...scripts("true"), dependencies: { b: "*" } },
  });

  test("print the plan", () =>
    expectRt({
      files,
      args: ["run", "--dry-run", "--filter", "*", "t", "x y"],
      stdout:
        "a t\n  $ echo a 'x y'\nb t (after a t)\n  $ true\n  $ exit 2 'x y'\nc t (after b t)\n  $ true 'x y'\n\n3 scripts would run\n",
    }));

  test("print the plan as JSON", async () => {
    await using project = await createProject(files);
    const { stdout } = await runRt({
      args: ["run", "--dry-run=json", "--filter", "*", "t"],
      cwd: project.path,
    });
    const plan = JSON.parse(stdout) as { tasks: { label: string; waitsFor: string[] }[] };
    expect(plan.tasks.map(({ label, waitsFor }) => [label, waitsFor])).toEqual([
      ["a t", []],
      ["b t", ["a t"]],
      ["c t", ["b t"]],
    ]);
  });

  test("write the results of a run", async () => {
    await using project = await createProject(files);
    const { status } = await runRt({
      args: ["run", "--report", "report.json", "--filter", "*", "t"],
      cwd: project.path,
    });
    const report = (await Bun.file(project.join("report.json")).json()) as {
      version: number;
      tasks: Record<string, unknown>[];
    };
    expect(status).toBe(2);
    expect(report.version).toBe(1);
    const entries = report.tasks.map(({ package: name, outcome, exitCode, because, steps }) => ({
      name,
      outcome,
      exitCode,
      because,
      steps: (steps as { script: string; exitCode: number }[]).map(({ script, exitCode }) => [
        script,
        exitCode,
      ]),
    }));
    // In the order of their ends: a skipped task ends together with its failed dependency.
    expect(entries).toEqual([
      { name: "a", outcome: "success", exitCode: 0, because: undefined, steps: [["t", 0]] },
      {
        name: "b",
        outcome: "failure",
        exitCode: 2,
        because: undefined,
        steps: [
          ["pret", 0],
          ["t", 2],
        ],
      },
      { name: "c", outcome: "skipped", exitCode: undefined, because: "b t", steps: [] },
    ]);
  });
});

test("a report has no exit code for a step that a signal ended, and null for a package without a name", async () => {
  await using project = await createProject({
    "package.json": { name: "root", workspaces: ["packages/*"] },
    "packages/a/package.json": { scripts: { t: "kill -TERM $$" } },
  });
  for (const options of [["--filter", "./packages/a"], []]) {
    const cwd = options.length > 0 ? project.path : project.join("packages/a");
    await runRt({ args: ["run", "--parallel", "--report", "report.json", ...options, "t"], cwd });
    const { tasks } = (await Bun.file(`${cwd}/report.json`).json()) as { tasks: Record<string, unknown>[] };
    const [step] = tasks[0]!.steps as Record<string, unknown>[];
    expect([step!.exitCode, step!.signal]).toEqual([null, "SIGTERM"]);
    expect(tasks[0]!.package).toBe(options.length > 0 ? "packages/a" : null);
  }
});

test("a list shows each script as a command to type", async () => {
  const scripts = { "a b": "true", "-x": "true", "build:x": "true" };
  await using project = await createProject(workspace({ "web app": { scripts } }, { scripts }));
  const listed = async (...args: string[]) =>
    (await runRt({ args: ["run", ...args], cwd: project.path })).stdout.match(/rt run .*/g);
  expect(await listed()).toEqual(["rt run 'a b'", "rt run -- -x", "rt run build:x"]);
  expect(await listed("--filter", "*")).toEqual([
    "rt run --filter 'web app' 'a b'",
    "rt run --filter 'web app' -- -x",
    "rt run --filter 'web app' build:x",
  ]);
});

test("a report that could not be written at the end fails the run", () =>
  expectRt({
    files: { "package.json": { scripts: { t: "mkdir report.json" } } },
    args: ["run", "--silent", "--report", "report.json", "--parallel", "t"],
    stderr: /^t +\| Done in [\d.]+ m?s\nerror: Cannot write the report .*\/report.json: it is a directory\n$/,
    status: 1,
  }));

test("a report leaves a pipe, standard output or a link in place", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "true" } }, "old.json": "" });
  const script = `mkfifo pipe; ln -s old.json link
    for file in pipe link /dev/stdout; do
      [ $file = pipe ] && cat pipe &
      "$0" run --silent --parallel --report $file t 2>&1 | grep version; wait
    done
    [ -p pipe ] && [ -L link ] && grep version old.json`;
  const { stdout } = await runRt({ program: ["sh", "-c", script, RT], cwd: project.path });
  expect(stdout.match(/"version": 1/g)).toHaveLength(3);
});

test("a report to standard output is appended when it is a file", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "echo out" } } });
  const script =
    '"$0" run --parallel --report /dev/stdout t >all; "$0" run --parallel --report /dev/fd/3 t 3>>all >&3';
  await runRt({ program: ["sh", "-c", script, RT], cwd: project.path });
  const text = await Bun.file(project.join("all")).text();
  expect(text).toMatch(/^t \| out\n\{[^]*^\}\n/m);
  expect(text.match(/t \| out|"version": 1/g)).toHaveLength(4);
});

test("a report to standard output follows all output when it is a pipe", async () => {
  const files = { "package.json": { scripts: { t: "seq 200000" } } };
  await using project = await createProject(files);
  const words = ["run", "--parallel", "--report", "/dev/stdout", "t"];
  const { stdout } = await runRt({ args: words, cwd: project.path });
  const end = stdout.indexOf("t | 200000\n");
  expect(end).toBeGreaterThan(0);
  expect(stdout.indexOf("{")).toBeGreaterThan(end);
});

test("a report through a dangling link creates the link's target", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "true" } } });
  const script =
    'ln -s new.json link; "$0" run --silent --parallel --report link t; [ -L link ] && cat new.json';
  const { stdout } = await runRt({ program: ["sh", "-c", script, RT], cwd: project.path });
  expect(stdout).toContain('"version": 1');
});

for (const [path, code] of [
  ["package.json/report.json", "ENOTDIR"],
  ["loop", "ELOOP"],
] as const)
  test(`no script starts when the report cannot be written: ${code}`, async () => {
    await using project = await createProject({ "package.json": { scripts: { t: "echo ran" } } });
    await symlink("loop", project.join("loop"));
    const run = await runRt({ args: ["run", "--parallel", "--report", path, "t"], cwd: project.path });
    expect(run).toMatchObject({ stdout: "", status: 1 });
    expect(run.stderr).toMatch(new RegExp(`^error: Cannot write the report .*${path}: ${code}\nhint: .*\n$`));
  });

test("a report contains the last result of a task that ran twice", async () => {
  let text = "";
  const reporter = createJsonReporter({ write: async (given) => ((text = given), true) });
  const [first, other] = ["a", "b"].map(
    (scriptName, index) =>
      ({ index, packageName: "", packageDirectory: "/", scriptName, steps: [] }) as unknown as ScriptTask,
  );
  const step = { scriptName: "a", command: "", isMain: true };
  for (const [task, outcome] of [
    [first, { kind: "failure", code: 3, step }],
    [other, { kind: "success" }],
    [first, { kind: "success" }],
  ] as const)
    void reporter.report({ type: "task-end", task: task!, outcome, at: 2, duration: 1 });
  await reporter.finish();
  const { tasks } = JSON.parse(text) as { tasks: { script: string; outcome: string }[] };
  expect(tasks.map(({ script, outcome }) => [script, outcome])).toEqual([
    ["b", "success"],
    ["a", "success"],
  ]);
});

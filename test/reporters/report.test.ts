// What a run of many would do, did, and offers: `--dry-run`, `--report` and lists.
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

  test("prints the plan", () =>
    expectRt({
      files,
      args: ["run", "--dry-run", "--filter", "*", "t", "x y"],
      stdout:
        "a t\n  $ echo a 'x y'\nb t (after a t)\n  $ true\n  $ exit 2 'x y'\nc t (after b t)\n  $ true 'x y'\n\n3 scripts would run\n",
    }));

  test("prints the plan as JSON", async () => {
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

  test("writes what happened", async () => {
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
    const told = report.tasks.map(({ package: name, outcome, exitCode, because, steps }) => ({
      name,
      outcome,
      exitCode,
      because,
      steps: (steps as { script: string; exitCode: number }[]).map(({ script, exitCode }) => [
        script,
        exitCode,
      ]),
    }));
    // In the order in which they ended: what is skipped ends with what it waited for, before that is told.
    expect(told).toEqual([
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

test("what a signal has ended has no exit code in a report, and a package without a name is null", async () => {
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

test("lists show each script as it can be typed", async () => {
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

test("a report that could not be written after all is a failure of the run", () =>
  expectRt({
    files: { "package.json": { scripts: { t: "mkdir report.json" } } },
    args: ["run", "--silent", "--report", "report.json", "--parallel", "t"],
    stderr: /^t +\| Done in [\d.]+ m?s\nerror: Cannot write the report .*\/report.json: it is a directory\n$/,
    status: 1,
  }));

test("what is no file stays what it is: a pipe, standard output, a link", async () => {
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

test("where standard output is a file, the report follows what is in it", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "echo out" } } });
  const script =
    '"$0" run --parallel --report /dev/stdout t >all; "$0" run --parallel --report /dev/fd/3 t 3>>all >&3';
  await runRt({ program: ["sh", "-c", script, RT], cwd: project.path });
  const text = await Bun.file(project.join("all")).text();
  expect(text).toMatch(/^t \| out\n\{[^]*^\}\n/m);
  expect(text.match(/t \| out|"version": 1/g)).toHaveLength(4);
});

test("where standard output is a pipe, the report comes behind all that was written", async () => {
  const files = { "package.json": { scripts: { t: "seq 200000" } } };
  await using project = await createProject(files);
  const words = ["run", "--parallel", "--report", "/dev/stdout", "t"];
  const { stdout } = await runRt({ args: words, cwd: project.path });
  const end = stdout.indexOf("t | 200000\n");
  expect(end).toBeGreaterThan(0);
  expect(stdout.indexOf("{")).toBeGreaterThan(end);
});

test("a link whose file is not there yet stays a link", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "true" } } });
  const script =
    'ln -s new.json link; "$0" run --silent --parallel --report link t; [ -L link ] && cat new.json';
  const { stdout } = await runRt({ program: ["sh", "-c", script, RT], cwd: project.path });
  expect(stdout).toContain('"version": 1');
});

for (const [place, code] of [
  ["package.json/report.json", "ENOTDIR"],
  ["loop", "ELOOP"],
] as const)
  test(`where no report can be written, nothing runs: ${code}`, async () => {
    await using project = await createProject({ "package.json": { scripts: { t: "echo ran" } } });
    await symlink("loop", project.join("loop"));
    const run = await runRt({ args: ["run", "--parallel", "--report", place, "t"], cwd: project.path });
    expect(run).toMatchObject({ stdout: "", status: 1 });
    expect(run.stderr).toMatch(
      new RegExp(`^error: Cannot write the report .*${place}: ${code}\nhint: .*\n$`),
    );
  });

test("of a task that has run again in a run the last time is told", async () => {
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

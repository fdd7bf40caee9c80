import { describe, expect, test } from "bun:test";
import { createProject, type Files } from "../support/project.ts";
import { expectRt, RT, runRt } from "../support/rt.ts";

const SUMMARY = /^\n\d+ scripts in .*\n(.*\n)*$/;

function workspace(packages: Record<string, object>, root: object = {}): Files {
  const files: Files = { "package.json": { name: "root", workspaces: ["packages/*"], ...root } };
  for (const [name, manifest] of Object.entries(packages))
    files[`packages/${name}/package.json`] = { name, ...manifest };
  return files;
}

const scripts = (t: string) => ({ scripts: { t } });

describe("rt run --filter", () => {
  test("prefixes every line with package and script", () =>
    expectRt({
      files: workspace({ a: scripts("echo one; echo two >&2; printf three") }),
      args: ["run", "--filter", "a", "t"],
      stdout: "a t: one\na t: two\na t: three\na t: Exited with code 0\n",
    }));

  test("runs hooks around the script under their own names", () =>
    expectRt({
      files: workspace({ a: { scripts: { pret: "echo 1", t: "echo 2", postt: "echo 3" } } }),
      args: ["run", "--filter", "a", "t"],
      stdout:
        "a pret: 1\na pret: Exited with code 0\na t: 2\na t: Exited with code 0\na postt: 3\na postt: Exited with code 0\n",
    }));

  test("stops a package at a failing hook", () =>
    expectRt({
      files: workspace({ a: { scripts: { pret: "exit 5", t: "echo never" } } }),
      args: ["run", "--filter", "a", "t"],
      stdout: "a pret: Exited with code 5\n",
      status: 5,
    }));

  test("passes arguments to the script and not to its hooks", () =>
    expectRt({
      files: workspace({ a: { scripts: { pret: "echo", t: "echo" } } }),
      args: ["run", "--filter", "a", "t", "x", "y"],
      stdout: "a pret: \na pret: Exited with code 0\na t: x y\na t: Exited with code 0\n",
    }));

  test("waits for nobody where a package.json is a pipe", async () => {
    await using project = await createProject(workspace({ a: scripts("echo") }));
    await project.write({ "packages/b/x": "" });
    const file = project.join("packages/b/package.json");
    Bun.spawnSync(["mkfifo", file]);
    const { stderr, status } = await runRt({ args: ["run", "--filter", "a", "t"], cwd: project.path });
    expect(stderr).toBe(`error: Cannot read ${file}:1:1: expected a value, found the end of the file\n`);
    expect(status).toBe(1);
  });

  test("loads no module of the engine, as each would cost more than the packages", async () => {
    await using project = await createProject(
      workspace({ a: scripts("sleep 0"), b: scripts("echo b; pwd") }),
    );
    const { stdout, stderr } = await runRt({
      args: ["run", "--filter", "*", "t"],
      cwd: project.path,
      env: { BUN_JSC_dumpGeneratedBytecodes: "1" },
    });
    const functions = (stdout + stderr).matchAll(/^(\S*)#\w+:\[/gm);
    const names = [...functions].map(([, name]) => name!);
    expect(names.filter((name) => name.includes("chunk-")).length).toBeGreaterThan(2);
    expect(names.filter((name) => name.includes(":"))).toEqual([]);
  });

  test.if(process.platform === "linux")("is found from a directory whose name is no text", async () => {
    await using project = await createProject(workspace({ a: scripts("echo") }));
    const place = `packages/$(printf 'b\\377')`;
    const command = `mkdir "${place}" && cd "${place}" && exec ${RT} run --filter a t`;
    const { stdout, stderr, exitCode } = Bun.spawnSync(["sh", "-c", command], { cwd: project.path });
    expect({ stdout: stdout.toString(), stderr: stderr.toString(), exitCode }).toEqual({
      stdout: "a t: \na t: Exited with code 0\n",
      stderr: "",
      exitCode: 0,
    });
  });

  test("starts packages after what they depend on, also through packages without the script", () =>
    expectRt({
      files: workspace({
        app: { ...scripts("echo app"), dependencies: { middle: "workspace:*" } },
        middle: { peerDependencies: { alias: "1" }, devDependencies: { zebra: "workspace:*" } },
        zebra: { ...scripts("echo zebra"), optionalDependencies: { beta: "npm:alpha@1" } },
        alpha: scripts("echo alpha"),
      }),
      args: ["run", "--filter", "*", "t"],
      stdout:
        "alpha t: alpha\nalpha t: Exited with code 0\nzebra t: zebra\nzebra t: Exited with code 0\napp t: app\napp t: Exited with code 0\n",
      stderr: SUMMARY,
    }));

  test("skips what depends on a failure and says so, runs the rest, and exits with the failure's code", async () => {
    const files = workspace({
      a: scripts("exit 3"),
      b: { ...scripts("echo never"), dependencies: { a: "*" } },
      c: { ...scripts("echo never"), dependencies: { b: "*" } },
      d: scripts("echo d"),
    });
    await using project = await createProject(files);
    const result = await runRt({ args: ["run", "--filter", "*", "t"], cwd: project.path });
    expect(result.stdout.split("\n").filter(Boolean).sort()).toEqual([
      "a t: Exited with code 3",
      "b t: Skipped because a t did not succeed",
      "c t: Skipped because a t did not succeed",
      "d t: Exited with code 0",
      "d t: d",
    ]);
    expect(result.stderr).toMatch(
      /4 scripts in .*: 1 succeeded, 1 failed, 2 skipped\nFailed: {2}a t \(Exited with code 3\)\n/,
    );
    expect(result.status).toBe(3);
  });

  test("runs dependents of a failure all the same with --no-exit-on-error", () =>
    expectRt({
      files: workspace({ a: scripts("exit 3"), b: { ...scripts("echo b"), dependencies: { a: "*" } } }),
      args: ["run", "--no-exit-on-error", "--filter", "*", "t"],
      stdout: "a t: Exited with code 3\nb t: b\nb t: Exited with code 0\n",
      stderr: SUMMARY,
      status: 3,
    }));

  test("reports a cycle and runs it", () =>
    expectRt({
      files: workspace({
        a: { ...scripts("echo a"), dependencies: { b: "*" } },
        b: { ...scripts("echo b"), dependencies: { a: "*" } },
      }),
      args: ["run", "--silent", "--filter", "*", "t"],
      stdout: "b t: b\nb t: Exited with code 0\na t: a\na t: Exited with code 0\n",
      stderr: "warn: These packages depend on each other in a circle: a -> b -> a\n",
    }));

  test("re-raises the signal that ended a script", () =>
    expectRt({
      files: workspace({ a: scripts("kill -KILL $$") }),
      args: ["run", "--filter", "a", "t"],
      stdout: "a t: Signaled with code SIGKILL\n",
      status: "SIGKILL",
    }));

  test.each<[string, Files, string[], string]>([
    [
      "a filter that matches nothing",
      workspace({ web: scripts("true") }),
      ["--filter", "wbe", "t"],
      'error: No workspace packages matched the filter "wbe"\nhint: Did you mean "web"?\n',
    ],
    [
      "an unknown script",
      workspace({ a: { scripts: { build: "true" } } }),
      ["--filter", "a", "biuld"],
      'error: Script "biuld" not found in package "a" matching "a"\nhint: Did you mean "build"?\n',
    ],
    [
      "a script that is no string",
      workspace({ a: { scripts: { t: ["x"] } } }),
      ["--filter", "a", "t"],
      'error: Script "t" in package "a" matching "a" is not a string\nhint: Write the command as a string\n',
    ],
    [
      "a package without the script with --workspaces",
      workspace({ a: scripts("true"), b: {} }),
      ["--workspaces", "t"],
      'error: Script "t" not found in package "b"\nhint: Pass --if-present to leave such packages out\n',
    ],
    [
      "two packages of one name",
      workspace({ a: { name: "x" }, b: { name: "x" } }),
      ["--workspaces", "t"],
      'error: Two packages are named "x": packages/a and packages/b\nhint: Rename one of them\n',
    ],
    [
      "a member that cannot be read",
      { ...workspace({ a: scripts("true") }), "packages/b/package.json": '{\n "x" 1 }' },
      ["--workspaces", "t"],
      'error: Cannot read $PROJECT/packages/b/package.json:2:6: expected : after the member name "x", found 1\n',
    ],
    [
      "a filter that is a path without ./",
      workspace({ web: scripts("true") }),
      ["--filter", "packages/web", "t"],
      'error: No workspace packages matched the filter "packages/web"\nhint: A path begins with ./, as in ./packages/web\n',
    ],
    [
      "a filter by commit",
      workspace({ web: scripts("true") }),
      ["--filter", "[main]", "t"],
      'error: No workspace packages matched the filter "[main]"\nhint: Packages changed since a commit are meant by --affected=main\n',
    ],
    [
      "filters that exclude what they include",
      workspace({ web: scripts("true") }),
      ["--filter", "web", "--filter", "!web", "t"],
      'error: No workspace packages are left by the filters "web", "!web"\n',
    ],
    [
      "an unknown script that resembles none",
      { "package.json": { scripts: { "": "true", x: "true" } } },
      ["--parallel", "t"],
      'error: Script "t" not found\nhint: `rt run` lists the scripts\n',
    ],
    [
      "an option behind the first of several scripts",
      { "package.json": { scripts: { t: "true" } } },
      ["--parallel", "t", "--silent"],
      'error: Script "--silent" not found\nhint: Options stand in front of the first script\n',
    ],
    [
      "a report that cannot be written, before anything runs",
      { "package.json": { scripts: { t: "touch ran" } } },
      ["--report", "nowhere/report.json", "--parallel", "t"],
      "error: Cannot write the report $PROJECT/nowhere/report.json: ENOENT\nhint: --report needs a directory that can be written to\n",
    ],
    [
      "a plan in a format that there is not",
      workspace({ web: scripts("true") }),
      ["--dry-run=xml", "--filter", "*", "t"],
      'error: --dry-run cannot be "xml"\nhint: use one of: json\n',
    ],
    [
      "modes that exclude each other",
      workspace({ web: scripts("true") }),
      ["--parallel", "--sequential", "t"],
      "error: --parallel and --sequential exclude each other\nhint: give one of them\n",
    ],
    [
      "a run of nothing at a time",
      workspace({ web: scripts("true") }),
      ["--concurrency", "0", "--filter", "*", "t"],
      'error: --concurrency needs a whole number from 1 up, not "0"\nhint: leave it out for the default\n',
    ],
  ])("explains %s", (_, files, args, stderr) =>
    expectRt({ files, args: ["run", ...args], stderr, status: 1 }),
  );

  test("leaves packages out with --if-present", () =>
    expectRt({ files: workspace({ a: {} }), args: ["run", "--if-present", "--filter", "a", "t"] }));

  test("goes on without a member that is listed and not there", () =>
    expectRt({
      files: workspace({ a: scripts("echo a") }, { workspaces: ["packages/*", "packages/gone"] }),
      args: ["run", "--silent", "--filter", "a", "t"],
      stdout: "a t: a\na t: Exited with code 0\n",
      stderr:
        "warn: Cannot read $PROJECT/packages/gone/package.json: the workspace lists it, but it is not there\n",
    }));

  test("runs the readable members with --no-exit-on-error, but does not succeed", () =>
    expectRt({
      files: { ...workspace({ a: scripts("echo a") }), "packages/b/package.json": "{" },
      args: ["run", "--no-exit-on-error", "--workspaces", "t"],
      stdout: "a t: a\na t: Exited with code 0\n",
      stderr:
        /^warn: Cannot read .*packages\/b\/package.json:1:2: expected a member name or }, found the end of the file\n$/,
      status: 1,
    }));

  test("passes standard input to the only match", () =>
    expectRt({
      files: workspace({ a: scripts("cat") }),
      args: ["run", "--filter", "a", "t"],
      stdin: "hello",
      stdout: "a t: hello\na t: Exited with code 0\n",
    }));

  test("never runs more at once than --concurrency allows, and each package in its directory", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `p${index}`);
    const files = workspace(
      Object.fromEntries(
        names.map((name) => [
          name,
          scripts("bash -c 'ls ../../running | wc -l; touch ../../running/$$; pwd; rm ../../running/$$'"),
        ]),
      ),
    );
    await using project = await createProject({ ...files, "running/.keep": "" });
    const { stdout, status } = await runRt({
      args: ["run", "--concurrency", "1", "--filter", "*", "t"],
      cwd: project.path,
    });
    const expected = names.map(
      (name) => `${name} t: 0\n${name} t: ${project.join("packages", name)}\n${name} t: Exited with code 0\n`,
    );
    expect({ stdout, status }).toEqual({ stdout: expected.join(""), status: 0 });
  });

  test("does not run out of descriptors with 300 packages at once", async () => {
    const names = Array.from({ length: 300 }, (_, index) => `p${index}`);
    await using project = await createProject(
      workspace(Object.fromEntries(names.map((name) => [name, scripts("sleep 0.01; echo x")]))),
    );
    const program = ["bash", "-c", `ulimit -n 256; exec ${RT} run --parallel --silent --filter '*' t`];
    const { stdout, status } = await runRt({ program, cwd: project.path });
    expect(status).toBe(0);
    expect(stdout.split("\n").filter((line) => line.endsWith("| x")).length).toBe(300);
  }, 30_000);
});

test("rt run --filter without a script lists what the packages offer", () =>
  expectRt({
    files: workspace({ a: { scripts: { t: "echo a", u: "echo u" } }, b: {} }),
    args: ["run", "--workspaces"],
    stdout:
      "a scripts (2 found):\n  $ rt run --filter a t\n    echo a\n  $ rt run --filter a u\n    echo u\n\nb scripts (0 found):\n",
  }));

test("a script that calls itself through the workspace is stopped and named", async () => {
  const { RT } = await import("../support/rt.ts");
  await using project = await createProject(workspace({ a: scripts(`${RT} run --filter a t`) }));
  const { stdout, status } = await runRt({ args: ["run", "--filter", "a", "t"], cwd: project.path });
  expect(stdout).toContain('The script "t" calls itself without end: t -> t');
  expect(status).toBe(1);
});

describe("rt run --parallel and --sequential", () => {
  const files: Files = {
    "package.json": {
      scripts: {
        one: "echo 1; echo e >&2",
        two: "echo 2",
        "b:y": "echo y",
        "b:x": "echo x",
        fail: "exit 7",
        slow: "echo up; sleep 1000",
      },
    },
  };
  const done = / \| Done in [\d.]+ m?s\n/;

  test("labels lines, aligned, and leaves errors on standard error", () =>
    expectRt({
      files,
      args: ["run", "--sequential", "--silent", "one", "b:*"],
      stdout: "one | 1\nb:x | x\nb:y | y\n",
      stderr: new RegExp(`^one \\| e\none${done.source}b:x${done.source}b:y${done.source}$`),
    }));

  test("starts everything at once", async () => {
    await using project = await createProject({
      "package.json": { scripts: { a: "read line < pipe; echo $line", b: "echo from b > pipe" } },
    });
    await Bun.$`mkfifo ${project.join("pipe")}`;
    const { stdout, status } = await runRt({
      args: ["run", "--parallel", "--concurrency", "2", "a", "b"],
      cwd: project.path,
    });
    expect({ stdout, status }).toEqual({ stdout: "a | from b\n", status: 0 });
  });

  test("stops the others at a failure and exits with its code", () =>
    expectRt({
      files: {
        "package.json": {
          scripts: { fail: "until [ -e up ]; do :; done; exit 7", slow: "touch up; sleep 1000" },
        },
      },
      args: ["run", "--parallel", "--silent", "slow", "fail"],
      stderr: "fail | Exited with code 7\nslow | Signaled: SIGTERM\n",
      status: 7,
    }));

  test("does not start the next one after a failure, unless told to keep going", async () => {
    await expectRt({
      files,
      args: ["run", "--sequential", "--silent", "fail", "two"],
      stderr: "fail | Exited with code 7\ntwo  | Not started\n",
      status: 7,
    });
    await expectRt({
      files,
      args: ["run", "--sequential", "--silent", "--no-exit-on-error", "fail", "two"],
      stdout: "two  | 2\n",
      stderr: /^fail \| Exited with code 7\ntwo {2}\| Done in [\d.]+ m?s\n$/,
      status: 7,
    });
  });

  test("explains an unknown script", () =>
    expectRt({
      files,
      args: ["run", "--parallel", "one", "tow"],
      stderr: 'error: Script "tow" not found\nhint: Did you mean "two"?\n',
      status: 1,
    }));

  test("names package and script in a workspace, dependencies first", () =>
    expectRt({
      files: workspace({ a: { ...scripts("echo a"), dependencies: { bb: "*" } }, bb: scripts("echo b") }),
      args: ["run", "--sequential", "--silent", "--workspaces", "t"],
      stdout: "bb:t | b\na:t  | a\n",
      stderr: /^bb:t \| Done in [\d.]+ m?s\na:t {2}\| Done in [\d.]+ m?s\n$/,
    }));

  test("colours labels when told to", () =>
    expectRt({
      files,
      args: ["run", "--sequential", "--silent", "two"],
      env: { FORCE_COLOR: "1" },
      stdout: "\x1b[36mtwo\x1b[0m | 2\n",
      stderr: /Done in/,
    }));
});

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
    expect(
      report.tasks.map(({ package: name, outcome, exitCode, because, steps }) => ({
        name,
        outcome,
        exitCode,
        because,
        steps: (steps as { script: string; exitCode: number }[]).map(({ script, exitCode }) => [
          script,
          exitCode,
        ]),
      })),
    ).toEqual(
      [
        { name: "a", outcome: "success", exitCode: 0, because: undefined, steps: [["t", 0]] },
        { name: "c", outcome: "skipped", exitCode: undefined, because: "b t", steps: [] },
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
      ].sort(
        (a, b) =>
          report.tasks.findIndex((task) => task.package === a.name) -
          report.tasks.findIndex((task) => task.package === b.name),
      ),
    );
  });
});

test("a number of scripts at a time that the environment gives and is none", () =>
  expectRt({
    files: { "package.json": { scripts: { t: "true" } } },
    args: ["run", "--parallel", "t"],
    env: { RT_CONCURRENCY: "many" },
    stderr:
      'error: RT_CONCURRENCY needs a whole number from 1 up, not "many"\nhint: leave it out for the default\n',
    status: 1,
  }));

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
    stderr: /^t +\| Done in [\d.]+ m?s\nerror: Cannot write the report .*\/report.json: EISDIR\n$/,
    status: 1,
  }));

test.skipIf(process.platform !== "linux")(
  "output that finds no room is an error, not a reader that left",
  () =>
    expectRt({
      files: { "package.json": { scripts: { t: "echo x; sleep 1001" } } },
      program: ["bash", "-c", `exec ${RT} run --parallel t > /dev/full`],
      stderr: /^(.*\n)*error: Cannot write to standard output: ENOSPC\n(.*\n)*$/,
      status: 1,
    }),
);

test("a command that is too long for the system is one failure like any other", () =>
  expectRt({
    files: workspace({ a: scripts(`true ${"x".repeat(200_000)};`), b: scripts("echo b") }),
    args: ["run", "--silent", "--concurrency", "1", "--workspaces", "t"],
    stdout:
      "a t: Cannot start: the command and its environment are too long for this system\nb t: b\nb t: Exited with code 0\n",
    status: 126,
  }));

test.each(["run t", "run --filter * t", "t.ts", "run"])(
  "a current directory that is gone is told in one line: rt %s",
  async (words) => {
    await using project = await createProject({ "gone/t.ts": "" });
    const program = ["bash", "-c", 'cd gone && rm -r ../gone && exec "$0" "$@"', RT];
    expect(await runRt({ program, args: words.split(" "), cwd: project.path })).toEqual({
      stdout: "",
      stderr: "error: The current directory is not there any more\nhint: go to another one, or give --cwd\n",
      status: 1,
    });
  },
);

describe("rt run --affected", () => {
  const git = (cwd: string, ...args: string[]) =>
    Bun.$`git -c user.name=t -c user.email=t@example.org ${args}`.cwd(cwd).quiet();

  test("selects what has changed since a commit and what depends on it", async () => {
    await using project = await createProject(
      workspace({
        core: scripts("echo core"),
        ui: { ...scripts("echo ui"), dependencies: { core: "*" } },
        other: scripts("echo other"),
      }),
    );
    await git(project.path, "init", "-q", "-b", "main");
    await git(project.path, "add", ".");
    await git(project.path, "commit", "-qm", "first");
    const run = async (...args: string[]) => {
      const { stdout, stderr, status } = await runRt({
        args: ["run", "--dry-run", ...args, "t"],
        cwd: project.path,
      });
      return status === 0
        ? stdout
            .split("\n")
            .filter((line) => / t( |$)/.test(line))
            .map((line) => line.split(" ")[0])
        : stderr;
    };
    expect(await run("--affected=main")).toEqual([]);
    await project.write({ "packages/core/new file.txt": "x" });
    expect(await run("--affected")).toEqual(["core", "ui"]);
    expect(await run("--affected", "--filter", "!ui")).toEqual(["core"]);
    await git(project.path, "checkout", "-qb", "topic");
    await git(project.path, "add", ".");
    await git(project.path, "commit", "-qm", "second");
    expect(await run("--affected=main")).toEqual(["core", "ui"]);
    await project.write({ "README.md": "x" });
    expect(await run("--affected=HEAD")).toEqual([]);
    await project.write({ "bun.lock": "x" });
    expect(await run("--affected=HEAD")).toEqual(["core", "other", "ui"]);
    expect(await run("--affected=nowhere")).toBe(
      'error: Git knows no commit "nowhere"\nhint: Fetch it, or name another one: --affected=REF\n',
    );
  });
});

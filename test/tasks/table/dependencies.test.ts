// `depends-on` of [tasks]: which tasks a run contains, and in which order.
import { describe, expect, test } from "bun:test";
import { createProject, type Files } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { packageWith, workspace } from "../../support/workspace.ts";

const echo = (...names: string[]) => Object.fromEntries(names.map((name) => [name, `echo ${name}`]));

/** web depends on ui, which has no build, and ui on core. */
const SHOP = workspace(
  {
    web: { dependencies: { ui: "*" }, scripts: echo("build", "test", "deploy") },
    ui: { dependencies: { core: "*" }, scripts: echo("test") },
    core: { scripts: echo("build", "test") },
  },
  { scripts: echo("lint") },
);
const config = (...rows: string[]) => ({ "rtfig.toml": `${rows.join("\n")}\n` });

/** Plans a run. Returns the tasks in order, each with those that it waits for. */
async function plan(files: Files, args: readonly string[], folder = "") {
  await using project = await createProject(files);
  const result = await runRt({ args: ["run", "--dry-run=json", ...args], cwd: project.join(folder) });
  if (result.status !== 0) return { error: result.stderr, status: result.status };
  const { tasks, warnings } = JSON.parse(result.stdout) as {
    tasks: { label: string; waitsFor: string[]; args: string[] }[];
    warnings: string[];
  };
  return {
    tasks: tasks.map(({ label, waitsFor }) =>
      waitsFor.length > 0 ? `${label} after ${waitsFor.join(", ")}` : label,
    ),
    ...(warnings.length > 0 && { warnings }),
    ...(tasks.some((task) => task.args.length > 0) && {
      args: Object.fromEntries(tasks.map((task) => [task.label, task.args])),
    }),
  };
}

async function run(files: Files, args: readonly string[], folder = "") {
  await using project = await createProject(files);
  return await runRt({ args: ["run", ...args], cwd: project.join(folder) });
}

describe("depends-on", () => {
  const BUILD = '[tasks.build]\ndepends-on = ["^build"]';

  test("rt runs what a task depends on before it, when one script is started in its package", async () => {
    const files = { ...SHOP, ...config(BUILD, "[tasks.test]", 'depends-on = ["build"]') };
    const { stdout, status } = await run(files, ["test"], "packages/web");
    expect({ stdout, status }).toEqual({
      stdout:
        "core build: build\ncore build: Exited with code 0\nweb build: build\nweb build: Exited with code 0\n" +
        "web test: test\nweb test: Exited with code 0\n",
      status: 0,
    });
  });

  test("a task that several entries of depends-on name is one dependency", async () => {
    const rows = ["[tasks.deploy]", 'depends-on = ["build", "web#build", "//#lint", "root#lint"]'];
    expect(await plan({ ...SHOP, ...config(...rows) }, ["deploy"], "packages/web")).toMatchObject({
      tasks: expect.arrayContaining(["web deploy after root lint, web build"]) as unknown,
    });
  });

  test("depends-on names tasks of the same package, of one package, and of the packages that a package depends on", async () => {
    const rows = [
      "[tasks.test]",
      'depends-on = ["build", "root#lint"]',
      '[tasks."web#build"]',
      'depends-on = ["^test"]',
    ];
    expect(await plan({ ...SHOP, ...config(...rows) }, ["--filter=web", "test"])).toEqual({
      tasks: [
        "root lint",
        "ui test after root lint",
        "web build after ui test",
        "web test after root lint, web build",
      ],
    });
  });

  test("^ continues through packages without the task, and through their depends-on", async () => {
    expect(await plan({ ...SHOP, ...config(BUILD) }, ["--filter=web", "build"])).toEqual({
      tasks: ["core build", "web build after core build"],
    });
    const own = [BUILD, "[tasks.test]", 'depends-on = ["build"]'];
    expect(await plan({ ...SHOP, ...config(...own) }, ["--filter=ui", "test"])).toEqual({
      tasks: ["core build", "ui test after core build"],
    });
  });

  test("depends-on skips a package without the task, if another package or [tasks] has it", async () => {
    const rows = ["[tasks.test]", 'depends-on = ["deploy", "^deploy", "generate"]', "[tasks.generate]"];
    expect(await plan({ ...SHOP, ...config(...rows) }, ["--filter=core", "test"])).toEqual({
      tasks: ["core test"],
      warnings: ['[tasks]: no package has a script "generate"'],
    });
  });

  test("rt runs a task once that several tasks depend on", async () => {
    const rows = [BUILD, "[tasks.test]", 'depends-on = ["build", "core#build"]'];
    const { stdout } = await run({ ...SHOP, ...config(...rows) }, ["--filter=*", "test"]);
    expect(stdout.match(/core build: build/g)).toHaveLength(1);
  });

  test("rt keeps hooks around each task", async () => {
    const scripts = { prebuild: "echo pre", build: "echo main", postbuild: "echo post", test: "echo test" };
    const files = { ...packageWith(scripts), ...config("[tasks.test]", 'depends-on = ["build"]') };
    expect((await run(files, ["test"])).stdout).toBe(
      "prebuild: pre\nprebuild: Exited with code 0\nbuild: main\nbuild: Exited with code 0\n" +
        "postbuild: post\npostbuild: Exited with code 0\ntest: test\ntest: Exited with code 0\n",
    );
  });

  test("depends-on holds with --parallel and --sequential, in one package and in many", async () => {
    const files = { ...SHOP, ...config(BUILD, "[tasks.test]", 'depends-on = ["build"]') };
    for (const mode of ["--parallel", "--sequential"]) {
      expect(await plan(files, [mode, "--filter=web", "test"])).toEqual({
        tasks: ["core:build", "web:build after core:build", "web:test after web:build"],
      });
      expect(await plan(files, [mode, "test"], "packages/core")).toEqual({
        tasks: ["build", "test after build"],
      });
    }
  });

  test("rt skips dependents of a task that fails, and exits with its code", async () => {
    const scripts = { build: "exit 7", test: "echo never" };
    const files = { ...packageWith(scripts), ...config("[tasks.test]", 'depends-on = ["build"]') };
    const { stdout, status } = await run(files, ["test"]);
    expect({ stdout, status }).toEqual({
      stdout: "build: Exited with code 7\ntest: Skipped because build did not succeed\n",
      status: 7,
    });
  });

  test("rt passes arguments to the requested task only", async () => {
    const files = { ...SHOP, ...config(BUILD, "[tasks.test]", 'depends-on = ["build"]') };
    expect(await plan(files, ["test", "x"], "packages/core")).toEqual({
      tasks: ["build", "test after build"],
      args: { build: [], test: ["x"] },
    });
  });

  test("rt passes no arguments to a dependency when two words name the same task", async () => {
    const files = { ...SHOP, ...config("[tasks.build]", 'depends-on = ["test"]') };
    expect(await plan(files, ["--filter=web", "build", "web#build", "--", "x"])).toEqual({
      tasks: ["web test", "web build after web test"],
      args: { "web test": [], "web build": ["x"] },
    });
  });

  test("RT_DEBUG=times prints when the command line was read and when the plan was finished", async () => {
    await using project = await createProject({ ...SHOP, ...config(BUILD) });
    const args = ["run", "--filter=web", "--dry-run", "build"];
    const { stderr } = await runRt({ args, cwd: project.path, env: { RT_DEBUG: "times" } });
    expect(stderr.replaceAll(/[\d.]+/g, "N")).toBe("command line: N ms\nplan: N ms\n");
  });

  test("depends-on is part of a plan with one of several shards, and of its graphs", async () => {
    const files = { ...SHOP, ...config(BUILD, "[tasks.test]", 'depends-on = ["build"]') };
    await using project = await createProject(files);
    const dryRun = async (...args: string[]) =>
      (await runRt({ args: ["run", "--filter=web", ...args, "test"], cwd: project.path })).stdout;
    expect(await dryRun("--shard=1/2", "--dry-run")).toContain("web build (after core build)");
    const graph = await dryRun("--dry-run=mermaid");
    expect(graph).toContain("t0 --> t1");
    expect(graph).toContain("because web#35;test depends on it");
  });
});

describe("the order of packages", () => {
  test("the order of packages stays for tasks without depends-on", async () => {
    const files = { ...SHOP, ...config("[tasks.lint]", 'description = "x"') };
    expect(await plan(files, ["--workspaces", "test"])).toEqual({
      tasks: ["core test", "ui test after core test", "web test after ui test"],
    });
  });

  test("the order of packages does not hold for tasks with depends-on", async () => {
    const files = { ...SHOP, ...config("[tasks.test]", "depends-on = []") };
    expect(await plan(files, ["--workspaces", "test"])).toEqual({
      tasks: ["core test", "ui test", "web test"],
    });
  });

  test("the order of packages yields where depends-on requires the opposite", async () => {
    const files = { ...SHOP, ...config('[tasks."core#test"]', 'depends-on = ["web#test"]') };
    expect(await plan(files, ["--workspaces", "test"])).toEqual({
      tasks: ["ui test", "web test after ui test", "core test after web test"],
    });
  });
});

describe("several words", () => {
  test("several words are tasks if each is one, up to --", async () => {
    const files = { ...SHOP, ...config("[tasks.test]", 'depends-on = ["build"]') };
    expect(await plan(files, ["build", "test", "--", "x"], "packages/web")).toEqual({
      tasks: ["build", "test after build"],
      args: { build: ["x"], test: ["x"] },
    });
    expect(await plan(files, ["--filter=*", "deploy", "test"])).toMatchObject({
      tasks: [
        "core build",
        "core test after core build",
        "ui test",
        "web deploy",
        "web build after core build",
        "web test after web build",
      ],
    });
  });

  test("several words are arguments if one is not a task, with one warning about a word that is", async () => {
    const files = { ...SHOP, ...config("[tasks.lint]", 'description = "x"') };
    const { stdout, stderr } = await run(files, ["deploy", "x", "build", "test"], "packages/web");
    expect(stdout).toBe("deploy x build test\n");
    expect(stderr).toBe(
      'warning: "build" is an argument of "deploy" here, but also a task; put -- before arguments, and tasks before it\n' +
        "$ echo deploy x build test\n",
    );
  });

  test("words are arguments after --, and options of rt behind the task are one warning", async () => {
    const files = { ...SHOP, ...config("[tasks.lint]", 'description = "x"') };
    const separated = await run(files, ["build", "--", "test", "--filter=x"], "packages/web");
    expect([separated.stdout, separated.stderr]).toEqual([
      "build test --filter=x\n",
      "$ echo build test --filter=x\n",
    ]);
    const { stdout, stderr } = await run(files, ["build", "--filter", "web"], "packages/web");
    expect(stdout).toBe("build --filter web\n");
    expect(stderr).toBe(
      'warning: "--filter" is an argument of "build" here; write options of rt before the task, or put -- before arguments\n' +
        "$ echo build --filter web\n",
    );
    const filtered = await run(files, ["--filter=web", "build", "--dry-run", "--filter=x"]);
    expect(filtered.stdout).toContain("build --dry-run --filter=x\n");
    expect(filtered.stderr.match(/^warning: .*$/gm)).toEqual([
      'warning: "--dry-run" is an argument of "build" here; write options of rt before the task, or put -- before arguments',
    ]);
    expect((await run(files, ["--filter=web", "build", "--", "--dry-run"])).stderr).not.toContain("warning");
  });

  test("words are arguments without [tasks]", async () => {
    const { stdout, stderr } = await run(SHOP, ["build", "test", "--filter"], "packages/web");
    expect([stdout, stderr]).toEqual(["build test --filter\n", "$ echo build test --filter\n"]);
    const scripts = [
      'warning: "test" is an argument of "build" here, but also a script; to run both, use [tasks] (rt help tasks); else put -- before arguments',
    ];
    const warningsOf = async (...args: string[]): Promise<string[]> =>
      (await run(SHOP, ["--filter=*", ...args])).stderr.match(/^warning: .*$/gm) ?? [];
    expect(await warningsOf("build", "x", "test")).toEqual(scripts);
    expect(await warningsOf("build", "--", "test")).toEqual([]);
    expect(await warningsOf("build", "x", "lint")).toEqual([]); // of the root, which is not selected
  });

  test("a word may name a task of another package", async () => {
    const files = { ...SHOP, ...config("[tasks.lint]", 'description = "x"') };
    expect(await plan(files, ["core#build"], "packages/web")).toEqual({ tasks: ["core build"] });
    expect((await run(files, ["core#build"], "packages/web")).stdout).toBe("build\n");
  });
});

describe("mistakes", () => {
  test.each<[string, readonly string[], string]>([
    [
      "a cycle, with all its tasks",
      ["[tasks.build]", 'depends-on = ["test"]', "[tasks.test]", 'depends-on = ["build"]'],
      "error: Tasks depend on each other: web#test -> web#build -> web#test\n" +
        "hint: remove one of them from depends-on, for example at rtfig.toml:2\n",
    ],
    [
      "a task that depends on itself",
      ["[tasks.test]", 'depends-on = ["test"]'],
      "error: Tasks depend on each other: web#test -> web#test\n" +
        "hint: remove one of them from depends-on, for example at rtfig.toml:2\n",
    ],
    [
      "an unknown task, with the nearest name",
      ["[tasks.test]", 'depends-on = ["biuld"]'],
      'error: rtfig.toml:2: tasks.test.depends-on has "biuld": No package has a task "biuld"\nhint: did you mean "build"?\n',
    ],
    [
      "an unknown task of the dependencies",
      ["[tasks.test]", 'depends-on = ["^biuld"]'],
      'error: rtfig.toml:2: tasks.test.depends-on has "^biuld": No package has a task "biuld"\nhint: did you mean "^build"?\n',
    ],
    [
      "an unknown package",
      ["[tasks.test]", 'depends-on = ["croe#build"]'],
      'error: rtfig.toml:2: tasks.test.depends-on has "croe#build": No package is named "croe"\nhint: did you mean "core"?\n',
    ],
    [
      "an unknown task of a package",
      ['[tasks."web#test"]', 'depends-on = ["core#biuld"]'],
      'error: rtfig.toml:2: tasks."web#test".depends-on has "core#biuld": Package "core" has no task "biuld"\nhint: did you mean "core#build"?\n',
    ],
    [
      "an unknown key, with the nearest name",
      ["[tasks.test]", 'depend-on = ["build"]'],
      'error: rtfig.toml:2: Unknown key "tasks.test.depend-on"\nhint: did you mean tasks.test.depends-on?\n',
    ],
    [
      "a wildcard in a dependency",
      ["[tasks.test]", 'depends-on = ["build:*"]'],
      'error: rtfig.toml:2: tasks.test.depends-on has "build:*", which has wildcards\n' +
        'hint: write "build", "^build" for the packages it depends on, or "web#build" for one package\n',
    ],
    [
      "a row without a task",
      ['[tasks."web#"]', 'description = "x"'],
      'error: rtfig.toml:1: tasks."web#" names no task\nhint: write it as "task" or "package#task"\n',
    ],
  ])("%s is one error", async (_, rows, error) => {
    expect(await plan({ ...SHOP, ...config(...rows) }, ["--filter=web", "test"])).toEqual({
      error,
      status: 1,
    });
  });

  test("a cycle of packages is not an error if only one package has the task", async () => {
    const files = {
      ...workspace({
        a: { dependencies: { b: "*" }, scripts: echo("build") },
        b: { dependencies: { a: "*" }, scripts: echo("test") },
      }),
      ...config("[tasks.build]", 'depends-on = ["^build"]'),
    };
    expect(await plan(files, ["--filter=a", "build"])).toEqual({ tasks: ["a build"] });
  });

  test("a row that matches no task is a warning", async () => {
    const files = {
      ...SHOP,
      ...config("[tasks.biuld]", 'description = "x"', '["tasks"."*#test"]', "retries = 1"),
    };
    expect(await plan(files, ["--filter=core", "build"])).toEqual({
      tasks: ["core build"],
      warnings: ['[tasks]: no package has a script "biuld"; did you mean "build"?'],
    });
  });

  test("an unreadable package is an error if a task depends on other packages", async () => {
    const files = {
      ...SHOP,
      "packages/bad/package.json": "{",
      ...config("[tasks.test]", 'depends-on = ["^test"]'),
    };
    expect(await plan(files, ["test"], "packages/core")).toMatchObject({
      error: expect.stringContaining("packages/bad/package.json:1:2"),
      status: 1,
    });
    expect(await plan(files, ["build"], "packages/core")).toMatchObject({ tasks: ["build"] });
  });
});

describe("rows of [tasks]", () => {
  test("rows precede by package, then by task, then by the length of a glob, for each key", async () => {
    const rows = [
      '[tasks."*"]\nretries = 1\ntimeout = "1m"\nlock = "a"\ndescription = "x"',
      '[tasks."te*"]\nretries = 2\ntimeout = "2m"\nlock = "b"',
      '[tasks.test]\nretries = 3\ntimeout = "3m"',
      '[tasks."web#test"]\nretries = 4',
    ];
    await using project = await createProject({ ...SHOP, ...config(...rows) });
    const args = ["run", "--filter=web", "--dry-run=json", "test"];
    const { stdout } = await runRt({ args, cwd: project.path });
    expect((JSON.parse(stdout) as { tasks: { settings: object }[] }).tasks[0]!.settings).toEqual({
      retries: { value: 4, row: "web#test" },
      timeout: { value: "3m", row: "test" },
      lock: { value: "b", row: "te*" },
      description: { value: "x", row: "*" },
    });
    const text = await runRt({ args: args.with(2, "--dry-run"), cwd: project.path });
    expect(text.stdout).toBe(
      'web test\n  [tasks."web#test"]: retries\n  [tasks.test]: timeout\n  [tasks."te*"]: lock\n  [tasks."*"]: description\n  $ echo test\n\n1 script would run\n',
    );
  });

  test("rows of a member's own rtfig.toml are ignored with a warning", async () => {
    const files = {
      ...SHOP,
      ...config("[tasks.test]", 'depends-on = ["build"]'),
      "packages/web/rtfig.toml": "[tasks.test]\ndepends-on = []\n",
    };
    await using project = await createProject(files);
    const { stderr, stdout } = await runRt({ args: ["run", "test"], cwd: project.join("packages/web") });
    expect(stderr.split("\n")[0]).toBe(
      `warning: [tasks] of ${project.join("packages/web/rtfig.toml")} is ignored: the root project's is ${project.join("rtfig.toml")}`,
    );
    expect(stdout).toContain("build: build");
  });
});

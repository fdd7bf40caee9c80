// `timeout`, `retries`, `lock` and `when` of [tasks].
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { createProject, type Files, type Project } from "../../support/project.ts";
import { startLive } from "../../options/live.ts";
import { runRt, startRt } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";
import { resultOf } from "../../support/output.ts";
import { createMark, waitUntil } from "../../support/processes.ts";
import { packageWith, workspace } from "../../support/workspace.ts";

const config = (...rows: string[]) => ({ "rtfig.toml": `${rows.join("\n")}\n` });

async function runIn(project: Project, ...args: readonly string[]) {
  return await runRt({ args: ["run", ...args], cwd: project.path });
}

async function run(files: Files, ...args: readonly string[]) {
  await using project = await createProject(files);
  return await runIn(project, ...args);
}

/** Fails until it has run `count` times. */
const flaky = (count: number) => `echo x >> runs; test $(wc -l < runs) -gt ${count}`;

describe("timeout", () => {
  test("a timeout ends a task with its background processes, and names the limit", async () => {
    const scripts = { test: "sleep 1000 & echo started; sleep 1000" };
    const mark = createMark();
    await using project = await createProject({
      ...packageWith(scripts),
      ...config("[tasks.test]", 'timeout = "2s"'),
    });
    const { stdout, stderr, status } = await runRt({
      args: ["run", "test"],
      cwd: project.path,
      env: mark.env,
    });
    expect({ stdout, stderr, status }).toEqual({
      stdout: "started\n",
      stderr: `$ ${scripts.test}\nerror: Timed out after 2s\n`,
      status: 124,
    });
    expect(mark.find()).toEqual([]);
  });

  test("a timeout kills a task that ignores the signal", async () => {
    const scripts = { test: `trap "" TERM; while :; do sleep 0.1; done` };
    const { stderr, status } = await run(
      { ...packageWith(scripts), ...config("[tasks.test]", 'timeout = "2s"') },
      "test",
    );
    expect([stderr.split("\n").at(-2), status]).toEqual(["error: Timed out after 2s", 124]);
  });

  test("a timeout applies to hooks and script together, and to each task of a run", async () => {
    const packages = {
      a: { scripts: { pret: "sleep 1000", t: "echo never" } },
      b: { scripts: { t: "echo b" } },
    };
    const { stdout, status } = await run(
      { ...workspace(packages), ...config('[tasks."a#t"]', 'timeout = "1s"') },
      ...["--workspaces", "--no-exit-on-error", "--report=report.json", "t"],
    );
    expect(stdout.split("\n").toSorted()).toEqual([
      "",
      "a pret: Killed by SIGTERM",
      "a t: Timed out after 1s",
      "b t: Exited with code 0",
      "b t: b",
    ]);
    expect(status).toBe(124);
  });

  test("a timeout does not end a task in time", async () => {
    const files = { ...packageWith({ test: "echo done" }), ...config("[tasks.test]", 'timeout = "1h"') };
    expect(await run(files, "test")).toEqual({ stdout: "done\n", stderr: "$ echo done\n", status: 0 });
  });

  test.each(["10", "0s", "ten minutes", "-1s", "1e3s", "1000h"])("rejects %p", async (timeout) => {
    const files = { ...packageWith({ test: "true" }), ...config("[tasks.test]", `timeout = "${timeout}"`) };
    expect(await run(files, "test")).toEqual({
      stdout: "",
      stderr: `error: rtfig.toml:2: tasks.test.timeout cannot be "${timeout}"\nhint: for example "90s", "10m" or "1.5h"\n`,
      status: 1,
    });
  });

  test("a timeout begins when a secret has been read again, so it ends the task", async () => {
    await using project = await createProject({
      ...packageWith({ test: "echo started; exec sleep 1000" }),
      "in.ts": "1",
      ...config(
        '[secrets.TOKEN]\nfrom.command = ["sh", "-c", "test -e slow && sleep 3; echo value-of-the-token"]',
        '[tasks.test]\ntimeout = "2s"\nsecrets = ["TOKEN"]',
      ),
    });
    await using live = startLive({
      args: ["--watch", "run", "test"],
      cwd: project.path,
      env: { NO_COLOR: "1", RT_TRUST: await trustOf(project.path) },
    });
    await live.see("Timed out after 2s");
    await project.write({ slow: "" });
    await project.write({ "in.ts": "2" });
    await live.see("started");
    await live.see("Timed out after 2s");
    live.kill("SIGINT");
    await live.ended;
  });

  test("a timeout gives way to a signal", async () => {
    await using project = await createProject({
      ...packageWith({ test: "echo x > started; sleep 1000" }),
      ...config("[tasks.test]", 'timeout = "1h"'),
    });
    const child = startRt({ args: ["run", "test"], cwd: project.path });
    await waitUntil(() => existsSync(project.join("started")));
    child.kill("SIGTERM");
    expect((await resultOf(child)).status).toBe("SIGTERM");
  });
});

describe("retries", () => {
  test("retries run a failed task again, and mark it as flaky in every report", async () => {
    await using project = await createProject({
      ...workspace({ a: { scripts: { t: flaky(1) } }, b: { scripts: { t: "true" } } }),
      ...config("[tasks.t]", "retries = 2"),
    });
    const reports = ["--report=r.json", "--report=r.xml", "--report=r.html", "--report=trace.json"];
    const { stdout, stderr, status } = await runIn(project, "--workspaces", ...reports, "t");
    expect(status).toBe(0);
    expect(stdout.split("\n").filter((line) => line.startsWith("a"))).toEqual([
      "a t: Exited with code 1",
      "a t: Exited with code 0",
      "a t: Done (flaky: succeeded at attempt 2)",
    ]);
    expect(stderr).toContain("warning: a t: Exited with code 1; retry 1 of 2\n");
    expect(stderr).toContain("Flaky:   a t (Done (flaky: succeeded at attempt 2))\n");
    const read = async (name: string) => await Bun.file(project.join(name)).text();
    expect(JSON.parse(await read("r.json"))).toMatchObject({
      tasks: expect.arrayContaining([
        expect.objectContaining({ package: "a", outcome: "success", flaky: true, retries: 1 }),
      ]),
    });
    expect(await read("r.xml")).toContain("<system-out>[Done (flaky: succeeded at attempt 2)]");
    for (const name of ["r.html", "trace.json"])
      expect(await read(name)).toContain("flaky: succeeded at attempt 2");
  });

  test("retries end with the last failure", async () => {
    const files = { ...packageWith({ t: "echo x; exit 3" }), ...config("[tasks.t]", "retries = 1") };
    expect(await run(files, "t")).toEqual({
      stdout: "x\nx\n",
      stderr: "$ echo x; exit 3\nwarning: t: Exited with code 3; retry 1 of 1\n$ echo x; exit 3\n",
      status: 3,
    });
  });

  test("retries follow a timeout, which counts for each attempt", async () => {
    const files = {
      ...packageWith({ t: `echo x >> runs; test $(wc -l < runs) -gt 1 || exec sleep 1000` }),
      ...config("[tasks.t]", "retries = 1", 'timeout = "3s"'),
    };
    const { stderr, status } = await run(files, "t");
    expect(stderr).toContain("warning: t: Timed out after 3s; retry 1 of 1\n");
    expect(status).toBe(0);
  });

  test("retries do not follow a signal that ends the run", async () => {
    await using project = await createProject({
      ...packageWith({ t: "echo x >> runs; echo ready; sleep 1000" }),
      ...config("[tasks.t]", "retries = 5"),
    });
    const child = startRt({ args: ["run", "t"], cwd: project.path });
    await waitUntil(
      () => existsSync(project.join("runs")) && readFileSync(project.join("runs"), "utf8") === "x\n",
    );
    child.kill("SIGINT");
    expect((await resultOf(child)).status).toBe("SIGINT");
    expect(await Bun.file(project.join("runs")).text()).toBe("x\n");
  });
});

describe("lock", () => {
  /** Fails if another task of the test holds the folder. */
  const alone = "mkdir ../held && sleep 0.1 && rmdir ../held";

  test("a lock keeps tasks apart, and lets others run", async () => {
    const packages = Object.fromEntries(
      ["a", "b", "c", "d"].map((name) => [name, { scripts: { t: alone, free: "true" } }]),
    );
    const files = { ...workspace(packages), ...config("[tasks.t]", 'lock = "held"', "depends-on = []") };
    const { status, stderr } = await run(files, "--workspaces", "--concurrency=8", "t", "free");
    expect(stderr).toMatch(/^8 scripts in .*: 8 succeeded$/m);
    expect(status).toBe(0);
  });
});

describe("when", () => {
  const FILES = {
    ...workspace({ a: { scripts: { "do:it": "echo it", "do:deploy": "echo deploy" } } }),
    ...config('[tasks."do:deploy"]', 'when = "never"'),
  };

  test('when = "never" excludes a task from globs and --workspaces', async () => {
    expect((await run(FILES, "--filter=a", "do:*")).stdout).toBe(
      "a do:it: it\na do:it: Exited with code 0\n",
    );
    expect(await run(FILES, "--workspaces", "do:deploy")).toEqual({
      stdout: "",
      stderr:
        'error: --workspaces does not select "do:deploy", which has when = "never" in [tasks]\n' +
        "hint: select its packages: --filter a\n",
      status: 1,
    });
  });

  test('when = "never" does not exclude a task that is named, or that another depends on', async () => {
    expect((await run(FILES, "--filter=a", "do:deploy")).stdout).toContain("a do:deploy: deploy\n");
    const files = {
      ...FILES,
      ...config('[tasks."do:deploy"]', 'when = "never"', '[tasks."do:it"]', 'depends-on = ["do:deploy"]'),
    };
    expect((await run(files, "--workspaces", "do:it")).stdout).toContain("a do:deploy: deploy\n");
  });
});

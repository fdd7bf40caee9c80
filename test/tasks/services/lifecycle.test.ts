// Services: start, order, end, failures, and nothing left behind.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { startLive } from "../../options/live.ts";
import { createMark, waitUntil, watchdogOf, watchedBy } from "../../support/processes.ts";
import { startRt } from "../../support/rt.ts";
import { ask, createServices, logOf, runServices, serve } from "./server.ts";

/** In the background, without replacing the shell. */
const RT_SERVER = serve("db").replace("exec ", "");

describe("a service", () => {
  test("starts once for two tasks, before them, and ends after the last one", async () => {
    await using project = await createServices(
      { db: serve("db"), a: `${ask("db")} >> log`, b: `${ask("db")} >> log` },
      '[tasks.db]\nservice = true\n[tasks."[ab]"]\ndepends-on = ["db"]\n',
    );
    const { status, lines, left } = await runServices(project, "--concurrency=1", "a", "b");
    expect({ status, left, log: await logOf(project) }).toEqual({
      status: 0,
      left: [],
      log: ["db started", "db", "db", "db ended"],
    });
    expect(lines.filter((line) => /Ready|Stopped/.test(line))).toEqual([
      expect.stringMatching(/^db: Ready \(port \d+\)$/),
      "db: Stopped",
    ]);
  });

  test("ends after the tasks that need it through others, and after the services that depend on it", async () => {
    await using project = await createServices(
      {
        db: serve("db"),
        api: serve("api"),
        seed: "echo seeded >> log",
        test: `${ask("db")} >> log; ${ask("api")} >> log`,
      },
      `[tasks.db]\nservice = true
[tasks.seed]\ndepends-on = ["db"]
[tasks.api]\nservice = true\ndepends-on = ["seed"]
[tasks.test]\ndepends-on = ["api"]\n`,
    );
    const { status, left } = await runServices(project, "--concurrency=1", "test");
    expect({ status, left, log: await logOf(project) }).toEqual({
      status: 0,
      left: [],
      log: ["db started", "seeded", "api started", "db", "api", "api ended", "db ended"],
    });
  });

  test.skipIf(process.platform !== "linux")(
    "ends with permissions without a warning about closed files when it dies of rt's signal",
    async () => {
      await using project = await createServices(
        { db: "exec python3 -m http.server --bind 127.0.0.1 0", test: "echo tested" },
        '[tasks.db]\nservice = true\npermissions = true\n[tasks.test]\ndepends-on = ["db"]\n',
      );
      const { status, stderr, lines } = await runServices(project, "test");
      expect(status).toBe(0);
      expect(lines).toContain("db: Stopped");
      expect(stderr).not.toContain("warning");
    },
  );

  test("a service does not run longer for a task that does not need it", async () => {
    await using project = await createServices(
      { db: serve("db"), a: ask("db"), b: "while ! grep -q ended log 2>/dev/null; do sleep 0.05; done" },
      '[tasks.db]\nservice = true\n[tasks.a]\ndepends-on = ["db"]\n',
    );
    expect((await runServices(project, "--concurrency=2", "a", "b")).status).toBe(0);
  });

  test("a service is killed with its processes when it ignores the signal", async () => {
    await using project = await createServices(
      { db: `trap "" TERM; ${RT_SERVER} & while :; do sleep 0.1; done`, test: ask("db") },
      '[tasks.db]\nservice = true\n[tasks.test]\ndepends-on = ["db"]\n',
    );
    const { status, left } = await runServices(project, "test");
    expect({ status, left }).toEqual({ status: 0, left: [] });
  });

  test("a service is found and ended when it runs as a daemon in a session of its own", async () => {
    await using project = await createServices(
      { db: `setsid sh -c '${RT_SERVER} & exit' & exit 0`, test: ask("db") },
      '[tasks.db]\nservice = true\n[tasks.test]\ndepends-on = ["db"]\n',
    );
    const { status, left } = await runServices(project, "test");
    expect({ status, left, log: await logOf(project) }).toEqual({
      status: 0,
      left: [],
      log: ["db started", "db ended"],
    });
  });
});

describe("a service that ends by itself", () => {
  test.each([
    [0, 1],
    [3, 3],
  ])("fails its dependents when it exits with %p before it is ready", async (code, expected) => {
    await using project = await createServices(
      { db: `echo no disk; exit ${code}`, test: "echo never" },
      '[tasks.db]\nservice = true\n[tasks.test]\ndepends-on = ["db"]\n',
    );
    const { status, lines, stderr, left } = await runServices(project, "test");
    expect({ status, left, lines }).toEqual({
      status: expected,
      left: [],
      lines: [
        "db: no disk",
        `db: Exited with code ${code}`,
        `db: Exited with code ${code} before it was ready`,
        "test: Skipped because db did not succeed",
      ],
    });
    expect(stderr).toStartWith("The last lines of db:\n  no disk\n");
  });

  test("ends the tasks that need it", async () => {
    await using project = await createServices(
      { db: serve("db"), test: "kill -9 $(cat db.pid); sleep 1000", after: "echo never" },
      '[tasks.db]\nservice = true\n[tasks.test]\ndepends-on = ["db"]\n[tasks.after]\ndepends-on = ["test"]\n',
    );
    const { status, lines, left } = await runServices(project, "after");
    expect({ status, left }).toEqual({ status: 137, left: [] });
    expect(lines).toContain("db: Killed by SIGKILL while other tasks needed it");
    expect(lines.slice(-2)).toEqual([
      "test: Stopped because db did not run any more",
      "after: Skipped because test did not succeed",
    ]);
  });

  test("starts again with restart", async () => {
    await using project = await createServices(
      {
        db: `test -e second || { touch second; exit 1; }; ${serve("db")}`,
        test: "kill -9 $(cat db.pid); until grep -c started log | grep -q 2; do sleep 0.05; done",
      },
      '[tasks.db]\nservice = true\nrestart = "on-failure"\n[tasks.test]\ndepends-on = ["db"]\n',
    );
    const { status, stderr, left } = await runServices(project, "test");
    expect({ status, left }).toEqual({ status: 0, left: [] });
    expect(stderr).toContain("warning: db: Exited with code 1; it starts again in 0.5 s\n");
    expect(stderr).toContain("warning: db: Killed by SIGKILL; it starts again in 1 s\n");
  });
});

describe("a run with services", () => {
  test("ends the tasks first at Ctrl-C, then the services in reverse order", async () => {
    await using project = await createServices(
      {
        db: serve("db"),
        api: serve("api"),
        test: "trap 'grep -q ended log || echo test ended >> log; exit 1' INT; touch begun; while :; do sleep 0.1; done",
      },
      '[tasks.db]\nservice = true\n[tasks.api]\nservice = true\ndepends-on = ["db"]\n[tasks.test]\ndepends-on = ["api"]\n',
    );
    await using live = startLive({ args: ["run", "test"], cwd: project.path });
    await waitUntil(() => existsSync(project.join("begun")));
    live.kill("SIGINT");
    await live.ended;
    expect(live.others()).toEqual([]);
    expect(await logOf(project)).toEqual([
      "db started",
      "api started",
      "test ended",
      "api interrupted",
      "db interrupted",
    ]);
  });

  test("runs a requested service until Ctrl-C", async () => {
    await using project = await createServices(
      { db: serve("db"), test: ask("db") },
      '[tasks.db]\nservice = true\n[tasks.test]\ndepends-on = ["db"]\n',
    );
    await using live = startLive({ args: ["run", "db", "test"], cwd: project.path });
    await live.see("test: Exited with code 0");
    live.kill("SIGINT");
    expect(await live.ended).toBe("SIGINT");
    expect(await logOf(project)).toEqual(["db started", "db interrupted"]);
  });

  test("ends its services when a task fails", async () => {
    await using project = await createServices(
      { db: serve("db"), test: "exit 7", other: "echo other" },
      '[tasks.db]\nservice = true\n[tasks."{test,other}"]\ndepends-on = ["db"]\n',
    );
    for (const option of ["--no-exit-on-error", "--parallel", "--sequential"]) {
      const { status, left } = await runServices(project, option, "test", "other");
      expect({ option, status, left }).toEqual({ option, status: 7, left: [] });
    }
  });

  test.skipIf(process.platform !== "linux")("forgets an ended daemon, whose id may be reused", async () => {
    await using project = await createServices(
      {
        daemon: `setsid sh -c '${serve("daemon").replace("exec ", "")} & exit' & exit 0`,
        test: "touch begun; until test -e done; do sleep 0.05; done",
        other: "echo $$ > other.pid; exec sleep 1000",
      },
      '[tasks.daemon]\nservice = true\n[tasks.test]\ndepends-on = ["daemon"]\n',
    );
    await using live = startLive({ args: ["run", "test", "other"], cwd: project.path });
    const other = project.join("other.pid");
    await waitUntil(() => existsSync(project.join("begun")) && existsSync(other));
    // The daemon, the test and the other task.
    await watchdogOf(live.pid, 3);
    await project.write({ done: "" });
    await live.see("daemon: Stopped");
    expect(watchedBy(live.pid)).toEqual([Number(await Bun.file(other).text())]);
    live.kill("SIGINT");
    await live.ended;
  });

  test("leaves nothing behind when rt is killed, also no daemon", async () => {
    await using project = await createServices(
      {
        db: serve("db"),
        daemon: `setsid sh -c '${serve("daemon").replace("exec ", "")} & exit' & exit 0`,
        test: "touch begun; sleep 1000",
      },
      '[tasks."{db,daemon}"]\nservice = true\n[tasks.test]\ndepends-on = ["db", "daemon"]\n',
    );
    const mark = createMark();
    const child = startRt({ args: ["run", "test"], cwd: project.path, env: mark.env });
    await waitUntil(() => existsSync(project.join("begun")));
    await watchdogOf(child.pid, 3);
    child.kill("SIGKILL");
    await waitUntil(() => mark.find().length === 0);
    await child.exited;
  });
});

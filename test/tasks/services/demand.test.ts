// Which services start: those of tasks that have to run.
import { expect, test } from "bun:test";
import { CAN_TRACE } from "../../cache/cached-project.ts";
import { TIMESTAMP_GRANULARITY } from "../../../platform/files/contract/stat-fingerprint.ts";
import { waitUntil } from "../../support/processes.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";
import { createProject } from "../../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../../support/rt.ts";
import { ask, createServices, logOf, serve } from "./server.ts";

test.skipIf(!CAN_TRACE)(
  "a service starts only if a task that depends on it is not a cache hit, also in a memoized run",
  async () => {
    const names = Array.from({ length: 10 }, (_, index) => `test${index}`);
    await using project = await createServices(
      {
        db: serve("db"),
        api: serve("api"),
        ...Object.fromEntries(names.map((name) => [name, "cat input"])),
      },
      `[tasks.db]\nservice = true
[tasks.api]\nservice = true\ndepends-on = ["db"]
[tasks."test*"]\ndepends-on = ["api"]\ncache = true\n`,
      { input: "1\n" },
    );
    await using cache = await createProject();
    const run = async (...options: string[]) => {
      const env = { XDG_CACHE_HOME: cache.path, RT_DEBUG: "recall" };
      const { stdout, stderr, status } = await runRt({
        args: ["run", "--filter=*", ...options, ...names],
        cwd: project.path,
        env,
      });
      return { stdout, stderr, status, lines: stdout.trim().split("\n").toSorted() };
    };
    const all = ["db started", "api started", "api ended", "db ended"];
    expect((await run()).status).toBe(0);
    expect(await logOf(project)).toEqual(all);
    expect((await run("--dry-run")).stdout).toContain(
      "\n0 of 12 scripts would run (10 cached, 2 not needed)\n",
    );
    const hits = await run();
    expect({ status: hits.status, lines: hits.lines.slice(0, 4) }).toEqual({
      status: 0,
      lines: [
        "app api: Not needed",
        "app db: Not needed",
        "app test0: 1",
        expect.stringMatching(/^app test0: Cached/),
      ],
    });
    expect((await run("--report=r.xml")).status).toBe(0);
    expect(await Bun.file(project.join("r.xml")).text()).toContain('skipped="2"');
    // A run with racy timestamps is not memoized.
    const written = Date.now();
    await waitUntil(() => Date.now() > written + TIMESTAMP_GRANULARITY);
    await run();
    const recalled = await run();
    expect(recalled.stderr).toContain("recalled 10 of 12 scripts");
    expect(recalled.lines.slice(0, 2)).toEqual(["app api: Not needed", "app db: Not needed"]);
    expect(await logOf(project)).toEqual(all);
    await project.write({ input: "2\n" });
    expect((await run()).lines).toContain("app test0: 2");
    expect(await logOf(project)).toEqual([...all, ...all]);
  },
);

test.skipIf(process.platform === "win32")(
  "the list shows that a service is ready, and starts it again for a task that is restarted",
  async () => {
    await using project = await createServices(
      { db: serve("db"), test: `${ask("db")} >> log`, other: "exec sleep 1000" },
      '[tasks.db]\nservice = true\n[tasks.test]\ndepends-on = ["db"]\n',
    );
    await using terminal = startOnTerminal([RT, "run", "--ui=list", "test", "other"], cleanEnvironment(), {
      cwd: project.path,
      isSessionLeader: true,
    });
    terminal.resize(100, 20);
    await terminal.awaitOutput("ready");
    const once = ["db started", "db", "db ended"];
    const hasLogged = (count: number) => async () =>
      (await Bun.file(project.join("log")).exists()) && (await logOf(project)).length >= count;
    await waitUntil(hasLogged(3));
    terminal.type("jjr");
    await waitUntil(hasLogged(6));
    expect(await logOf(project)).toEqual([...once, ...once]);
    terminal.type("q");
    expect(await terminal.awaitExit()).toBe("SIGINT");
  },
);

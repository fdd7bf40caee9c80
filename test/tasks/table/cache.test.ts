// [tasks] together with cached scripts, the run memo and watch mode.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { CAN_TRACE } from "../../cache/cached-project.ts";
import { startLive } from "../../options/live.ts";
import { createProject, type Files } from "../../support/project.ts";
import { RT, runRt } from "../../support/rt.ts";
import { waitUntil } from "../../support/processes.ts";
import { workspace } from "../../support/workspace.ts";

async function openCached(files: Files) {
  const project = await createProject(files);
  const cache = await createProject();
  return {
    project,
    rt: async (args: readonly string[], env: Record<string, string> = {}) =>
      await runRt({ args, cwd: project.path, env: { XDG_CACHE_HOME: cache.path, ...env } }),
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      await cache[Symbol.asyncDispose]();
    },
  };
}

test.skipIf(!CAN_TRACE)(
  "a dry run of a hit names the task that is going to run and that it depends on",
  async () => {
    await using cached = await openCached({
      ...workspace({
        web: { dependencies: { api: "*" }, scripts: { build: "cat in > out" } },
        api: { scripts: { build: "cat in > out" } },
      }),
      "packages/web/in": "1",
      "packages/api/in": "1",
      "rtfig.toml": '[tasks.build]\ndepends-on = ["^build"]\n[run.cache]\nbuild = true\n',
    });
    const dryRun = async (...args: string[]) =>
      (await cached.rt(["run", "--filter=web", "--dry-run", ...args, "build"])).stdout;
    await cached.rt(["run", "--filter=web", "build"]);
    expect((await dryRun()).match(/cache hit/g)).toHaveLength(2);
    await cached.project.write({ "packages/api/in": "2" });
    const text = await dryRun();
    expect(text).toContain("web build (after api build)\n  would run: depends on api#build\n");
    expect(text).toContain("2 scripts would run");
    const { stdout } = await cached.rt(["run", "--filter=web", "--dry-run=json", "build"]);
    expect((JSON.parse(stdout) as { tasks: object[] }).tasks[1]).toMatchObject({
      dependsOn: ["api build"],
      cache: { result: "miss", why: "depends on api#build" },
    });
  },
);

test.skipIf(!CAN_TRACE)("a cached task that needed a retry is a hit in the next run", async () => {
  await using cached = await openCached({
    ...workspace({
      a: { scripts: { t: "test -e ../../second || { touch ../../second; exit 1; }; cat in > out" } },
    }),
    "packages/a/in": "1",
    "rtfig.toml": "[tasks.t]\nretries = 1\n[run.cache]\nt = true\n",
  });
  const first = await cached.rt(["run", "--filter=a", "t"]);
  expect([first.status, first.stdout.includes("flaky: succeeded at attempt 2")]).toEqual([0, true]);
  expect((await cached.rt(["run", "--filter=a", "t"])).stdout).toContain("a t: Cached (saved ");
});

test.skipIf(!CAN_TRACE)("the run memo keeps dependencies, arguments and commands of tasks", async () => {
  const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
  await using cached = await openCached({
    ...workspace(
      Object.fromEntries(
        names.map((name) => [name, { scripts: { build: "cat in > out", test: "cat out; echo tested" } }]),
      ),
    ),
    ...Object.fromEntries(names.map((name) => [`packages/${name}/in`, name])),
    "rtfig.toml":
      '[tasks.test]\ndepends-on = ["build", "db"]\n[tasks.db]\ncommand = "cat in"\n[run.cache]\nbuild = true\ntest = true\ndb = true\n',
    in: "db",
  });
  const run = async () => await cached.rt(["run", "--filter=*", "test", "--", "x"], { RT_DEBUG: "recall" });
  await run();
  const second = await run();
  await run();
  const known = await run();
  expect(known.stderr).toContain("recalled 25 of 25 scripts");
  expect(known.stdout.split("\n").toSorted()).toEqual(second.stdout.split("\n").toSorted());
  await cached.project.write({ in: "changed", "packages/p3/in": "changed" });
  const { stdout, status } = await run();
  expect(status).toBe(0);
  expect(stdout).toContain("root db: changed\n");
  expect(stdout).toContain("p3 test: changedtested x\n");
});

test.skipIf(!CAN_TRACE)("a row of the root project is not for a package without a name", async () => {
  const scripts = { build: "cat in > out" };
  await using cached = await openCached({
    "package.json": { private: true, workspaces: ["packages/*"], scripts },
    "packages/a/package.json": { scripts },
    "packages/a/in": "1",
    in: "1",
    "rtfig.toml": '[tasks."//#build"]\ncache = true\n',
  });
  const run = async (...args: string[]) => (await cached.rt([...args, "run", "build"])).stderr;
  expect(await run()).toBe("$ cat in > out\n");
  expect(await run()).toStartWith("$ cat in > out\nCached (saved ");
  for (const _ of [1, 2]) expect(await run("--cwd=packages/a")).toBe("$ cat in > out\n");
});

test("watch mode restarts a task after those that it depends on", async () => {
  await using project = await createProject({
    "package.json": {
      name: "project",
      scripts: {
        build: "cat in.ts > out.txt; echo built",
        serve: "echo serves $(cat out.txt); exec sleep 1000",
      },
    },
    "in.ts": "1",
    ".gitignore": "out.txt\n",
    "rtfig.toml": '[tasks.serve]\ndepends-on = ["build"]\n',
  });
  await using live = startLive({
    program: [RT],
    args: ["--watch", "run", "serve"],
    cwd: project.path,
    env: { NO_COLOR: "1" },
  });
  await live.see("serve: serves 1");
  await waitUntil(() => existsSync(project.join("out.txt")));
  await project.write({ "in.ts": "2" });
  await live.see("serve: serves 2");
  live.kill("SIGINT");
  expect(await live.ended).toBe("SIGINT");
});

// Options of the script cache.
import { expect } from "bun:test";
import { chmod } from "node:fs/promises";
import { CAN_TRACE, cachedProject } from "../cache/cached-project.ts";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { prove } from "./prove.ts";

const scripts = { build: "echo x >> runs.log; cat source" };
const config = 'build = { ignore = ["runs.log"] }';

prove("no-cache", "runs a script and stores no entry", async () => {
  if (!CAN_TRACE) return;
  await using project = await cachedProject(scripts, { source: "" }, config);
  await project.rt(["--no-cache", "run", "build"]);
  expect(await project.run("build")).toBe("ran");
  expect((await project.rt(["--no-cache", "run", "build"])).stderr).not.toContain("Cached (saved");
  expect(await project.run("build")).toBe("hit");
});

prove("force", "runs a script despite a cache hit, and stores the result", async () => {
  if (!CAN_TRACE) return;
  await using project = await cachedProject(scripts, { source: "" }, config);
  expect(await project.run("build")).toBe("ran");
  expect((await project.rt(["--force", "run", "build"])).stderr).not.toContain("Cached (saved");
  expect(await Bun.file(project.join("runs.log")).text()).toBe("x\nx\n");
  expect(await project.run("build")).toBe("hit");
});

prove("cache", "selects whether the caches are read and written", async () => {
  if (!CAN_TRACE) return;
  await using project = await cachedProject(scripts, { source: "" }, config);
  expect((await project.rt(["--cache=local:r", "run", "build"])).status).toBe(0);
  expect(await project.run("build")).toBe("ran");
  expect((await project.rt(["--cache=local:w", "run", "build"])).stderr).not.toContain("Cached (saved");
  expect((await project.rt(["--cache=local:r", "run", "build"])).stderr).toContain("Cached (saved");
  // When only the shared cache is named, the local one is not read.
  expect((await project.rt(["--cache=remote:rw", "run", "build"])).stderr).not.toContain("Cached (saved");
  expect((await project.rt(["--cache=local:,remote:r", "run", "build"])).stderr).not.toContain(
    "Cached (saved",
  );
  expect((await project.rt(["run", "build"], { TURBO_CACHE: "remote:rw" })).stderr).not.toContain(
    "Cached (saved",
  );
  for (const wrong of ["all", "local", "local:rw,", "local:x"])
    expect((await project.rt([`--cache=${wrong}`, "run", "build"])).stderr).toBe(
      `error: --cache cannot be "${wrong}"\nhint: say local, remote or both, and r, w or rw, as in --cache=local:rw,remote:rw\n`,
    );
});

prove("why", "prints the cache miss reason, or where the hit was found", async () => {
  if (!CAN_TRACE) return;
  await using project = await cachedProject(
    { build: "cat source; ./tool", other: "true" },
    { source: "", tool: "#!/bin/sh\n" },
    'build = { env = ["LEVEL"] }',
  );
  await chmod(project.join("tool"), 0o755);
  const explain = async (env = {}, ...words: string[]) => {
    const { stderr, status } = await project.rt([...words, "--why", "run", "build"], env);
    expect(status).toBe(0);
    return stderr.split("\n").find((line) => /^build: cache (?:hit|miss): /.test(line));
  };
  expect(await explain()).toBe("build: cache miss: no earlier run");
  expect(await explain()).toMatch(/^build: cache hit: all \d+ inputs are unchanged since 20/);
  await project.write({ source: "2" });
  const planned = async (...words: string[]) =>
    (await project.rt([...words, "--why", "run", "build", "other"])).stdout;
  const changed = `cache miss: ${project.join("source")} changed`;
  expect(await planned("--sequential", "--dry-run")).toContain(
    `build\n  ${changed}\n  $ cat source; ./tool\nother\n  $ true\n`,
  );
  const plan = JSON.parse(await planned("--sequential", "--dry-run=json"));
  expect(plan.tasks.map(({ cache }: { cache?: object }) => cache)).toEqual([
    { result: "miss", why: `${project.join("source")} changed` },
    undefined,
  ]);
  // A dry run stores nothing, so the next run still reports the change.
  expect(await explain({}, "--report=report")).toBe(`build: ${changed}`);
  expect((await Bun.file(project.join("report")).json()).tasks[0].why).toBe(
    `${project.join("source")} changed`,
  );
  await project.write({ tool: "#!/bin/sh\ntrue\n" });
  expect(await explain()).toBe(`build: cache miss: ${project.join("tool")} changed`);
  expect(await explain({ LEVEL: "1" })).toBe("build: cache miss: the variable LEVEL was added");
  expect(await explain({ LEVEL: "2" })).toBe("build: cache miss: the variable LEVEL changed");
  expect(await explain({ LEVEL: "2" }, "--force")).toBe("build: cache miss: the cache is not read");
  expect(await explain({ LEVEL: "2" })).toStartWith("build: cache hit: ");
  expect((await project.rt(["run", "build"])).stderr).not.toContain("cache hit");
});

prove("verify-inputs", "fails when a script reads or writes more than is declared", async () => {
  if (!CAN_TRACE) return;
  await using project = await createProject({
    ".gitignore": "hidden\nout*\n",
    "cache/.keep": "",
    outside: "",
  });
  const rule = (more: string) => `[run.cache]\nbuild = { trace = false, outputs = ["out"]${more} }\n`;
  await project.write({
    "package.json": JSON.stringify({ name: "root", workspaces: ["app"] }),
    "app/package.json": JSON.stringify({
      name: "app",
      scripts: { build: "cat source hidden ../outside > out" },
    }),
    "app/source": "",
    "app/hidden": "",
    "rtfig.toml": rule(""),
  });
  Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
  const verify = async (...words: string[]) => {
    const env = { XDG_CACHE_HOME: project.join("cache") };
    return await runRt({ args: [...words, "run", "build"], cwd: project.join("app"), env });
  };
  const first = await verify("--verify-inputs");
  expect(first).toMatchObject({ status: 1 });
  const named = first.stderr.split("\n").filter((line) => line.startsWith("warning: "));
  expect(named).toEqual([
    "warning: build reads app/hidden, which is not declared",
    "warning: build reads outside, which is not declared",
    "warning: to declare that, set its rule in [run.cache] to: " +
      'build = { inputs = ["hidden", "../outside"], outputs = ["out"], trace = false }',
  ]);
  await project.write({ "rtfig.toml": rule(', inputs = ["hidden", "../outside"]') });
  for (const _ of [1, 2])
    expect(await verify("--verify-inputs")).toMatchObject({
      status: 0,
      stderr: "$ cat source hidden ../outside > out\n",
    });
  await project.write({ "rtfig.toml": rule(', inputs = ["hidden", "../outside"]').replace('"out"', "") });
  const third = await verify("--verify-inputs");
  expect(third).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(
      "build writes app/out, which is not declared\nwarning: to declare that, ",
    ),
  });
});

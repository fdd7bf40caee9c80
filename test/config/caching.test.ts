// Keys of rtfig.toml for the script cache.
import { expect } from "bun:test";
import { cachedProject, CAN_TRACE } from "../cache/cached-project.ts";
import type { Files } from "../support/project.ts";
import { effect } from "./effects.ts";

effect("run.cache.*", "selects a script of one package or of all; false excludes it", async () => {
  if (!CAN_TRACE) return;
  const config = '"project#a" = true\n"other#b" = true\nc = true\n"project#c" = false';
  await using project = await cachedProject(
    { a: "cat file", b: "cat file", c: "cat file" },
    { file: "" },
    config,
  );
  const twice = async (script: string) => [await project.run(script), await project.run(script)];
  expect(await twice("a")).toEqual(["ran", "hit"]);
  expect(await twice("b")).toEqual(["ran", "ran"]);
  expect(await twice("c")).toEqual(["ran", "ran"]);
});

effect("run.cache.*.env", "lists the variables that a script gets", async () => {
  if (!CAN_TRACE) return;
  await using project = await cachedProject({ a: "echo $A$B" }, {}, 'a = { env = ["A"] }');
  expect((await project.rt(["run", "a"], { A: "1", B: "2" })).stdout).toBe("1\n");
});

effect("run.cache.*.inputs", "adds inputs that the script does not read", async () => {
  if (!CAN_TRACE) return;
  await using project = await cachedProject(
    { a: "cat file" },
    { file: "", "more/x": "1" },
    'a = { inputs = ["more/**"] }',
  );
  expect([await project.run("a"), await project.run("a")]).toEqual(["ran", "hit"]);
  await project.write({ "more/x": "2" });
  expect(await project.run("a")).toBe("ran");
});

effect("run.cache.*.outputs", "adds outputs that the script does not change", async () => {
  if (!CAN_TRACE) return;
  const script = "test -e out || cp in out; cat out";
  await using project = await cachedProject(
    { a: script },
    { in: "1", out: "1" },
    'a = { outputs = ["out"] }',
  );
  expect([await project.run("a"), await project.run("a")]).toEqual(["ran", "hit"]);
  await Bun.file(project.join("out")).delete();
  expect(await project.run("a")).toBe("hit");
  expect(await Bun.file(project.join("out")).text()).toBe("1");
});

effect("run.cache.*.ignore", "excludes files from the inputs", async () => {
  if (!CAN_TRACE) return;
  await using project = await cachedProject(
    { a: "cat file; date > log" },
    { file: "", log: "" },
    'a = { ignore = ["file", "log"] }',
  );
  expect([await project.run("a"), await project.run("a")]).toEqual(["ran", "hit"]);
  await project.write({ file: "changed" });
  expect(await project.run("a")).toBe("hit");
});

effect("run.cache.*.shared", "= false limits cache entries to one checkout", async () => {
  if (!CAN_TRACE) return;
  const files = (rule: string) => ({
    "package.json": { name: "project", scripts: { a: "cat source" } },
    "rtfig.toml": `[run.cache]\na = ${rule}\n`,
    source: "",
  });
  for (const [rule, second] of [
    ["true", "hit"],
    ["{ shared = false }", "ran"],
  ] as const) {
    await using project = await cachedProject({});
    for (const name of ["one", "two"])
      for (const [path, content] of Object.entries(files(rule)))
        await project.write({ [`${name}/${path}`]: content });
    const run = async (name: string) =>
      (await project.rt(["--cwd", name, "run", "a"])).stderr.includes("Cached (saved ") ? "hit" : "ran";
    expect([await run("one"), await run("two"), await run("two")]).toEqual(["ran", second, "hit"]);
  }
});

effect("run.cache.*.trace", "= false uses declared inputs", async () => {
  await using project = await cachedProject(
    { a: "cat source" },
    { source: "" },
    "a = { trace = false, outputs = [] }",
  );
  expect([await project.run("a"), await project.run("a")]).toEqual(["ran", "hit"]);
  // The script has not read this file.
  await project.write({ unrelated: "" });
  expect([await project.run("a"), await project.run("a")]).toEqual(["ran", "hit"]);
});

/** A project whose rtfig.toml has these lines. */
const tasked = async (scripts: Readonly<Record<string, string>>, files: Files, ...lines: readonly string[]) =>
  await cachedProject(scripts, { ...files, "rtfig.toml": `${lines.join("\n")}\n` });

effect("tasks.*.cache", "selects a script of one package or of all; false excludes it", async () => {
  if (!CAN_TRACE) return;
  const scripts = { a: "cat file", b: "cat file", c: "cat file", d: "cat file" };
  await using project = await tasked(
    scripts,
    { file: "" },
    ...["[tasks.a]", "cache = true", '[tasks."other#b"]', "cache = true", '[tasks."?"]', "cache = true"],
    ...['[tasks."project#c"]', "cache = false", '[tasks."*#b"]', "cache = false", "[run.cache]", "c = true"],
  );
  const twice = async (script: string) => [await project.run(script), await project.run(script)];
  expect(await twice("a")).toEqual(["ran", "hit"]);
  expect(await twice("b")).toEqual(["ran", "ran"]);
  expect(await twice("c")).toEqual(["ran", "ran"]);
  expect(await twice("d")).toEqual(["ran", "hit"]);
});

effect("tasks.*.env", "lists the variables that a script gets", async () => {
  if (!CAN_TRACE) return;
  await using project = await tasked({ a: "echo $A$B" }, {}, "[tasks.a]", "cache = true", 'env = ["A"]');
  const { stdout, stderr } = await project.rt(["run", "a"], { A: "1", B: "2" });
  expect(stdout).toBe("1\n");
  expect(stderr).not.toContain("[run.cache]");
});

effect("tasks.*.inputs", "adds inputs that the script does not read", async () => {
  if (!CAN_TRACE) return;
  const files = { file: "", "more/x": "1" };
  await using project = await tasked(
    { a: "cat file" },
    files,
    "[tasks.a]",
    "cache = true",
    'inputs = ["more/**"]',
  );
  expect([await project.run("a"), await project.run("a")]).toEqual(["ran", "hit"]);
  await project.write({ "more/x": "2" });
  expect(await project.run("a")).toBe("ran");
});

effect("tasks.*.outputs", "adds outputs that the script does not change", async () => {
  if (!CAN_TRACE) return;
  const script = "test -e out || cp in out; cat out";
  const files = { in: "1", out: "1" };
  await using project = await tasked({ a: script }, files, "[tasks.a]", "cache = true", 'outputs = ["out"]');
  expect([await project.run("a"), await project.run("a")]).toEqual(["ran", "hit"]);
  await Bun.file(project.join("out")).delete();
  expect(await project.run("a")).toBe("hit");
  expect(await Bun.file(project.join("out")).text()).toBe("1");
});

effect("tasks.*.ignore", "excludes files from the inputs", async () => {
  if (!CAN_TRACE) return;
  const script = "cat file; date > log";
  const files = { file: "", log: "" };
  const ignore = 'ignore = ["file", "log"]';
  await using project = await tasked({ a: script }, files, "[tasks.a]", "cache = true", ignore);
  expect([await project.run("a"), await project.run("a")]).toEqual(["ran", "hit"]);
  await project.write({ file: "changed" });
  expect(await project.run("a")).toBe("hit");
});

effect("tasks.*.shared", "= false limits cache entries to one checkout", async () => {
  if (!CAN_TRACE) return;
  for (const [shared, second] of [
    ["true", "hit"],
    ["false", "ran"],
  ] as const) {
    await using project = await cachedProject({});
    for (const name of ["one", "two"])
      await project.write({
        [`${name}/package.json`]: { name: "project", scripts: { a: "cat source" } },
        [`${name}/rtfig.toml`]: `[tasks.a]\ncache = true\nshared = ${shared}\n`,
        [`${name}/source`]: "",
      });
    const run = async (name: string) =>
      (await project.rt(["--cwd", name, "run", "a"])).stderr.includes("Cached (saved ") ? "hit" : "ran";
    expect([await run("one"), await run("two"), await run("two")]).toEqual(["ran", second, "hit"]);
  }
});

effect("tasks.*.trace", "= false uses declared inputs", async () => {
  const lines = ["[tasks.a]", "cache = true", "trace = false", "outputs = []"];
  await using project = await tasked({ a: "cat source" }, { source: "" }, ...lines);
  expect([await project.run("a"), await project.run("a")]).toEqual(["ran", "hit"]);
});

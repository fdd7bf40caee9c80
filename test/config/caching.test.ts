// Keys of rtfig.toml for the script cache.
import { expect } from "bun:test";
import { cachedProject, CAN_TRACE } from "../cache/cached-project.ts";
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

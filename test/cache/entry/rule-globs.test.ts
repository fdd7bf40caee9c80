// Tests the globs of a rule in a project whose folder's name contains glob characters.
import { expect, test } from "bun:test";
import { runRt } from "../../support/rt.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

const SCRIPT = "cat cache/state out/x 2> /dev/null; mkdir -p out; date +%N > out/x";
const RULE = 'build = { inputs = ["cfg", "./more/*.txt"], outputs = ["out/**"], ignore = ["cache/**"] }';
const FILES = {
  "package.json": { name: "project", scripts: { build: SCRIPT } },
  "rtfig.toml": `[run.cache]\n${RULE}\n`,
  ...{ cfg: "1", "more/a.txt": "1", "more/b": "1", "cache/state": "1", "out/x": "0" },
};

test.skipIf(!CAN_TRACE).each([String.raw`!a[b]{c,d}*?\e`, String.raw`a\[b`, "a[b/c]d"])(
  "inputs, outputs and ignore are relative to the folder called %s",
  async (name) => {
    await using project = await cachedProject({});
    const write = async (files: Record<string, string | object>) => {
      for (const [path, text] of Object.entries(files)) await project.write({ [`${name}/${path}`]: text });
    };
    await write(FILES);
    const run = async () => {
      const { stdout, stderr, status } = await runRt({
        args: ["run", "build"],
        cwd: project.join(name),
        env: { XDG_CACHE_HOME: project.cache },
      });
      if (status !== 0 || stderr.includes("warn")) return stdout + stderr;
      return stderr.includes("Cached (saved ") ? "hit" : "ran";
    };
    expect([await run(), await run()]).toEqual(["ran", "hit"]);
    const changes: [path: string, answer: string][] = [
      ["cfg", "ran"],
      ["more/a.txt", "ran"],
      ["more/c.txt", "ran"],
      ["more/b", "hit"],
      ["cache/state", "hit"],
      ["out/x", "hit"],
    ];
    for (const [path, answer] of changes) {
      await write({ [path]: `changed ${path}` });
      expect([path, await run()]).toEqual([path, answer]);
    }
  },
);

test.skipIf(!CAN_TRACE)(
  "an escaped wildcard in inputs is literal, and ./! begins a name with an exclamation mark",
  async () => {
    await using project = await cachedProject(
      { build: "true" },
      { "[a]": "1", a: "1", "!b/x": "1", "c/d": "1" },
      String.raw`build = { inputs = ['\[a\]', "./!b*/x", "c/../c/./d/"] }`,
    );
    expect([await project.run("build"), await project.run("build")]).toEqual(["ran", "hit"]);
    for (const path of ["[a]", "!b/x", "!b2/x", "c/d"]) {
      await project.write({ [path]: "2" });
      expect([path, await project.run("build")]).toEqual([path, "ran"]);
    }
    await project.write({ a: "2", "c/e": "2" });
    expect(await project.run("build")).toBe("hit");
  },
);

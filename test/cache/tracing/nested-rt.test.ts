// rt in a traced script does not trace its scripts again. It warns if it would cache scripts of several packages.
import { expect, test } from "bun:test";
import { RT } from "../../support/rt.ts";
import { CAN_TRACE, cachedProject } from "../cached-project.ts";

test.skipIf(!CAN_TRACE)(
  "a cached script that starts cached scripts through rt is cached as a whole",
  async () => {
    await using project = await cachedProject(
      { outer: `${RT} run one && ${RT} --sequential run one two`, one: "cat in", two: "cat in > out" },
      { in: "text\n" },
      // rt probes the folders above the project, in which other tests create files.
      ["outer = { ignore = ['/**', '!**'] }", "one = true", "two = true"].join("\n"),
    );
    const run = async () => await project.rt(["run", "outer"]);
    const first = await run();
    expect(first).toMatchObject({ stdout: "text\none | text\n", status: 0 });
    expect(first.stderr).not.toContain("warn");
    expect((await project.rt(["cache"])).stdout).toStartWith("1 entry (");
    await Bun.file(project.join("out")).delete();
    const second = await run();
    expect(second).toMatchObject({ stdout: first.stdout, status: 0 });
    expect(second.stderr).toContain("Cached (saved");
    expect(await Bun.file(project.join("out")).text()).toBe("text\n");
  },
);

test.skipIf(!CAN_TRACE)(
  "a cached script of the root that starts those of the packages is named",
  async () => {
    const build = `${RT} run --filter='*' build`;
    const files = {
      "package.json": JSON.stringify({ workspaces: ["a"], scripts: { build } }),
      "rtfig.toml": "",
    };
    await using project = await cachedProject(
      {},
      { ...files, "a/package.json": '{ "name": "a", "scripts": { "build": "echo a" } }' },
    );
    const warningsWith = async (config: string) => {
      await project.write({ "rtfig.toml": `[tasks.build]\ncache = true\n${config}` });
      return (await project.rt(["run", "build"])).stderr.match(/^warning: .*$/gm);
    };
    expect(await warningsWith("")).toEqual([
      'warning: this run is inside the cached script "build", so all packages are one result; to cache each one, set cache = false in [tasks."//#build"]',
    ]);
    expect(await warningsWith('[tasks."//#build"]\ncache = false\n')).toBe(null);
  },
);

// Scripts that are not traced depend on their declared inputs: the files that git does not ignore, and those that the rule
// names.
import { expect, test } from "bun:test";
import { chmod, rm, writeFile } from "node:fs/promises";
import { cachedProject } from "../cached-project.ts";

const FILES = {
  "package.json": { name: "root", workspaces: ["app", "lib", "other"] },
  "bun.lock": "1",
  "app/package.json": {
    name: "app",
    scripts: { build: "mkdir -p dist && cat source > dist/out && echo built" },
    dependencies: { lib: "workspace:*" },
  },
  "app/source": "one",
  "app/tool.sh": "",
  "app/.gitignore": "dist\nlocal\n",
  "app/local": "",
  "lib/package.json": { name: "lib", dependencies: { other: "*" } },
  "lib/index.js": "",
  "other/package.json": { name: "other" },
  "other/index.js": "",
  "apart/file": "",
};
const RULE = 'build = { trace = false, inputs = ["../apart/**"], outputs = ["dist/**"], env = ["LEVEL"] }';

for (const hasGit of [true, false])
  test(`a script runs again only after a change of a declared input, ${hasGit ? "with" : "without"} git`, async () => {
    await using project = await cachedProject({}, { ...FILES }, RULE);
    await project.write({ "package.json": FILES["package.json"] });
    if (hasGit) Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
    const go = async (env = {}) => {
      const { stderr, stdout, status } = await project.rt(["--filter", "app", "--why", "run", "build"], env);
      expect({ stderr, status, stdout }).toMatchObject({
        status: 0,
        stdout: expect.stringContaining("built"),
      });
      const [, why] = /^app build: cache miss: (.*)$/m.exec(stderr) ?? [];
      return why ?? (stdout.includes("Cached (saved") ? "hit" : stderr);
    };
    expect(await go()).toBe("no earlier run");
    expect(await go()).toBe("hit");
    await rm(project.join("app/dist"), { recursive: true });
    expect(await go()).toBe("hit");
    expect(await Bun.file(project.join("app/dist/out")).text()).toBe("one");
    const changes: [name: string, why: string][] = [
      ["app/source", "app/source changed"],
      ["app/new", "app/new was added"],
      ["lib/index.js", "lib/index.js changed"],
      ["other/index.js", "other/index.js changed"],
      ["apart/file", "apart/file changed"],
      ["bun.lock", "bun.lock changed"],
    ];
    for (const [name, why] of changes) {
      await writeFile(project.join(name), `changed ${name}`);
      expect(await go()).toBe(why);
      expect([name, await go()]).toEqual([name, "hit"]);
    }
    await rm(project.join("app/new"));
    expect(await go()).toBe("app/new was removed");
    await chmod(project.join("app/tool.sh"), 0o755);
    expect(await go()).toBe("app/tool.sh changed");
    expect(await go({ LEVEL: "1" })).toBe("the variable LEVEL was added");
    await project.write({ "app/node_modules/x/index.js": "", "unrelated/file": "" });
    expect(await go({ LEVEL: "1" })).toBe("hit");
    await writeFile(project.join("app/local"), "changed");
    expect(await go({ LEVEL: "1" })).toBe(hasGit ? "hit" : "app/local changed");
  });

test("an untraced script is not cached when its rule names no outputs, or when an input changes during the run", async () => {
  await using project = await cachedProject(
    { silent: "cat source", edits: "echo x >> source", empty: "cat source" },
    { source: "" },
    "silent = { trace = false }\nedits = { trace = false, outputs = [] }\nempty = { trace = false, outputs = [] }",
  );
  for (const _ of [1, 2]) {
    const { stderr, status } = await project.rt(["run", "silent"]);
    expect({ stderr, status }).toEqual({
      status: 0,
      stderr: expect.stringContaining("a rule needs outputs, as in "),
    });
    expect(await project.run("edits")).toBe(
      "edits was not cached: source changed during the run; run it again",
    );
  }
  expect([await project.run("empty"), await project.run("empty")]).toEqual(["ran", "hit"]);
});

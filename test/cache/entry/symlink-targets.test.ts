// Declared inputs include the targets of symlinks.
import { expect, test } from "bun:test";
import { chmod, rm, symlink, unlink } from "node:fs/promises";
import { createProject } from "../../support/project.ts";
import { CAN_TRACE, type CachedProject, cachedProject } from "../cached-project.ts";

/** Each step has a label, a change, and whether the script runs after it. */
type Steps = readonly (readonly [what: string, act: () => Promise<unknown>, answer: "ran" | "hit"])[];

async function go(project: CachedProject, steps: Steps): Promise<void> {
  expect([await project.run("build"), await project.run("build")]).toEqual(["ran", "hit"]);
  for (const [what, act, answer] of steps) {
    await act();
    expect([what, await project.run("build")]).toEqual([what, answer]);
    expect([what, await project.run("build")]).toEqual([what, "hit"]);
  }
}

const DECLARED = 'build = { trace = false, inputs = ["cfg"], outputs = ["out"] }';
const TRACED = 'build = { inputs = ["cfg"], outputs = ["out"] }';
const RULES: [what: string, rule: string][] = [["an untraced", DECLARED]];
if (CAN_TRACE) RULES.push(["a traced", TRACED]);

test.each(RULES)("inputs of %s script include the targets of symlinks", async (_, rule) => {
  await using outside = await createProject({ real: "1", other: "1", "folder/sub/x": "1" });
  await using project = await cachedProject({ build: "echo made > out" }, { real: "1" }, rule);
  const linkTo = async (target: string) => {
    await rm(project.join("cfg"), { force: true });
    await symlink(target, project.join("cfg"));
  };
  await linkTo("middle");
  await symlink("real", project.join("middle"));
  await go(project, [
    ["the file changes", async () => await project.write({ real: "2" }), "ran"],
    ["the middle link has a target outside", async () => await moveMiddle(outside.join("real")), "ran"],
    ["the file outside changes", async () => await outside.write({ real: "2" }), "ran"],
    ["its permissions change", async () => await chmod(outside.join("real"), 0o755), "ran"],
    ["an unrelated file changes", async () => await outside.write({ other: "2" }), "hit"],
    ["the target is a folder", async () => await linkTo(outside.join("folder")), "ran"],
    ["a file in the folder changes", async () => await outside.write({ "folder/sub/x": "2" }), "ran"],
    ["a file in the folder is new", async () => await outside.write({ "folder/sub/y": "" }), "ran"],
    ["the link is its own target", async () => await linkTo("cfg"), "ran"],
    ["the target does not exist", async () => await linkTo(outside.join("none")), "ran"],
    ["the target is created", async () => await outside.write({ none: "" }), "ran"],
    ["the target is a device", async () => await linkTo("/dev/null"), "ran"],
    ["the target is an output of the script", async () => await linkTo("out"), "ran"],
    ["the output is deleted", async () => await rm(project.join("out")), "hit"],
  ]);

  async function moveMiddle(target: string): Promise<void> {
    await unlink(project.join("middle"));
    await symlink(target, project.join("middle"));
  }
});

test("declared inputs include targets of a package's symlinks inside and outside the project", async () => {
  await using outside = await createProject({ file: "1", "folder/sub/x": "1" });
  await using project = await cachedProject({}, { ".gitignore": "out\n" });
  const rule = "build = { trace = false, outputs = ['out'] }";
  await project.write({
    "package.json": { name: "root", workspaces: ["app"] },
    "app/package.json": { name: "app", scripts: { build: "cat link shared/x > out" } },
    "rtfig.toml": `[run.cache]\n${rule}\n`,
    ...{ "assets/x": "1", "assets/out": "1", unrelated: "1" },
  });
  await symlink(outside.join("file"), project.join("app/link"));
  await symlink("../assets", project.join("app/shared"));
  await symlink("..", project.join("app/root"));
  await symlink(outside.join("folder"), project.join("app/folder"));
  Bun.spawnSync(["git", "init", "-q"], { cwd: project.path });
  const run = async () => {
    const { stderr } = await project.rt(["--filter", "app", "--why", "run", "build"]);
    return /^app build: cache miss: (.*)$/m.exec(stderr)?.[1] ?? stderr;
  };
  expect(await run()).toBe("no earlier run");
  await outside.write({ file: "2" });
  expect(await run()).toBe(`${outside.join("file")} changed`);
  await outside.write({ "folder/sub/x": "2" });
  expect(await run()).toBe(`${outside.join("folder/sub/x")} changed`);
  await project.write({ "assets/x": "2" });
  expect(await run()).toBe("assets/x changed");
  await project.write({ "assets/new": "2" });
  expect(await run()).toBe("assets/new was added");
  await project.write({ unrelated: "2", "assets/out": "2" });
  expect(await run()).not.toMatch(/ changed$/m);
  expect(await Bun.file(project.join("app/out")).text()).toBe("22");
});

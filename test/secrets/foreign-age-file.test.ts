// An age file of another project: copied, behind a link, or under a copied identifier.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, mkdir, rename, symlink } from "node:fs/promises";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { trustOf } from "../support/trusted.ts";

const VALUE = "victim-93fd51c7";
const SCRIPTS = { show: "echo got $TOKEN" };
const CONFIG = '[secrets.TOKEN]\nfrom = "age:secrets.age"\nredact = false\n[run.secrets]\nshow = ["TOKEN"]\n';
const withId = (id: string) => `[project]\nid = "${id}"\n${CONFIG}`;

describe.skipIf(process.platform === "win32")("an age file of another project", () => {
  let key: string;
  /** The parent folder of all projects of a test. */
  let place: Project;
  let serial = 0;
  beforeAll(async () => {
    key = (await runRt({ args: ["secrets", "share", "new-key"] })).stdout;
    place = await createProject();
  });
  afterAll(() => place?.[Symbol.asyncDispose]());

  const env = (): Record<string, string> => ({ RT_AGE_KEY: key, HOME: place.path });
  const rt = (cwd: string, args: string[], extra = {}, stdin?: string) =>
    runRt({ args, cwd, env: { ...env(), ...extra }, stdin });
  const make = async (config: string, hasFile: boolean): Promise<string> => {
    const name = `project${++serial}`;
    await place.write({
      [`${name}/package.json`]: { name, scripts: SCRIPTS },
      [`${name}/rtfig.toml`]: config,
    });
    if (hasFile) expect(await set(place.join(name))).toMatchObject({ status: 0 });
    return place.join(name);
  };
  const set = (cwd: string, name = "TOKEN") =>
    rt(cwd, ["secrets", "set", "--file", "secrets.age", name], {}, VALUE);
  const show = async (cwd: string) =>
    await rt(cwd, ["--silent", "run", "show"], { RT_TRUST: await trustOf(cwd) });
  const read = (path: string) => Bun.file(path).text();
  /** Removes the project identifier from an age file, as in files of older versions. */
  const unbind = async (folder: string) => {
    await place.write({ "id.key": key });
    const age = (args: string[], stdin?: string) =>
      runRt({ program: ["age", ...args], cwd: folder, stdin, env: { PATH: process.env.PATH } });
    const { stdout } = await age(["--decrypt", "--identity", place.join("id.key"), "secrets.age"]);
    const { project, ...rest } = JSON.parse(stdout);
    const recipient = /age1\w+/.exec(key)![0];
    await age(["--encrypt", "--armor", "-r", recipient, "-o", "secrets.age"], JSON.stringify(rest));
    return project as string;
  };

  test("an age file that was copied into a trusted project is not decrypted for a script", async () => {
    const victim = await make(CONFIG, true);
    const own = await make(CONFIG, true);
    expect((await show(own)).stdout).toBe(`got ${VALUE}\n`);
    await cp(`${victim}/secrets.age`, `${own}/secrets.age`);
    const { stdout, stderr, status } = await show(own);
    expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
    expect(stderr).toMatch(
      /^error: secrets\.age belongs to another project, "project\d+-[0-9a-f]{16}"\nhint: restore the file of this project, "project\d+-[0-9a-f]{16}", from git\n$/,
    );
  });

  test("rt secrets neither reads nor changes a copied age file, but lists its names", async () => {
    const victim = await make(CONFIG, true);
    const own = await make(CONFIG, true);
    await cp(`${victim}/secrets.age`, `${own}/secrets.age`);
    const copied = await read(`${own}/secrets.age`);
    const other = /age1\w+/.exec((await runRt({ args: ["secrets", "share", "new-key"] })).stdout)![0];
    for (const args of [
      ["get", "--file", "secrets.age", "TOKEN"],
      ["set", "--file", "secrets.age", "NEW"],
      ["delete", "--file", "secrets.age", "TOKEN"],
      ["share", "add", other],
      ["share", "remove", /age1\w+/.exec(key)![0]],
      ["share", "bind", "--yes"],
    ])
      expect([args, await rt(own, ["secrets", ...args], {}, "x")]).toEqual([
        args,
        {
          stdout: "",
          stderr: expect.stringMatching(/^error: secrets\.age belongs to another project, /),
          status: 2,
        },
      ]);
    expect(await read(`${own}/secrets.age`)).toBe(copied);
    expect((await rt(own, ["secrets", "share", "list"])).stdout).toContain("secret\tTOKEN\n");
  });

  test("rt trust asks again and names the other folder when the identifier was copied too", async () => {
    const victim = await make(withId("the-victim-1234"), true);
    const own = await make(CONFIG, true);
    const allow = async (cwd: string, until: string) => {
      const variables = cleanEnvironment(env());
      await using terminal = startOnTerminal([RT, "trust"], variables, { cwd });
      await terminal.awaitOutput("Allow it? [y/N] ");
      terminal.type("y\r");
      await terminal.awaitOutput(until);
      expect(await terminal.awaitExit()).toBe(0);
      return terminal.shown.replaceAll("\r\n", "\n");
    };
    await allow(victim, "is allowed to read secrets");
    await allow(own, "is allowed to read secrets");
    expect((await rt(own, ["--silent", "run", "show"])).stdout).toBe(`got ${VALUE}\n`);
    await cp(`${victim}/secrets.age`, `${own}/secrets.age`);
    await Bun.write(`${own}/rtfig.toml`, withId("the-victim-1234"));
    const other = /age1\w+/.exec((await runRt({ args: ["secrets", "share", "new-key"] })).stdout)![0];
    expect(await rt(own, ["secrets", "share", "add", other])).toEqual({
      stdout: "",
      stderr: `error: ${own} has the identifier of "${victim}" and may not read its secrets\nhint: if this is a copy of that project, run rt trust\n`,
      status: 2,
    });
    const refused = await rt(own, ["--silent", "run", "show"]);
    expect(refused).toMatchObject({ stdout: "", status: 1 });
    expect(refused.stderr).toContain("is not allowed to read these secrets");
    expect(await allow(own, "is allowed to read secrets")).toContain(
      `  age files belong to the project "the-victim-1234"\n  "${victim}" has the same identifier: answer yes only if this is a copy of that project\n`,
    );
  });

  test("an age file stays valid in a clone and in a renamed folder", async () => {
    const own = await make(CONFIG, true);
    const clone = place.join("clone of it");
    await cp(own, clone, { recursive: true });
    expect((await show(clone)).stdout).toBe(`got ${VALUE}\n`);
    const renamed = place.join("renamed");
    await rename(clone, renamed);
    expect((await show(renamed)).stdout).toBe(`got ${VALUE}\n`);
    await mkdir(`${renamed}/sub`);
    const { stdout } = await rt(`${renamed}/sub`, ["secrets", "get", "--file", "../secrets.age", "TOKEN"]);
    expect(stdout).toBe(VALUE);
  });

  test("an age file without an identifier works after a question of rt secrets share bind", async () => {
    const own = await make(CONFIG, true);
    const id = await unbind(own);
    const old = await read(`${own}/secrets.age`);
    const refusal =
      "error: secrets.age is not bound to a project, so it may be a copy of another project's file\n" +
      "hint: check where it comes from, then bind it: rt secrets share bind --file secrets.age\n";
    expect(await show(own)).toEqual({ stdout: "", stderr: refusal, status: 1 });
    expect(await set(own, "NEW")).toEqual({ stdout: "", stderr: refusal, status: 2 });
    const bind = ["secrets", "share", "bind", "--file", "secrets.age"];
    expect(await rt(own, bind)).toMatchObject({
      stderr:
        "error: Cannot ask without a terminal, so nothing was bound\nhint: use --yes to skip the question\n",
      status: 2,
    });
    for (const answer of ["n", "y"]) {
      await using terminal = startOnTerminal([RT, ...bind], cleanEnvironment(env()), { cwd: own });
      await terminal.awaitOutput("TOKEN");
      await terminal.awaitOutput("Is secrets.age, with these secrets, a file of this project? [y/N] ");
      expect(await read(`${own}/secrets.age`)).toBe(old);
      terminal.type(`${answer}\r`);
      expect(await terminal.awaitExit()).toBe(answer === "y" ? 0 : 1);
    }
    expect(JSON.parse((await rt(own, ["secrets", "share", "list", "--json"])).stdout)).toMatchObject({
      project: id,
      secrets: ["TOKEN"],
    });
    expect((await show(own)).stdout).toBe(`got ${VALUE}\n`);
    expect(await rt(own, bind)).toMatchObject({ stdout: "", status: 0 });
  });

  test("an age file behind a symbolic link to a folder is rejected by scripts and by rt secrets", async () => {
    const victim = await make(withId("shared-id-1234"), true);
    await Bun.write(`${victim}/.env`, "DB_PASSWORD=correct-horse-9\n");
    const own = await make(
      withId("shared-id-1234").replace("age:secrets.age", "age:a/sub/secrets.age"),
      false,
    );
    await mkdir(`${own}/a`);
    await symlink(victim, `${own}/a/sub`);
    const behind = (path: string, link = "a/sub") =>
      `error: ${path} is behind a link, "${link}", which rt does not follow\nhint: `;
    const run = await show(own);
    expect(run).toMatchObject({ stdout: "", status: 1 });
    expect(run.stderr).toStartWith(behind(`${own}/a/sub/secrets.age`));
    for (const args of [
      ["get", "--file", "a/sub/secrets.age", "TOKEN"],
      ["list", "--file", "a/sub/secrets.age"],
      ["share", "list", "--file", `${own}/a/sub/secrets.age`],
      ["import", "a/sub/.env", "--all", "--yes", "--to=age:own.age"],
      ["import", "--undo", "a/sub/.env"],
      ["import", "a/sub/.env", "--dry-run"],
    ]) {
      const { stdout, stderr, status } = await rt(own, ["secrets", ...args]);
      expect([args, stdout, status]).toEqual([args, "", 2]);
      expect(stderr).toContain('is behind a link, "a/sub", which rt does not follow\n');
    }
    // The link is also detected in a path that goes up and down again.
    const { stderr } = await rt(`${own}/a`, ["secrets", "import", "../a/sub/.env", "--all", "--yes"]);
    expect(stderr).toStartWith(behind("../a/sub/.env"));
    expect(await read(`${victim}/.env`)).toBe("DB_PASSWORD=correct-horse-9\n");
  });

  test("an invalid project identifier is an error that names the line of rtfig.toml", async () => {
    const own = await make('[project]\nid = "a b"\n', false);
    expect(await set(own)).toMatchObject({
      stderr: expect.stringMatching(/^error: rtfig\.toml:2: project\.id needs 8 to 128 letters/),
      status: 2,
    });
  });
});

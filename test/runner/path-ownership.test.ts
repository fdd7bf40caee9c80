// Where rt makes links and files of its own: never where another user could exchange them, since what they lead to is run.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmod, chown, mkdir, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { placeRt } from "../support/programs/programs.ts";
import { createProject, type Project } from "../support/project.ts";
import { ABSENT, RT, runRt } from "../support/rt.ts";
import { isRoot, NOBODY } from "../support/users.ts";

describe.skipIf(process.platform === "win32")("links that rt makes", () => {
  let project: Project;
  beforeEach(async () => {
    project = await createProject({
      "package.json": { scripts: { where: "command -v node && true", who: "node who.js && true" } },
      "who.js": "console.log(typeof rt)",
      "evil/node": "#!/bin/sh\necho evil\n",
    });
    await chmod(project.join("evil/node"), 0o755);
    await placeRt(project.join("rt")); // whose links are its own
  });
  afterEach(async () => await project[Symbol.asyncDispose]());

  /** Where the directory of the links is, or what was said instead. */
  async function placeFor(env: Record<string, string>): Promise<string> {
    const result = await run("where", env);
    if (result.status !== 0) return result.stderr;
    const place = dirname(dirname(dirname(result.stdout.trim())));
    if (place === "/tmp") await rm(dirname(dirname(result.stdout.trim())), { recursive: true });
    return place;
  }

  const run = (script: string, env: Record<string, string>) =>
    runRt({
      program: [project.join("rt")],
      args: ["--silent", "--rt", "run", script],
      cwd: project.path,
      env,
    });

  /** A directory, the way to it, and who may do what with each. */
  async function make(
    path: string,
    steps: Record<string, { mode: number; owner?: number }>,
  ): Promise<string> {
    await mkdir(project.join(path), { recursive: true });
    for (const [step, { mode, owner = process.getuid!() }] of Object.entries(steps)) {
      await chown(project.join(step), owner, -1);
      await chmod(project.join(step), mode);
    }
    return project.join(path);
  }

  const elsewhere = { XDG_RUNTIME_DIR: "", TMPDIR: ABSENT };

  test("are in a directory that nobody else can change, down from the root", async () => {
    for (const [path, mode] of [
      ["own", 0o700],
      ["read", 0o755],
      ["sticky", 0o1777],
    ] as const) {
      const directory = await make(path, { [path]: { mode } });
      expect([path, await placeFor({ ...elsewhere, TMPDIR: directory })]).toEqual([path, directory]);
      expect([path, await placeFor({ ...elsewhere, XDG_RUNTIME_DIR: directory })]).toEqual([path, directory]);
    }
  });

  test.each([
    ["everybody's", "open", { open: { mode: 0o777 } }],
    ["a group's", "group", { group: { mode: 0o770 } }],
    ["in everybody's", "open/own", { open: { mode: 0o777 }, "open/own": { mode: 0o700 } }],
    ["far in everybody's", "open/a/b", { open: { mode: 0o777 }, "open/a": { mode: 0o700 } }],
  ])("are not in a directory that is %s", async (_, path, steps) => {
    const directory = await make(path, steps);
    for (const name of ["TMPDIR", "XDG_RUNTIME_DIR"])
      expect(await placeFor({ ...elsewhere, [name]: directory })).toBe("/tmp");
    expect(await readdir(directory)).toEqual([]);
  });

  test.skipIf(!isRoot).each([
    ["another user's", "theirs", { theirs: { mode: 0o700, owner: NOBODY } }],
    ["sticky, and another user's", "theirs", { theirs: { mode: 0o1777, owner: NOBODY } }],
    ["in another user's", "theirs/own", { theirs: { mode: 0o755, owner: NOBODY } }],
  ])("are not in a directory that is %s", async (_, path, steps) => {
    const directory = await make(path, steps);
    for (const name of ["TMPDIR", "XDG_RUNTIME_DIR"])
      expect(await placeFor({ ...elsewhere, [name]: directory })).toBe("/tmp");
    expect(await readdir(directory)).toEqual([]);
  });

  test("are not reached through somebody's link", async () => {
    const real = await make("real", { real: { mode: 0o700 } });
    await make("open", { open: { mode: 0o777 } });
    await symlink(real, project.join("open/link"));
    const { stdout } = await run("where", { ...elsewhere, TMPDIR: project.join("open/link") });
    // By where it is, so that nobody can lead the link elsewhere meanwhile.
    expect(stdout).toStartWith(`${real}/rt-links-`);
  });

  test("lead to rt, whatever lay there", async () => {
    const TMPDIR = await make("own", { own: { mode: 0o700 } });
    const link = (await run("where", { ...elsewhere, TMPDIR })).stdout.trim();
    expect(await readlink(link)).toBe(project.join("rt"));
    await rm(link);
    await symlink(project.join("evil/node"), link);
    expect(await run("who", { ...elsewhere, TMPDIR })).toEqual({ stdout: "object\n", stderr: "", status: 0 });
    await rm(link);
    await rename(project.join("evil/node"), link);
    expect(await run("who", { ...elsewhere, TMPDIR })).toEqual({ stdout: "object\n", stderr: "", status: 0 });
    expect(await readlink(link)).toBe(project.join("rt"));
  });

  test.skipIf(!isRoot)("are not in a directory of their name that is another user's", async () => {
    const TMPDIR = await make("sticky", { sticky: { mode: 0o1777 } });
    const link = (await run("where", { ...elsewhere, TMPDIR })).stdout.trim();
    for (const path of [dirname(link), dirname(dirname(link))]) {
      await chown(path, NOBODY, -1);
      const { stdout } = await run("where", { ...elsewhere, TMPDIR });
      expect(stdout).toStartWith("/tmp/rt-links-");
      await rm(dirname(dirname(stdout.trim())), { recursive: true });
      await chown(path, 0, -1);
    }
    expect((await run("where", { ...elsewhere, TMPDIR })).stdout.trim()).toBe(link);
  });

  test("are not in a directory that their name is only a link to", async () => {
    const TMPDIR = await make("sticky", { sticky: { mode: 0o1777 } });
    const directory = dirname(dirname((await run("where", { ...elsewhere, TMPDIR })).stdout.trim()));
    await rename(directory, project.join("away"));
    await symlink(project.join("away"), directory);
    expect(await placeFor({ ...elsewhere, TMPDIR })).toBe("/tmp");
  });

  describe("a copy of the configuration for the engine", () => {
    const start = async (TMPDIR: string, limit: string) => {
      await project.write({
        "a.ts": "console.log('ran')",
        "p.ts": "",
        "rtfig.toml": `preload = "./p.ts"\n[serve.static]\npublicPath = "/${"x".repeat(4000)}"\n`,
      });
      const program = ["bash", "-c", `ulimit -f ${limit}; exec "$0" "$@"`, RT];
      const env = { ...elsewhere, TMPDIR };
      return await runRt({ program, args: ["a.ts"], cwd: project.path, env });
    };

    test("is nobody's to read but the user's", async () => {
      const TMPDIR = await make("own", { own: { mode: 0o700 } });
      expect((await start(TMPDIR, "unlimited")).stdout).toBe("ran\n");
      const [path] = [...new Bun.Glob("rt-files-*/config-*").scanSync({ cwd: TMPDIR, absolute: true })];
      expect((await stat(path!)).mode & 0o777).toBe(0o600);
      expect((await stat(dirname(path!))).mode & 0o777).toBe(0o700);
    });

    test("is not left in part where there is no room for it", async () => {
      const TMPDIR = await make("own", { own: { mode: 0o700 } });
      const { stderr, status } = await start(TMPDIR, "1"); // blocks of 1024 bytes
      expect(stderr).toStartWith(`error: There is no place for files of rt's own: ${TMPDIR} (EFBIG)\n`);
      expect(status).toBe(1);
      expect([...new Bun.Glob("rt-files-*/*").scanSync(TMPDIR)]).toEqual([]);
    });
  });

  test.skipIf(!isRoot)("files for the engine are not in another user's directory either", async () => {
    const TMPDIR = await make("sticky", { sticky: { mode: 0o1777 } });
    await project.write({ "a.ts": "console.log('ran')" });
    const debug = () =>
      runRt({ args: ["--inspect=127.0.0.1:0", "a.ts"], cwd: project.path, env: { ...elsewhere, TMPDIR } });
    await make("sticky/rt-files-0", { "sticky/rt-files-0": { mode: 0o755, owner: NOBODY } });
    expect((await debug()).stdout).toContain("ran");
    expect(await readdir(project.join("sticky/rt-files-0"))).toEqual([]);
    await chown(project.join("sticky/rt-files-0"), 0, -1);
    expect((await debug()).stdout).toContain("ran");
    expect(await readdir(project.join("sticky/rt-files-0"))).not.toEqual([]);
  });
});

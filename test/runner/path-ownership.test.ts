// Tests the directories for links and files that rt creates and runs: never one where another user could replace
// them.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmod, chown, mkdir, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { placeRt } from "../support/programs/programs.ts";
import { createProject, type Project } from "../support/project.ts";
import { ABSENT, RT, runRt } from "../support/rt.ts";
import { isRoot, OTHER_USER_ID } from "../support/users.ts";

describe.skipIf(process.platform === "win32")("links that rt creates", () => {
  let project: Project;
  beforeEach(async () => {
    project = await createProject({
      "package.json": { scripts: { where: "command -v node && true", who: "node who.js && true" } },
      "who.js": "console.log(typeof rt)",
      "evil/node": "#!/bin/sh\necho evil\n",
    });
    await chmod(project.join("evil/node"), 0o755);
    await placeRt(project.join("rt")); // whose path is part of the links' names
  });
  afterEach(async () => await project[Symbol.asyncDispose]());

  /** Returns the directory that contains the links' directory, or standard error. */
  async function directoryOfLinks(env: Record<string, string>): Promise<string> {
    const result = await run("where", env);
    if (result.status !== 0) return result.stderr;
    const directory = dirname(dirname(dirname(result.stdout.trim())));
    if (directory === "/tmp") await rm(dirname(dirname(result.stdout.trim())), { recursive: true });
    return directory;
  }

  const run = (script: string, env: Record<string, string>) =>
    runRt({
      program: [project.join("rt")],
      args: ["--silent", "--rt", "run", script],
      cwd: project.path,
      env,
    });

  /** Creates a directory, and sets owner and mode of the directories on its path. */
  async function createDirectory(
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

  const unusable = { XDG_RUNTIME_DIR: "", TMPDIR: ABSENT };

  test("need a directory that no other user can change, from the root down", async () => {
    for (const [path, mode] of [
      ["own", 0o700],
      ["read", 0o755],
      ["sticky", 0o1777],
    ] as const) {
      const directory = await createDirectory(path, { [path]: { mode } });
      expect([path, await directoryOfLinks({ ...unusable, TMPDIR: directory })]).toEqual([path, directory]);
      expect([path, await directoryOfLinks({ ...unusable, XDG_RUNTIME_DIR: directory })]).toEqual([
        path,
        directory,
      ]);
    }
  });

  test.each([
    ["writable for all users", "open", { open: { mode: 0o777 } }],
    ["writable for a group", "group", { group: { mode: 0o770 } }],
    [
      "below one that all users can change",
      "open/own",
      { open: { mode: 0o777 }, "open/own": { mode: 0o700 } },
    ],
    [
      "far below one that all users can change",
      "open/a/b",
      { open: { mode: 0o777 }, "open/a": { mode: 0o700 } },
    ],
  ])("are not in a directory that is %s", async (_, path, steps) => {
    const directory = await createDirectory(path, steps);
    for (const name of ["TMPDIR", "XDG_RUNTIME_DIR"])
      expect(await directoryOfLinks({ ...unusable, [name]: directory })).toBe("/tmp");
    expect(await readdir(directory)).toEqual([]);
  });

  test.skipIf(!isRoot).each([
    ["another user's", "theirs", { theirs: { mode: 0o700, owner: OTHER_USER_ID } }],
    ["sticky and another user's", "theirs", { theirs: { mode: 0o1777, owner: OTHER_USER_ID } }],
    ["below another user's", "theirs/own", { theirs: { mode: 0o755, owner: OTHER_USER_ID } }],
  ])("are not in a directory that is %s", async (_, path, steps) => {
    const directory = await createDirectory(path, steps);
    for (const name of ["TMPDIR", "XDG_RUNTIME_DIR"])
      expect(await directoryOfLinks({ ...unusable, [name]: directory })).toBe("/tmp");
    expect(await readdir(directory)).toEqual([]);
  });

  test("use a path without the links of other users", async () => {
    const real = await createDirectory("real", { real: { mode: 0o700 } });
    await createDirectory("open", { open: { mode: 0o777 } });
    await symlink(real, project.join("open/link"));
    const { stdout } = await run("where", { ...unusable, TMPDIR: project.join("open/link") });
    // The real path: another user could redirect a link after the check.
    expect(stdout).toStartWith(`${real}/rt-links-`);
  });

  test("point to rt, whatever replaced them", async () => {
    const TMPDIR = await createDirectory("own", { own: { mode: 0o700 } });
    const link = (await run("where", { ...unusable, TMPDIR })).stdout.trim();
    expect(await readlink(link)).toBe(project.join("rt"));
    await rm(link);
    await symlink(project.join("evil/node"), link);
    expect(await run("who", { ...unusable, TMPDIR })).toEqual({ stdout: "object\n", stderr: "", status: 0 });
    await rm(link);
    await rename(project.join("evil/node"), link);
    expect(await run("who", { ...unusable, TMPDIR })).toEqual({ stdout: "object\n", stderr: "", status: 0 });
    expect(await readlink(link)).toBe(project.join("rt"));
  });

  test.skipIf(!isRoot)("avoid another user's directory with their name", async () => {
    const TMPDIR = await createDirectory("sticky", { sticky: { mode: 0o1777 } });
    const link = (await run("where", { ...unusable, TMPDIR })).stdout.trim();
    for (const path of [dirname(link), dirname(dirname(link))]) {
      await chown(path, OTHER_USER_ID, -1);
      const { stdout } = await run("where", { ...unusable, TMPDIR });
      expect(stdout).toStartWith("/tmp/rt-links-");
      await rm(dirname(dirname(stdout.trim())), { recursive: true });
      await chown(path, 0, -1);
    }
    expect((await run("where", { ...unusable, TMPDIR })).stdout.trim()).toBe(link);
  });

  test("avoid a directory that is a link", async () => {
    const TMPDIR = await createDirectory("sticky", { sticky: { mode: 0o1777 } });
    const directory = dirname(dirname((await run("where", { ...unusable, TMPDIR })).stdout.trim()));
    await rename(directory, project.join("away"));
    await symlink(project.join("away"), directory);
    expect(await directoryOfLinks({ ...unusable, TMPDIR })).toBe("/tmp");
  });

  describe("a copy of the configuration for the engine", () => {
    const start = async (TMPDIR: string, limit: string) => {
      await project.write({
        "a.ts": "console.log('ran')",
        "p.ts": "",
        "rtfig.toml": `preload = "./p.ts"\n[serve.static]\npublicPath = "/${"x".repeat(4000)}"\n`,
      });
      const program = ["bash", "-c", `ulimit -f ${limit}; exec "$0" "$@"`, RT];
      const env = { ...unusable, TMPDIR };
      return await runRt({ program, args: ["a.ts"], cwd: project.path, env });
    };

    test("stays unreadable for other users", async () => {
      const TMPDIR = await createDirectory("own", { own: { mode: 0o700 } });
      expect((await start(TMPDIR, "unlimited")).stdout).toBe("ran\n");
      const [path] = [...new Bun.Glob("rt-files-*/config-*").scanSync({ cwd: TMPDIR, absolute: true })];
      expect((await stat(path!)).mode & 0o777).toBe(0o600);
      expect((await stat(dirname(path!))).mode & 0o777).toBe(0o700);
    });

    test("leaves no partial file behind when the disk is full", async () => {
      const TMPDIR = await createDirectory("own", { own: { mode: 0o700 } });
      const { stderr, status } = await start(TMPDIR, "1"); // blocks of 1024 bytes
      expect(stderr).toStartWith(`error: Cannot create a private directory: ${TMPDIR} (EFBIG)\n`);
      expect(status).toBe(1);
      expect([...new Bun.Glob("rt-files-*/*").scanSync(TMPDIR)]).toEqual([]);
    });
  });

  test.skipIf(!isRoot)("stay out of another user's directory, like files for the engine", async () => {
    const TMPDIR = await createDirectory("sticky", { sticky: { mode: 0o1777 } });
    await project.write({ "a.ts": "console.log('ran')" });
    const debug = () =>
      runRt({ args: ["--inspect=127.0.0.1:0", "a.ts"], cwd: project.path, env: { ...unusable, TMPDIR } });
    await createDirectory("sticky/rt-files-0", {
      "sticky/rt-files-0": { mode: 0o755, owner: OTHER_USER_ID },
    });
    expect((await debug()).stdout).toContain("ran");
    expect(await readdir(project.join("sticky/rt-files-0"))).toEqual([]);
    await chown(project.join("sticky/rt-files-0"), 0, -1);
    expect((await debug()).stdout).toContain("ran");
    expect(await readdir(project.join("sticky/rt-files-0"))).not.toEqual([]);
  });
});

// Tests a read-only file system, another user's project and a missing TMPDIR. Operations that write nothing work; the
// others fail with one line.
import { describe, expect, test } from "bun:test";
import { chmod, mkdir, readdir, rm, symlink } from "node:fs/promises";
import { findProgram } from "../../build/system-programs.ts";
import { quoteArgument } from "../../src/shell-quoting.ts";
import { placeRt } from "../support/programs/programs.ts";
import { createProject, type Project } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { AS_OTHER_USER } from "../support/users.ts";

const isPosix = process.platform !== "win32";

describe.skipIf(!isPosix)("rt in a read-only project", () => {
  const files = {
    "package.json": {
      workspaces: ["packages/*"],
      scripts: { prego: "echo pre", go: "echo go && true" },
    },
    "packages/a/package.json": { name: "a", scripts: { build: "pwd | sed s,.*/,,", test: "echo tested a" } },
    "packages/b/package.json": { name: "b", scripts: { test: "echo tested b" } },
    "hello.ts": "const text: string = 'hello'; console.log(text, typeof rt.secrets.get);",
  };

  const open = async (): Promise<Project> => {
    const project = await createProject(files);
    await placeRt(project.join("rt"));
    for (const path of ["packages/a", "packages/b", "packages", "."]) await chmod(project.join(path), 0o555);
    return project;
  };

  test("runs files, code, scripts and workspaces, and writes nothing", async () => {
    const project = await open();
    try {
      const run = async (args: string[], stdin?: string) =>
        await runRt({ program: [...AS_OTHER_USER, project.join("rt")], args, cwd: project.path, stdin });
      const printed = (stdout: string) => ({ stdout, stderr: "", status: 0 });
      const hello = printed("hello function\n");
      expect(await run(["hello.ts"])).toEqual(hello);
      expect(await run(["--smol", "hello.ts"])).toEqual(hello);
      expect(await run(["-e", "console.log('hello', typeof rt.secrets.get)"])).toEqual(hello);
      expect(await run(["run", "-"], files["hello.ts"])).toEqual(hello);
      expect(await run(["--silent", "run", "go"])).toEqual(printed("pre\ngo\n"));
      expect((await run(["run", "--filter", "a", "build"])).stdout).toBe(
        "a build: a\na build: Exited with code 0\n",
      );
      expect(await run(["run", "--sequential", "--workspaces", "test"])).toMatchObject({
        stdout: "a:test | tested a\nb:test | tested b\n",
        status: 0,
      });
      const report = await run(["run", "--workspaces", "--report=report.json", "test"]);
      expect(report).toEqual({
        stdout: "",
        stderr: `error: Cannot write the report ${project.join("report.json")}: EACCES\nhint: --report needs a file in a directory that can be written to\n`,
        status: 1,
      });
      expect(await run(["debug-config", "vscode"])).toEqual({
        stdout: "",
        stderr: `error: Cannot write ${project.join(".vscode/launch.json")}: EACCES\n`,
        status: 1,
      });
      expect((await readdir(project.path)).sort()).toEqual(["hello.ts", "package.json", "packages", "rt"]);
    } finally {
      for (const path of [".", "packages", "packages/a", "packages/b"])
        await chmod(project.join(path), 0o755);
      await project[Symbol.asyncDispose]();
    }
  });
});

test.skipIf(!isPosix)("rt reports an unreadable file as unreadable, not as missing", async () => {
  const hello = "console.log('hello')";
  await using project = await createProject({
    "rt/x": "",
    "unlisted/hello.js": hello,
    "unread/hello.js": hello,
    "closed/inner/package.json": { scripts: { go: "echo go" } },
  });
  await placeRt(project.join("rt/rt"));
  await chmod(project.path, 0o755);
  const run = async (folder: string, ...args: string[]) => {
    // The shell changes the directory before the user.
    const line = `cd ${folder} && exec ${[...AS_OTHER_USER, project.join("rt/rt"), ...args].map(quoteArgument).join(" ")}`;
    const { stdout, stderr } = await runRt({ program: ["bash", "-c", line], cwd: project.path });
    return (stdout + stderr.split("\n\n")[0]).trimEnd();
  };
  await chmod(project.join("unlisted"), 0o311);
  await chmod(project.join("unread/hello.js"), 0o000);
  try {
    const unlisted = "hint: the directory that it is in cannot be listed";
    expect(await run("unlisted", "hello.js")).toBe(`error: Cannot run "hello.js"\n${unlisted}`);
    expect(await run("unlisted", "./hello.js")).toBe(`error: Cannot run "./hello.js"\n${unlisted}`);
    expect(await run("unlisted", "other.js")).toBe('error: Module not found "other.js"');
    expect(await run("unread", "hello.js")).toBe(
      `error: EACCES reading "${project.join("unread/hello.js")}"`,
    );
    await chmod(project.join("closed"), 0o000);
    expect(await run(".", "--cwd", "closed", "run", "go")).toBe(
      'error: Cannot work in "closed"\nhint: permission denied',
    );
    expect(await run(".", "--cwd", "nowhere", "run", "go")).toBe(
      'error: Cannot work in "nowhere"\nhint: --cwd needs a directory that exists',
    );
    if (AS_OTHER_USER.length > 0) {
      expect(await run("closed", "run", "go")).toBe(
        'error: Cannot read the configuration "rtfig.toml": permission denied',
      );
      expect(await run("closed/inner", "run", "go")).toBe(
        `error: Cannot read ${project.join("closed/inner/package.json")}: permission denied`,
      );
      expect(await run("closed/inner", "-e", "console.log(1)")).toBe("1");
    }
  } finally {
    for (const path of ["unlisted", "closed"]) await chmod(project.join(path), 0o755);
  }
});

describe.skipIf(!isPosix).concurrent("links to rt under other names", () => {
  /** A system with a shell and without Node.js. The separate rt has separate links. */
  const open = async () => {
    const project = await createProject({
      "package.json": {
        scripts: {
          plain: "echo plain && true",
          other: "echo other && true",
          node: "node -p 'process.argv0' && true",
        },
      },
      "programs/x": "",
      "tmp/x": "",
    });
    await placeRt(project.join("rt"));
    for (const name of ["bash", "sh"]) await symlink(findProgram(name), project.join("programs", name));
    const run = async (args: readonly string[], env: Record<string, string>) =>
      await runRt({
        program: [project.join("rt")],
        args: ["--silent", ...args],
        cwd: project.path,
        env: { PATH: project.join("programs"), TMPDIR: project.join("tmp"), ...env },
      });
    /** Returns the name of the links' directory. */
    const nameOf = async () => {
      await run(["--rt", "run", "plain"], {});
      return (await readdir(project.join("tmp"))).find((name) => name.startsWith("rt-links-"))!;
    };
    return { project, run, nameOf };
  };

  test("go to the next directory when the first is unusable", async () => {
    const { project, run, nameOf } = await open();
    await using _project = project;
    const ran = { stdout: "node\n", stderr: "", status: 0 };
    const name = await nameOf();
    expect(await run(["run", "node"], { XDG_RUNTIME_DIR: project.join("rt/run") })).toEqual(ran);
    expect(await run(["run", "node"], { TMPDIR: project.join("rt/tmp") })).toEqual(ran);
    await rm(`/tmp/${name}`, { recursive: true });
    // rt does not use a directory that others can write to.
    await mkdir(project.join("open", name), { recursive: true });
    await chmod(project.join("open", name), 0o777);
    expect(await run(["run", "node"], { TMPDIR: project.join("open") })).toEqual(ran);
    expect(await readdir(project.join("open", name))).toEqual([]);
    await rm(`/tmp/${name}`, { recursive: true });
  });

  test("remain absent without a usable directory, with a warning if --rt needs them", async () => {
    const { project, run, nameOf } = await open();
    await using _project = project;
    const name = await nameOf();
    const taken = ["/tmp", "/var/tmp", "/dev/shm"].map((place) => `${place}/${name}`);
    for (const path of taken) await Bun.write(path, "").catch(() => {});
    try {
      const env = { TMPDIR: project.join("rt/tmp") };
      expect(await run(["run", "plain"], env)).toEqual({ stdout: "plain\n", stderr: "", status: 0 });
      expect(await run(["run", "bash", "-c", "echo $0"], env)).toMatchObject({ stdout: "bash\n", status: 0 });
      expect(await run(["run", "node"], env)).toMatchObject({ status: 127 });
      const warning = `warning: --rt cannot replace "node" for child processes. Cannot create a private directory: ${env.TMPDIR} (ENOTDIR)\n`;
      const warned = (stdout: string) => ({ stdout, stderr: warning, status: 0 });
      expect(await run(["--rt", "run", "plain"], env)).toEqual(warned("plain\n"));
      const { stderr } = await run(["--rt", "--parallel", "plain", "other"], env);
      expect(stderr.match(/^warning.*\n/gm)).toEqual([warning]);
      expect(await run(["--rt", "-p", "typeof rt"], env)).toEqual(warned("object\n"));
      const tool = "#!/usr/bin/env node\nconsole.log(typeof rt)\n";
      await project.write({ "node_modules/.bin/tool": tool, "a.js": tool });
      await chmod(project.join("node_modules/.bin/tool"), 0o755);
      expect(await run(["--rt", "run", "tool"], env)).toEqual(warned("object\n"));
      expect(await run(["--rt", "a.js"], env)).toEqual(warned("object\n"));
    } finally {
      for (const path of taken) await rm(path, { force: true });
    }
  });
});

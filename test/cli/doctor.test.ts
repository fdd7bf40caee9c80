// `rt doctor` of the installation: every possible problem is created, and the report names it with a remedy.
import { describe, expect, test } from "bun:test";
import { chmod, copyFile, mkdir, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { createProject, type Files, type Project } from "../support/project.ts";
import { ABSENT, type Environment, RT, runRt } from "../support/rt.ts";
import { AS_OTHER_USER } from "../support/users.ts";

interface Check {
  readonly name: string;
  readonly status: string;
  readonly found: string;
  readonly remedy?: string;
}

async function examine(project: Project, env: Environment = {}, program: readonly string[] = [RT]) {
  const { stdout, stderr, status } = await runRt({
    program: [...program, "doctor", "--json"],
    cwd: project.path,
    env: { XDG_CACHE_HOME: project.join("cache"), ...env },
  });
  expect(stderr).toBe("");
  const { installation } = JSON.parse(stdout) as { installation: Check[] };
  return { status, of: (name: string) => installation.find((check) => check.name === name)! };
}

async function examineIn(files: Files, env?: Environment) {
  await using project = await createProject(files);
  const { of, status } = await examine(project, env);
  return { of, status, path: project.path };
}

describe.skipIf(process.platform === "win32").concurrent("rt doctor says of the installation", () => {
  test("rt doctor reports the version and no problem when the installation is sound", async () => {
    const { of } = await examineIn({}, { PATH: `${dirname(RT)}:${process.env.PATH}`, RT_CONCURRENCY: "2" });
    expect(of("version").found).toMatch(/^rt \d+\.\d+\.\d+, with Bun \d+\.\d+\.\d+ \([0-9a-f]{9}\), /);
    expect(of("program").found).toBe(RT);
    expect(of("PATH")).toMatchObject({ status: "ok", found: expect.stringContaining(`rt is ${RT}`) });
    expect(of("shell")).toMatchObject({ status: "ok", found: expect.stringMatching(/\/(?:ba|z)?sh$/) });
    expect(of("variables").found).toBe("RT_CONCURRENCY");
    for (const name of ["debugger", "open files"]) expect(of(name).status).toBe("ok");
    const many = Object.fromEntries(
      Array.from({ length: 14 }, (_, index) => [`RT_${index + 10}`, "a value"]),
    );
    const names = Object.keys(many).slice(0, 12).join(", ");
    expect((await examineIn({}, many)).of("variables").found).toBe(`${names} and 2 more`);
  });

  test("rt doctor warns when PATH has no rt, or another one first", async () => {
    const { of } = await examineIn({}, { PATH: ABSENT });
    expect(of("PATH")).toEqual({
      name: "PATH",
      status: "warning",
      found: "rt is not in PATH",
      remedy: `add ${dirname(RT)} to PATH`,
    });
    await using other = await createProject({ rt: "#!/bin/sh\n" }, ["rt"]);
    const shadowed = await examineIn({}, { PATH: `${other.path}:${dirname(RT)}` });
    expect(shadowed.of("PATH")).toMatchObject({
      status: "warning",
      found: `rt in PATH is another executable: ${other.join("rt")}`,
      remedy: `remove it, or put ${dirname(RT)} before ${other.path} in PATH`,
    });
    const behind = await examineIn({}, { PATH: `${dirname(RT)}:${other.path}` });
    expect(behind.of("PATH").found).toBe(`rt is ${RT}; it shadows ${other.join("rt")}`);
    // A link to this rt is the same program.
    await using linked = await createProject();
    await symlink(RT, linked.join("rt"));
    const { of: found } = await examine(linked, { PATH: linked.path });
    expect(found("PATH")).toMatchObject({ status: "ok", found: `rt is ${linked.join("rt")}` });
  });

  test("rt doctor lists configured keys without their values", async () => {
    const { of, path } = await examineIn({
      "rtfig.toml":
        '[install.registry]\nurl = "https://x.example"\ntoken = "very-secret"\n[run]\nshell = "rt"\n',
    });
    const { found, status } = of("configuration");
    expect(status).toBe("ok");
    expect(found).toStartWith(`${path}/rtfig.toml sets install.registry`);
    expect(found).toEndWith("run.shell");
    expect(found).not.toContain("secret");
  });

  test("rt doctor fails with exit code 1 for an invalid rtfig.toml", async () => {
    const { of, status } = await examineIn({ "rtfig.toml": '[run]\nshel = "rt"\n' });
    expect(of("configuration")).toEqual({
      name: "configuration",
      status: "problem",
      found: 'rtfig.toml:2: Unknown key "run.shel"',
      remedy: "did you mean run.shell?",
    });
    expect(status).toBe(1);
  });

  test("rt doctor names the inherited rtfig.toml files and which of them apply", async () => {
    await using project = await createProject({
      "rtfig.toml": "",
      "shop/rtfig.toml": "",
      "shop/package.json": { workspaces: ["web"] },
      "shop/web/package.json": {},
      "shop/other/package.json": {},
    });
    const found = async (folder: string) => {
      const { stdout } = await runRt({ args: ["doctor", "--json"], cwd: project.join(folder) });
      const { installation } = JSON.parse(stdout) as { installation: Check[] };
      return installation.find(({ name }) => name === "configuration")!.found;
    };
    const [own, above] = [project.join("shop/rtfig.toml"), project.join("rtfig.toml")];
    expect(await found("shop/web")).toBe(
      `No rtfig.toml in this folder; secrets and [run.cache] come from the root project's ${own}; ${above} is not used for this folder`,
    );
    // Not a workspace member, so no root project applies.
    expect(await found("shop/other")).toBe(
      `No rtfig.toml in this folder; ${own} is not used for this folder; ${above} is not used for this folder`,
    );
  });

  test("rt doctor reports the size of the cache and warns when it is unusable", async () => {
    await using project = await createProject({ "cache/x": "" });
    const { of } = await examine(project);
    expect(of("cache").found).toMatch(/^The cache is empty \(.*\/cache\/rt\/scripts-\d+\)$/);
    const directory = of("cache").found.replace(/^The cache is empty \(|\)$/g, "");
    await mkdir(directory, { recursive: true });
    await Bun.write(`${directory}/blob`, new Uint8Array(2_500_000));
    expect((await examine(project)).of("cache").found).toBe(`2.5 MB in ${directory}`);
    const nowhere = await examine(project, { HOME: undefined, XDG_CACHE_HOME: undefined });
    expect(nowhere.of("cache")).toMatchObject({ status: "warning", remedy: "set HOME or XDG_CACHE_HOME" });
    const blocked = await examine(project, { XDG_CACHE_HOME: project.join("cache/x") });
    expect(blocked.of("cache")).toMatchObject({
      status: "warning",
      found: expect.stringContaining("(ENOTDIR)"),
    });
  });

  test("rt doctor warns about a cache and a temporary directory without write permission", async () => {
    await using project = await createProject({ "cache/x": "", "tmp/x": "" });
    await chmod(project.path, 0o755);
    for (const name of ["cache", "tmp"]) await chmod(project.join(name), 0o555);
    const { of } = await examine(project, { TMPDIR: project.join("tmp") }, [...AS_OTHER_USER, RT]);
    expect(of("cache")).toMatchObject({
      status: "warning",
      found: expect.stringMatching(/^Cannot write to .*\/cache\/rt\/scripts-\d+ \(EACCES\)$/),
    });
    expect(of("debugger").found).toBe(`Cannot write to ${project.join("tmp")} (EACCES)`);
    for (const name of ["cache", "tmp"]) await chmod(project.join(name), 0o755);
  });

  test("rt doctor warns about a missing temporary directory and a low limit of open files", async () => {
    const { of } = await examineIn({}, { TMPDIR: ABSENT });
    expect(of("debugger")).toEqual({
      name: "debugger",
      status: "warning",
      found: `Cannot write to ${ABSENT} (ENOENT)`,
      remedy: "set TMPDIR to a writable folder",
    });
    await using project = await createProject();
    const few = await examine(project, {}, ["sh", "-c", 'ulimit -n 200; exec "$0" "$@"', RT]);
    expect(few.of("open files")).toMatchObject({ status: "warning", found: "limit 200" });
  });

  test("rt doctor escapes control characters of names", async () => {
    await using project = await createProject({ "\u001b]0;x\u0007/rt": "" });
    const evil = project.join("\u001b]0;x\u0007");
    await copyFile("/bin/sh", `${evil}/rt`);
    await chmod(`${evil}/rt`, 0o755);
    const { stdout } = await runRt({ args: ["doctor"], cwd: project.path, env: { PATH: evil } });
    expect(stdout).toContain("\\u001b]0;x\\u0007/rt");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toMatch(
      /^warning {2}PATH {14}rt in PATH is another executable: .*\n {27}remove it, or put /m,
    );
  });

  test.skipIf(process.platform !== "linux")("rt doctor reports the inotify limits", async () => {
    const { of } = await examineIn({});
    expect(of("file watching").found).toMatch(/^\d+ watches, \d+ inotify instances available$/);
  });
});

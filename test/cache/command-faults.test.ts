// `rt cache` prints one error line and exits with 1 if its directory is unusable or belongs to another user.
import { describe, expect, test } from "bun:test";
import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { RT } from "../support/rt.ts";
import { AS_OTHER_USER } from "../support/users.ts";
import { type CachedProject, cachedProject } from "./cached-project.ts";

const HINT = "hint: give the folder back to this user, or set XDG_CACHE_HOME\n";
const COMMANDS = ["status", "why t", "prune", "prune --size=0", "clear"];

async function filled(): Promise<CachedProject & { readonly store: string }> {
  const project = await cachedProject({ t: "echo" });
  expect(await project.run("t")).toBe("ran");
  const [, store] = / in (.*)\n/.exec((await project.rt(["cache"])).stdout)!;
  return { ...project, store: store! };
}

const rtCache = async (project: CachedProject, command: string, env = {}) =>
  await project.rt(["cache", ...command.split(" ")], env);

test("rt cache reports an empty cache when XDG_CACHE_HOME is a file", async () => {
  await using project = await cachedProject({ t: "echo" });
  await project.write({ file: "" });
  const env = { XDG_CACHE_HOME: project.join("file") };
  expect(await rtCache(project, "clear", env)).toEqual({
    stdout: "The cache is empty\n",
    stderr: "",
    status: 0,
  });
  expect((await rtCache(project, "status", env)).stdout).toStartWith("The cache is empty (");
});

test("rt cache fails when the store is a file, and rt cache clear removes that file", async () => {
  await using project = await filled();
  await rm(project.store, { recursive: true });
  await Bun.write(project.store, "");
  for (const command of COMMANDS.slice(0, -1)) {
    const { stderr, status } = await rtCache(project, command);
    expect(stderr).toMatch(/^error: The cache cannot be used: .*\nhint: .*\n$/);
    expect(status).toBe(1);
  }
  expect((await rtCache(project, "clear")).status).toBe(0);
  expect(await project.run("t")).toBe("ran");
  expect(await project.run("t")).toBe("hit");
});

describe.skipIf(AS_OTHER_USER.length === 0)("cache of another user:", () => {
  const asOther = async (project: CachedProject, command: string) => {
    const child = Bun.spawnSync([...AS_OTHER_USER, RT, "cache", ...command.split(" ")], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", XDG_CACHE_HOME: project.cache },
    });
    return { stdout: `${child.stdout}`, stderr: `${child.stderr}`, status: child.exitCode };
  };

  test.each(COMMANDS)("rt cache %s fails with one error and one hint", async (command) => {
    await using project = await filled();
    for (const path of [project.cache, join(project.cache, "rt")]) await chmod(path, 0o755);
    const { stdout, stderr, status } = await asOther(project, command);
    expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
    expect(stderr).toMatch(/^error: The cache cannot be used: .*\n/);
    expect(stderr).toEndWith(HINT);
    expect(stderr.split("\n")).toHaveLength(3);
    await chmod(project.cache, 0o700);
    // A directory that rt may not read can have entries, so `rt cache clear` must not report success.
    expect((await asOther(project, command)).status).toBe(1);
    expect(await project.run("t")).toBe("hit");
  });
});

test.each(["status", "clear"])(
  "rt cache %s rejects a script name and leaves the cache unchanged",
  async (word) => {
    await using project = await filled();
    expect(await rtCache(project, `${word} t`)).toEqual({
      stdout: "",
      stderr: `error: Unexpected argument "t"\nhint: rt cache ${word} applies to the whole cache\n`,
      status: 1,
    });
    expect(await project.run("t")).toBe("hit");
  },
);

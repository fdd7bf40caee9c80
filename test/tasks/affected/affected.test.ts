// `rt run --affected`: selects the packages that git reports as changed, and their dependents.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { scripts, workspace } from "../../support/workspace.ts";

describe("rt run --affected", () => {
  const git = (cwd: string, ...args: string[]) =>
    Bun.$`git -c user.name=t -c user.email=t@example.org ${args}`.cwd(cwd).quiet();

  test("selects packages that changed since a commit, and their dependents", async () => {
    await using project = await createProject(
      workspace({
        core: scripts("echo core"),
        ui: { ...scripts("echo ui"), dependencies: { core: "*" } },
        other: scripts("echo other"),
      }),
    );
    await git(project.path, "init", "-q", "-b", "main");
    await git(project.path, "add", ".");
    await git(project.path, "commit", "-qm", "first");
    const run = async (...args: string[]) => {
      const { stdout, stderr, status } = await runRt({
        args: ["run", "--dry-run", ...args, "t"],
        cwd: project.path,
      });
      return status === 0
        ? stdout
            .split("\n")
            .filter((line) => / t( |$)/.test(line))
            .map((line) => line.split(" ")[0])
        : stderr;
    };
    expect(await run("--affected=main")).toEqual([]);
    await project.write({ "packages/core/new file.txt": "x" });
    expect(await run("--affected")).toEqual(["core", "ui"]);
    expect(await run("--affected", "--filter", "!ui")).toEqual(["core"]);
    await git(project.path, "checkout", "-qb", "topic");
    await git(project.path, "add", ".");
    await git(project.path, "commit", "-qm", "second");
    expect(await run("--affected=main")).toEqual(["core", "ui"]);
    await project.write({ "README.md": "x" });
    expect(await run("--affected=HEAD")).toEqual([]);
    for (const name of [
      "bun.lock",
      "npm-shrinkwrap.json",
      "pnpm-lock.yaml",
      "yarn.lock",
      "package-lock.json",
    ]) {
      await project.write({ [name]: "x" });
      expect(await run("--affected=HEAD")).toEqual(["core", "other", "ui"]);
      await rm(project.join(name));
      expect(await run("--affected=HEAD")).toEqual([]);
    }
    await project.write({ ".git/info/exclude": "*.log\n", "packages/other/a.log": "x" });
    expect(await run("--affected=HEAD")).toEqual([]);
    // Commits on the other branch since the merge base do not count.
    await git(project.path, "checkout", "-q", "main");
    await project.write({ "packages/other/theirs.txt": "x" });
    await git(project.path, "add", "packages/other/theirs.txt");
    await git(project.path, "commit", "-qm", "theirs");
    await git(project.path, "checkout", "-q", "topic");
    expect(await run("--affected=main")).toEqual(["core", "ui"]);
    await git(project.path, "mv", "packages/core/new file.txt", "packages/other/moved.txt");
    expect(await run("--affected=HEAD")).toEqual(["core", "other", "ui"]);
    expect(await run("--affected=nowhere")).toBe(
      'error: Unknown git revision "nowhere"\nhint: fetch it or use --affected=<ref>\n',
    );
  });

  test("compares with the remote's default branch", async () => {
    await using project = await createProject(workspace({ a: scripts("echo a"), b: scripts("echo b") }));
    const { path } = project;
    const commit = async () => {
      await git(path, "add", ".");
      await git(path, "commit", "-qm", "one more");
    };
    await git(path, "init", "-q", "-b", "main");
    await commit();
    await git(path, "checkout", "-qb", "topic");
    await project.write({ "packages/a/x": "" });
    await commit();
    await git(path, "update-ref", "refs/remotes/origin/trunk", "HEAD");
    await git(path, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk");
    await project.write({ "packages/b/x": "" });
    await commit();
    const { stdout } = await runRt({ args: ["--silent", "run", "--affected", "t"], cwd: path });
    expect(stdout).toBe("b t: b\nb t: Exited with code 0\n");
  });

  test("runs no hook and no monitor of the repository, and does not change its index", async () => {
    await using project = await createProject(workspace({ a: scripts("echo a"), b: scripts("echo b") }));
    const { path } = project;
    const evil = `#!/bin/sh\necho ran >> ${project.join("ran")}\n`;
    await project.write({ "hooks/monitor": evil, "hooks/post-index-change": evil });
    await Bun.$`chmod +x hooks/monitor hooks/post-index-change`.cwd(path);
    await git(path, "init", "-q", "-b", "main");
    await git(path, "add", ".");
    await git(path, "commit", "-qm", "first");
    await git(path, "config", "core.fsmonitor", project.join("hooks/monitor"));
    await git(path, "config", "core.hooksPath", project.join("hooks"));
    await project.write({ "packages/a/package.json": `{"name":"a","scripts":{"t":"echo changed"}}` });
    const { stdout } = await runRt({ args: ["run", "--affected", "--dry-run", "t"], cwd: path });
    expect(stdout).toContain("echo changed");
    expect(existsSync(project.join("ran"))).toBe(false);
    await git(path, "status"); // proves that the hooks work
    expect(existsSync(project.join("ran"))).toBe(true);
  });

  test("refuses a bare repository that is a folder of another repository", async () => {
    await using project = await createProject({ "inner/package.json": scripts("echo a") });
    await git(project.path, "init", "-q", "--bare", "inner");
    await git(project.path, "-C", "inner", "config", "core.bare", "false");
    await git(project.path, "-C", "inner", "config", "core.worktree", project.join("inner"));
    const cwd = project.join("inner");
    expect((await git(cwd, "rev-parse", "--show-toplevel")).exitCode).toBe(0);
    const { stderr, status } = await runRt({ args: ["run", "--affected=HEAD", "t"], cwd });
    expect({ stderr, status }).toEqual({
      stderr: `error: git rev-parse failed in ${cwd}: cannot use bare repository '${cwd}' (safe.bareRepository is 'explicit')\n`,
      status: 1,
    });
  });

  test("assigns a file to the innermost package around it", async () => {
    await using project = await createProject({
      "package.json": { name: "root", workspaces: ["packages/**"] },
      "packages/outer/package.json": { name: "outer", scripts: { t: "true" } },
      "packages/outer/inner/package.json": { name: "inner", scripts: { t: "true" } },
    });
    await git(project.path, "init", "-q");
    await git(project.path, "add", ".");
    await git(project.path, "commit", "-qm", "first");
    await project.write({ "packages/outer/inner/a.ts": "" });
    const { stdout: plan } = await runRt({
      args: ["run", "--dry-run=json", "--affected=HEAD", "t"],
      cwd: project.path,
    });
    const { tasks } = JSON.parse(plan) as { tasks: { package: string }[] };
    expect(tasks.map((task) => task.package)).toEqual(["inner"]);
  });
});

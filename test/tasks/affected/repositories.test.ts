// --affected with packages that are nested repositories: git reports each of them as one path, its directory.
import { expect, test } from "bun:test";
import { createProject, type Project } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { scripts } from "../../support/workspace.ts";

const git = (cwd: string, ...args: string[]) =>
  Bun.$`git -c user.name=t -c user.email=t@example.org -c protocol.file.allow=always ${args}`
    .cwd(cwd)
    .quiet();

async function commitAll(cwd: string): Promise<void> {
  await git(cwd, "add", ".");
  await git(cwd, "commit", "-qm", "one more");
}

async function affectedSince(project: Project, reference: string): Promise<string[]> {
  const { stdout } = await runRt({
    args: ["run", "--filter", "*", `--affected=${reference}`, "--dry-run=json", "t"],
    cwd: project.join("root"),
  });
  return (JSON.parse(stdout) as { tasks: { package: string }[] }).tasks.map((task) => task.package);
}

/** `a` depends on `sub`; `b` depends on neither. @param patterns of the root's workspace */
async function createRepository(...patterns: string[]): Promise<Project> {
  const project = await createProject({
    "root/package.json": { name: "root", workspaces: patterns },
    "root/packages/a/package.json": { name: "a", ...scripts("echo a"), dependencies: { sub: "*" } },
    "root/packages/b/package.json": { name: "b", ...scripts("echo b") },
  });
  await git(project.path, "init", "-q", "root");
  return project;
}

test("a package that is a submodule is affected by changed files in it and by a different commit", async () => {
  await using project = await createRepository("packages/*");
  await project.write({
    "origin/package.json": { name: "sub", ...scripts("echo sub") },
    "origin/a.ts": "1",
  });
  await git(project.path, "init", "-q", "origin");
  await commitAll(project.join("origin"));
  await git(project.join("root"), "submodule", "--quiet", "add", project.join("origin"), "packages/sub");
  await commitAll(project.join("root"));
  expect(await affectedSince(project, "HEAD")).toEqual([]);

  const inside = project.join("root/packages/sub");
  await project.write({ "root/packages/sub/a.ts": "2" });
  expect(await affectedSince(project, "HEAD")).toEqual(["sub", "a"]);
  await git(inside, "checkout", "-q", "a.ts");
  expect(await affectedSince(project, "HEAD")).toEqual([]);
  await project.write({ "root/packages/sub/new.ts": "" });
  expect(await affectedSince(project, "HEAD")).toEqual(["sub", "a"]);
  await commitAll(inside);
  expect(await affectedSince(project, "HEAD")).toEqual(["sub", "a"]);
  await commitAll(project.join("root"));
  expect(await affectedSince(project, "HEAD")).toEqual([]);
  expect(await affectedSince(project, "HEAD~1")).toEqual(["sub", "a"]);
});

test("a package that is an untracked repository is affected", async () => {
  await using project = await createRepository("packages/*");
  await commitAll(project.join("root"));
  await project.write({ "root/packages/sub/package.json": { name: "sub", ...scripts("echo sub") } });
  await git(project.path, "init", "-q", "root/packages/sub");
  await commitAll(project.join("root/packages/sub"));
  expect(await affectedSince(project, "HEAD")).toEqual(["sub", "a"]);
});

test("an untracked repository affects every package in it", async () => {
  await using project = await createRepository("packages/*", "others/libs/*");
  await commitAll(project.join("root"));
  await project.write({
    "root/others/libs/sub/package.json": { name: "sub", ...scripts("echo sub") },
    "root/others/libs/c/package.json": { name: "c", ...scripts("echo c") },
  });
  await git(project.path, "init", "-q", "root/others");
  await commitAll(project.join("root/others"));
  expect(await affectedSince(project, "HEAD")).toEqual(["c", "sub", "a"]);
});

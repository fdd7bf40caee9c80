// Filters with a git revision, as in `--filter '...[origin/main]'`.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { createProject, type Project } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { scripts, workspace } from "../../support/workspace.ts";

const git = (cwd: string, ...args: string[]) =>
  Bun.$`git -c user.name=t -c user.email=t@example.org ${args}`.cwd(cwd).quiet();

const member = (name: string, ...needed: string[]) => ({
  name,
  scripts: { t: "true" },
  dependencies: Object.fromEntries(needed.map((each) => [each, "workspace:*"])),
});

/**
 * Five commits and a changed file. `main` is the second commit; the third changes docs, the fourth web. The file is core's.
 * web -> ui -> core, @acme/api -> core; docs and tool depend on nothing.
 */
async function createRepository(): Promise<Project> {
  const project = await createProject({
    "package.json": { name: "root", workspaces: ["packages/*", "apps/*"], scripts: { t: "true" } },
    "packages/core/package.json": member("core"),
    "packages/ui/package.json": member("ui", "core"),
    "packages/tool/package.json": member("tool"),
    "apps/web/package.json": member("web", "ui"),
    "apps/api/package.json": member("@acme/api", "core"),
    "apps/docs/package.json": member("docs"),
  });
  const { path } = project;
  const commit = async (file: string) => {
    await project.write({ [file]: "x" });
    await git(path, "add", ".");
    await git(path, "commit", "-qm", "one more");
  };
  await git(path, "init", "-q", "-b", "main");
  await commit("README.md");
  await commit("packages/core/a");
  await git(path, "tag", "tagged");
  await git(path, "update-ref", "refs/remotes/origin/main", "HEAD");
  await git(path, "checkout", "-qb", "topic");
  await commit("apps/docs/a");
  await commit("apps/web/a");
  await project.write({ "packages/core/a": "y" });
  return project;
}

/** Returns the names of the selected packages, or the standard error. */
async function select({ path }: Project, ...filters: string[]): Promise<string[] | string> {
  const options = filters.flatMap((filter) => ["--filter", filter]);
  const args = ["run", ...options, "--dry-run=json", "t"];
  const { stdout, stderr, status } = await runRt({ args, cwd: path });
  if (status !== 0) return stderr;
  const { tasks } = JSON.parse(stdout) as { tasks: { package: string }[] };
  return tasks.map((task) => task.package).toSorted();
}

describe("a filter with a git revision", () => {
  test("selects what pnpm 9.15 selects in the same repository", async () => {
    await using project = await createRepository();
    const rows: Record<string, string> = {
      "[HEAD]": "core",
      "[HEAD^1]": "core web",
      "[HEAD~2]": "core docs web",
      "[main]": "core docs web",
      "[origin/main]": "core docs web",
      "[tagged]": "core docs web",
      "...[HEAD^1]": "@acme/api core ui web",
      "...[origin/main]": "@acme/api core docs ui web",
      "...^[HEAD]": "@acme/api ui web",
      "[main]...": "core docs ui web",
      "[main]^...": "core ui",
      "...[HEAD]...": "@acme/api core ui web",
      "web[HEAD^1]": "web",
      "docs[HEAD^1]": "",
      "w*[main]": "web",
      "@acme/*[main]": "",
      "...web[HEAD^1]": "web",
      "web[HEAD^1]...": "core ui web",
      "web[HEAD^1]^...": "core ui",
      "{packages}[HEAD~1]": "core",
      "{apps}[HEAD~2]": "docs web",
      "{apps}[main]...": "core docs ui web",
      "[main...HEAD]": "docs web",
      "[HEAD~1...topic]": "web",
    };
    const seen = await Promise.all(
      Object.keys(rows).map(async (filter) => [filter, [await select(project, filter)].flat().join(" ")]),
    );
    expect(Object.fromEntries(seen)).toEqual(rows);
  });

  test("selects what pnpm cannot select: globs of folders, changed dependencies; the root only by its name", async () => {
    await using project = await createRepository();
    const expected: readonly [filters: string[], packages: string[]][] = [
      [["{packages/*}[HEAD~1]"], ["core"]],
      [["w*{apps/*}[HEAD~2]"], ["web"]],
      // turbo's form: a package that has changed, or of which a dependency has changed.
      [["web...[HEAD]"], ["web"]],
      [["docs...[HEAD]"], []],
      [["![main]"], ["@acme/api", "tool", "ui"]],
      [
        ["[HEAD^1]", "docs", "!web[HEAD^1]"],
        ["core", "docs"],
      ],
      [["root[HEAD]"], []],
    ];
    for (const [filters, packages] of expected)
      expect([filters, await select(project, ...filters)]).toEqual([filters, packages]);
    await project.write({ "package.json": `${await Bun.file(project.join("package.json")).text()}\n` });
    expect(await select(project, "root[HEAD]")).toEqual(["root"]);
    // It affects every package, as for --affected.
    expect(await select(project, "[HEAD]")).toEqual(["@acme/api", "core", "docs", "tool", "ui", "web"]);
  });

  test("counts untracked files, and not the commits of others since the branch left", async () => {
    await using project = await createRepository();
    const { path } = project;
    await git(path, "stash", "-q");
    await git(path, "checkout", "-q", "main");
    await project.write({ "packages/tool/theirs": "" });
    await git(path, "add", ".");
    await git(path, "commit", "-qm", "theirs");
    await git(path, "checkout", "-q", "topic");
    await project.write({ "packages/ui/new": "" });
    expect(await select(project, "[main]")).toEqual(["docs", "ui", "web"]);
  });

  test("runs nothing and succeeds when nothing has changed, but not when a name or script is wrong", async () => {
    await using project = await createProject(workspace({ a: scripts("echo a"), b: scripts("echo b") }));
    const { path: cwd } = project;
    await git(cwd, "init", "-q", "-b", "main");
    await git(cwd, "add", ".");
    await git(cwd, "commit", "-qm", "first");
    const run = async (...args: string[]) => await runRt({ args: ["run", ...args], cwd });
    expect(await run("--filter", "...[main]", "t")).toMatchObject({
      status: 0,
      stdout: "",
      stderr: "warning: No package is affected\n",
    });
    expect(await run("--filter", "b", "--filter", "[main]", "t")).toMatchObject({
      status: 0,
      stdout: "b t: b\nb t: Exited with code 0\n",
      stderr: "",
    });
    expect(await run("--filter", "none[main]", "t")).toMatchObject({
      status: 1,
      stderr: 'error: No workspace packages matched the filter "none[main]"\n',
    });
    expect(await run("--filter", "[main]", "none")).toMatchObject({
      status: 1,
      stderr: 'error: Script "none" not found in 2 packages matching "[main]"\n',
    });
    await project.write({ "packages/a/new": "" });
    expect((await run("--filter", "[main]", "t")).stdout).toBe("a t: a\na t: Exited with code 0\n");
  });

  test("prints one error when git has no such revision, and never passes it to git as an option", async () => {
    await using project = await createRepository();
    const hint = "hint: fetch it or use --filter '[<ref>]'\n";
    const attack = "--output=out";
    const expectUnknown = async (revision: string, filter = `[${revision}]`) =>
      expect(await select(project, filter)).toBe(`error: Unknown git revision "${revision}"\n${hint}`);
    for (const revision of ["nowhere", "HEAD:package.json", attack, "--no-index", `HEAD ${attack}`])
      await expectUnknown(revision);
    for (const filter of [`web[${attack}]`, `[HEAD...${attack}]`, `[${attack}...HEAD]`])
      await expectUnknown(attack, filter);
    for (const directory of ["", "packages/core", "apps/web"])
      expect(existsSync(project.join(directory, "out"))).toBe(false);
    expect(await select(project, "[]")).toBe(
      'error: Filter "[]" names no git revision\nhint: use a name, a ./path, a {directory} or a [git revision]\n',
    );
    expect(await select(project, "[main]", "[nowhere]", "[nowhere]")).toBe(
      `error: Unknown git revision "nowhere"\n${hint}`,
    );
  });

  test("names the option that needs git outside of a repository", async () => {
    await using project = await createProject(workspace({ a: scripts("echo a") }));
    const env = { GIT_CEILING_DIRECTORIES: project.join("..") };
    const { stderr, status } = await runRt({
      args: ["run", "--filter", "[main]", "t"],
      cwd: project.path,
      env,
    });
    expect([status, stderr]).toEqual([
      1,
      `error: git rev-parse failed in ${project.path}: not a git repository (or any of the parent directories): .git\n` +
        "hint: a git revision in --filter needs a git repository with a commit\n",
    ]);
  });

  // A run of as many scripts is memoized: its selection is not computed again.
  test("selects again when a file has changed since runs of the same command", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    await using project = await createProject({
      ...workspace(Object.fromEntries([...names, "late"].map((name) => [name, scripts(`echo ${name}`)]))),
      "rtfig.toml": "[run.cache]\nt = true\n",
    });
    await using caches = await createProject({});
    const { path: cwd } = project;
    await git(cwd, "init", "-q", "-b", "main");
    await git(cwd, "add", ".");
    await git(cwd, "commit", "-qm", "first");
    const env = { XDG_CACHE_HOME: caches.path };
    const run = async () => (await runRt({ args: ["run", "--filter", "[main]", "t"], cwd, env })).stdout;
    await project.write(Object.fromEntries(names.map((name) => [`packages/${name}/new`, ""])));
    for (let round = 0; round < 4; round += 1) expect(await run()).not.toContain("late");
    await project.write({ "packages/late/new": "" });
    expect(await run()).toContain("late t: late");
  });
});

// Failures of git under --affected: rt prints git's message and a hint.
import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { createProject, type Project } from "../../support/project.ts";
import { type Environment, runRt } from "../../support/rt.ts";
import { scripts, workspace } from "../../support/workspace.ts";

async function refuse({ path }: Project, env?: Environment) {
  const { stdout, stderr, status } = await runRt({
    args: ["run", "--affected=HEAD", "t"],
    cwd: path,
    env,
  });
  return { stdout, lines: stderr.replaceAll(path, "$P").split("\n").slice(0, -1), status };
}

test("a repository of another user fails with git's hint to trust it", async () => {
  await using project = await createProject(workspace({ a: scripts("echo a") }));
  await Bun.$`git init -q`.cwd(project.path);
  // git's variable for its own tests
  expect(await refuse(project, { GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" })).toEqual({
    stdout: "",
    lines: [
      "error: git rev-parse failed in $P: detected dubious ownership in repository at '$P'",
      "hint: another user owns the repository; if you trust it: git config --global --add safe.directory $P",
    ],
    status: 1,
  });
});

test("a folder outside a git repository is an error with a hint", async () => {
  await using project = await createProject(workspace({ a: scripts("echo a") }));
  const { lines, status } = await refuse(project);
  expect(status).toBe(1);
  expect(lines).toEqual([
    expect.stringMatching(/^error: git rev-parse failed in \$P: not a git repository \(or any /),
    "hint: --affected needs a git repository with a commit",
  ]);
});

test("a missing git is an error with a hint", async () => {
  await using project = await createProject({ ...workspace({ a: scripts("echo a") }), "bin/x": "" });
  expect(await refuse(project, { PATH: project.join("bin") })).toEqual({
    stdout: "",
    lines: ["error: Cannot start git: no such program", "hint: install git, which --affected needs"],
    status: 1,
  });
});

test("git runs with English messages, and rt prints its error as one line", async () => {
  const script = String.raw`printf 'warning: one\nfatal: \033[2J%s\r::x\n' "$LC_ALL" >&2; exit 128`;
  await using project = await createProject({
    ...workspace({ a: scripts("echo a") }),
    "bin/git": `#!/bin/sh\n${script}\n`,
  });
  chmodSync(project.join("bin/git"), 0o755);
  expect(await refuse(project, { PATH: project.join("bin"), LC_ALL: "de_DE.UTF-8" })).toEqual({
    stdout: "",
    lines: [String.raw`error: git rev-parse failed in $P: \u001b[2JC\r::x`],
    status: 1,
  });
});

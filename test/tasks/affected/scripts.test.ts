// --affected with a script that only some packages have: changes decide which scripts run, not whether the run fails.
import { expect, test } from "bun:test";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";

async function createRepository() {
  const project = await createProject({
    "package.json": { workspaces: ["app", "docs"] },
    "app/package.json": { name: "app", scripts: { test: "echo tested" } },
    "docs/package.json": { name: "docs" },
  });
  const git = (...args: string[]) =>
    Bun.$`git -c user.name=me -c user.email=me@example.com ${args}`.cwd(project.path).quiet();
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", ".");
  await git("commit", "--quiet", "--message=first");
  return project;
}

test("succeeds when the changed packages lack the script but another package has it", async () => {
  await using project = await createRepository();
  await project.write({ "docs/page.md": "new" });
  expect(await runRt({ args: ["run", "--affected", "test"], cwd: project.path })).toEqual({
    stdout: "",
    stderr: "warning: No affected package has such a script\n",
    status: 0,
  });
  await project.write({ "app/code.ts": "" });
  const { stdout, status } = await runRt({ args: ["run", "--affected", "test"], cwd: project.path });
  expect({ stdout, status }).toEqual({
    stdout: "app test: tested\napp test: Exited with code 0\n",
    status: 0,
  });
});

test("fails when no package has the script, whether changed or not", async () => {
  await using project = await createRepository();
  const { stderr, status } = await runRt({ args: ["run", "--affected", "tset"], cwd: project.path });
  expect({ stderr, status }).toEqual({
    stderr: 'error: Script "tset" not found in 2 packages\nhint: did you mean "test"?\n',
    status: 1,
  });
});

// Hints for filters that a shell has expanded.
import { expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";

test("the hint for a * that the shell expanded to file names contains the first of them", async () => {
  await using project = await createProject({
    "package.json": { workspaces: ["packages/*"] },
    "packages/app/package.json": { name: "app", scripts: { build: "echo built" } },
    "apps.md": "",
  });
  const run = async (line: string) => {
    const { stdout, stderr, exitCode } = await Bun.$`sh -c ${line}`
      .cwd(project.path)
      .env(cleanEnvironment({ RT }))
      .nothrow()
      .quiet();
    return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
  };
  expect(await run('"$RT" run --filter * build')).toEqual({
    stdout: "",
    stderr:
      'error: No workspace packages matched the filter "apps.md"\n' +
      "hint: \"apps.md\" is a file in this folder: quote a * ('*'), and write a folder as ./apps.md or {apps.md}\n",
    exitCode: 1,
  });
  expect((await run('"$RT" run --filter "*" build')).stdout).toContain("app build: built\n");
});

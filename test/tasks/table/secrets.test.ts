// Secrets of a run with dependencies of [tasks].
import { expect, test } from "bun:test";
import { createProject } from "../../support/project.ts";
import { runRt } from "../../support/rt.ts";
import { packageWith } from "../../support/workspace.ts";

test("--secret is for the requested task, and rows grant secrets to those that it depends on", async () => {
  const show = "echo ${#A} ${#B}";
  await using project = await createProject({
    ...packageWith({ build: show, test: show }),
    "rtfig.toml":
      '[tasks.test]\ndepends-on = ["build"]\n[secrets.A]\nfrom = "a/b"\n[secrets.B]\nfrom = "a/c"\n[run.secrets]\nbuild = ["B"]\n',
  });
  const env = { A: "correct horse", B: "battery staple" };
  const args = ["run", "--secret=A", "test"];
  const { stdout, status } = await runRt({ args, cwd: project.path, env });
  expect({ stdout, status }).toEqual({
    stdout: "build: 0 14\nbuild: Exited with code 0\ntest: 13 0\ntest: Exited with code 0\n",
    status: 0,
  });
});

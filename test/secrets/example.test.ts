// Runs the steps of examples/dotenv: a token moves from `.env` to a real keyring, and one script gets it.
import { expect, test } from "bun:test";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { startKeyring } from "../support/keyring/keyring.ts";
import { createProject } from "../support/project.ts";
import { REPOSITORY, RT, runRt } from "../support/rt.ts";

const TOKEN = "k7Qw-3fzT-91xB-pL0e";

test.skipIf(process.platform !== "linux")("examples/dotenv goes from .env to the keyring", async () => {
  await using keyring = await startKeyring();
  await using project = await createProject();
  const cwd = project.join("example");
  await cp(join(REPOSITORY, "examples/dotenv"), cwd, { recursive: true });
  await Bun.$`ln -s ${RT} ${project.join("rt")}`.quiet();
  const env: Record<string, string> = { ...keyring.env, PATH: `${project.path}:${process.env.PATH}` };
  const run = (...args: string[]) => runRt({ args, cwd, env });
  const given = "https://reports.example/: a token of 19 characters\n";

  expect((await run("run", "report")).stdout).toBe(given);
  expect((await run("run", "lint")).stdout).toBe(given);
  expect(await run("secrets", "check")).toEqual({
    stdout: ".env:3: variable REPORT_TOKEN\n",
    stderr: "",
    status: 1,
  });

  expect((await run("secrets", "import", ".env", "--script", "report", "--yes")).status).toBe(0);
  expect(await Bun.file(join(cwd, ".env")).text()).not.toContain(TOKEN);
  expect(await run("secrets", "check")).toEqual({ stdout: "", stderr: "", status: 0 });

  const refused = await run("run", "report");
  expect(refused).toMatchObject({ stdout: "", status: 1 });
  env.RT_TRUST = /RT_TRUST=(\S+)/.exec(refused.stderr)![1]!;
  expect((await run("run", "report")).stdout).toBe(given);
  expect((await run("run", "lint")).stdout).toBe("https://reports.example/: no token\n");
});

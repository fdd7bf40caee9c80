// Tests secrets of scripts in the Windows binary, from the Credential Manager.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import { createProject, type Project } from "../support/project.ts";
import { hashIn } from "../support/trusted.ts";
import { canRunWindows, openWindows, type Windows } from "../support/programs/windows.ts";

const FILES = {
  "package.json": { name: "app", scripts: { show: "echo got $TOKEN", other: "echo got $TOKEN" } },
  "rtfig.toml": '[secrets.TOKEN]\nfrom = "acme/npm"\nredact = false\n[run.secrets]\nshow = ["TOKEN"]\n',
  "file.ts": "console.log(process.env.TOKEN, Bun.env.token)",
};

describe.skipIf(!canRunWindows)("secrets of scripts on Windows", () => {
  let windows: Windows;
  let project: Project;
  beforeAll(async () => {
    [windows, project] = await Promise.all([openWindows(), createProject(FILES)]);
  }, PREPARATION_TIMEOUT);
  afterAll(async () => {
    await windows?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });
  const run = async (args: string[], env = {}) => {
    const { stdout, stderr, status } = await windows.run({
      // The test compares the values.
      args: ["--silent", "--no-redact", ...args],
      cwd: project.path,
      env,
    });
    return { stdout: stdout.replaceAll("\r\n", "\n"), stderr, status };
  };

  test("reach only the granted script, after the project has a trust record", async () => {
    const missing = await run(["run", "--no-redact", "--secret", "TOKEN=acme/npm", "file.ts"]);
    expect([missing.status, missing.stderr]).toEqual([1, expect.stringContaining("rt secrets set acme npm")]);
    await windows.run({ args: ["secrets", "set", "acme", "npm"], cwd: project.path, input: "värde 1" });
    const refused = await run(["run", "show"]);
    const trust = { RT_TRUST: hashIn({ stderr: refused.stderr.replaceAll("\r", "") }) };
    expect([refused.stdout, refused.status]).toEqual(["", 1]);
    expect(await run(["run", "show"], trust)).toMatchObject({ stdout: "got värde 1\n", status: 0 });
    expect(await run(["run", "other"], trust)).toMatchObject({ stdout: "got\n", status: 0 });
    const file = await run(["run", "--no-redact", "--secret", "TOKEN=acme/npm", "file.ts"]);
    expect(file).toMatchObject({ stdout: "värde 1 värde 1\n", status: 0 });
    const many = await run(["run", "--sequential", "show", "other"], trust);
    expect(many.stdout).toBe("show  | got värde 1\nother | got\n");
    const described = await windows.run({ args: ["secrets", "env"], cwd: project.path });
    expect(described.stdout).toMatch(/^TOKEN  stored +acme\/npm  show\r?$/m);
  });
});

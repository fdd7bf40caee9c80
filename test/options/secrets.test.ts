// --secret gives a secret of the credential store to one target of the command line.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prove } from "./prove.ts";
import { type Keyring, startKeyring } from "../support/keyring/keyring.ts";
import { createProject, type Project } from "../support/project.ts";
import { type RtResult, runRt } from "../support/rt.ts";

const VALUE = "líne one\nline two ";
const FILES = {
  "package.json": { scripts: { show: 'printf %s "$TOKEN"', preshow: "echo before $TOKEN" } },
  "file.ts": "process.stdout.write(`${process.env.TOKEN}|${Bun.env.TOKEN}`)",
  ".env": "TOKEN=from .env\n",
  "node_modules/.bin/binary": '#!/bin/sh\nprintf %s "$TOKEN"',
};

describe.skipIf(process.platform !== "linux")("--secret", () => {
  let keyring: Keyring;
  let project: Project;
  beforeAll(async () => {
    [keyring, project] = await Promise.all([
      startKeyring(),
      createProject(FILES, ["node_modules/.bin/binary"]),
    ]);
    await keyring.run(["secret-tool", "store", "--label=a", "service", "acme", "account", "npm/x"], VALUE);
  });
  afterAll(async () => {
    await keyring?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });
  const run = (args: string[], env = {}): Promise<RtResult> =>
    runRt({ args: ["--no-redact", ...args], cwd: project.path, env: { ...keyring.env, ...env } });
  const OPTION = "--secret=TOKEN=acme/npm/x";

  prove("secret", "gives a value to any target and wins over .env and the environment", async () => {
    const targets = [
      [["run", OPTION, "printenv", "TOKEN"], `${VALUE}\n`],
      [["run", OPTION, "binary"], VALUE],
      [["run", OPTION, "file.ts"], `${VALUE}|${VALUE}`],
      [[OPTION, "file.ts"], `${VALUE}|${VALUE}`],
      [[OPTION, "--smol", "file.ts"], `${VALUE}|${VALUE}`],
      [[OPTION, "-p", "process.env.TOKEN"], `${VALUE}\n`],
    ] as const;
    const results = await Promise.all(targets.map(([args]) => run([...args], { TOKEN: "inherited" })));
    for (const [index, [, stdout]] of targets.entries())
      expect(results[index]).toEqual({ stdout, stderr: "", status: 0 });
  });

  prove("no-redact", "shows a value that is redacted otherwise", async () => {
    const args = ["--silent", "run", OPTION, "show"];
    const start = { cwd: project.path, env: keyring.env };
    expect((await runRt({ args, ...start })).stdout).toBe("before\n[TOKEN]");
    expect((await runRt({ args: ["--no-redact", ...args], ...start })).stdout).toBe(`before\n${VALUE}`);
  });

  prove("secret", "gives a value to a script, but not to its hooks", async () => {
    const { stdout } = await run(["--silent", "run", OPTION, "show"]);
    expect(stdout).toBe(`before\n${VALUE}`);
  });

  test("missing secrets are reported with the commands that store them, and nothing runs", async () => {
    const options = ["--secret", "TOKEN=acme/none", "--secret", "OTHER=-x y/it's", "--silent"];
    expect(await run(["run", ...options, "show"])).toEqual({
      stdout: "",
      stderr:
        "error: Missing secrets: TOKEN, OTHER\n" +
        "hint: rt secrets set acme none\n" +
        String.raw`hint: rt secrets set -- '-x y' 'it'\''s'` +
        "\n",
      status: 1,
    });
  });

  test("invalid names and names that control programs are rejected, and a possible value is never repeated", async () => {
    const cases = [
      [
        "1X=a/b",
        'error: --secret: "1X" is not a variable name: use letters, digits and _, without a leading digit\n',
      ],
      ["A\u001bB=a/b", String.raw`error: --secret: "A\u001bB" is not a variable name`],
      [
        "LD_PRELOAD=a/b",
        'error: --secret: "LD_PRELOAD" controls programs, so a secret cannot have this name\n',
      ],
      ["path=a/b", "controls programs"],
      ["NODE_OPTIONS=a/b", "controls programs"],
      ["BUN_CONFIG=a/b", "controls programs"],
      ["__proto__=a/b", "controls programs"],
      ["TOKEN=ghp_7f3a", 'error: --secret TOKEN needs "service/name", the address in the credential store\n'],
      ["TOKEN=/ghp_7f3a", "error: --secret TOKEN is not an address: service must not be empty\n"],
      ["=a/b", "error: --secret needs the name of a variable\n"],
      ["TOKEN", "error: --secret TOKEN: the project's rtfig.toml has no [secrets.TOKEN]\n"],
    ] as const;
    const results = await Promise.all(cases.map(([word]) => run(["run", "--secret", word, "show"])));
    for (const [index, [, message]] of cases.entries()) {
      const { stdout, stderr, status } = results[index]!;
      expect([stdout, stderr.includes(message) ? message : stderr, status]).toEqual(["", message, 1]);
      expect(stderr).not.toContain("7f3a");
    }
  });

  test("names that only resemble controlling names are accepted", async () => {
    const { stderr } = await run(["run", "--secret", "BUN_AUTH_TOKEN=acme/none", "show"]);
    expect(stderr).toContain("BUN_AUTH_TOKEN");
    expect(stderr).not.toContain("controls programs");
  });
});

// Credentials in the project's `.git/config`, which tasks with permissions can read.
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";

const VALUE = "c2VjcmV0";
const PASSWORD = "hunter2";
const TOKEN = "ghp_0123456789abcdefghij";

const CONFIG = `[core]
\trepositoryformatversion = 0
[http "https://github.com/"]
\textraheader = AUTHORIZATION: basic ${VALUE}
[http]
\textraHeader = "X-Trace: 1"
[remote "origin"]
\turl = https://user:${PASSWORD}@git.example/a.git
\tpushurl = https://user@git.example/a.git
[remote "token"]
\turl = https://${TOKEN}@github.com/a/b.git
[remote "plain"]
\turl = ssh://git@github.com:22/a/b.git
[url "https://x:${PASSWORD}@github.com/"] insteadOf = https://github.com/
`;
const KEYS =
  "http.https://github.com/.extraheader, remote.origin.url, remote.token.url, url.https://***@github.com/.insteadOf, submodule.token";

test.skipIf(process.platform !== "linux")(
  "a credential in .git/config gets one warning, which has its key and no value; with --locked nothing starts",
  async () => {
    await using project = await createProject({
      "package.json": { scripts: { prea: "true", a: "echo started" } },
      ".git/config": CONFIG,
      ".git/modules/b/config": `[submodule]\n\ttoken = ${PASSWORD}\n`,
    });
    const run = (...options: string[]) =>
      runRt({ args: ["run", "--silent", ...options, "a"], cwd: project.path });
    const warned = await run("--permissions");
    expect([warned.stdout, warned.stderr]).toEqual([
      "started\n",
      `warning: tasks with permissions can read the credential in .git/config (${KEYS}), because git needs the file; use persist-credentials: false with actions/checkout, or git config --unset-all\n`,
    ]);
    expect(await run("--no-permissions")).toMatchObject({ stdout: "started\n", stderr: "" });
    expect(await run("--permissions", "--locked")).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining(`--locked: tasks with permissions can read the credential`) as string,
      status: 1,
    });
    // A task may have replaced the file: rt does not wait for a writer of the pipe.
    rmSync(project.join(".git/config"));
    rmSync(project.join(".git/modules"), { recursive: true });
    expect(Bun.spawnSync(["mkfifo", project.join(".git/config")]).exitCode).toBe(0);
    expect(await run("--permissions", "--locked")).toMatchObject({ stdout: "started\n", stderr: "" });
  },
);

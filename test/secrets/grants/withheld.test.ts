// Secrets in the environment, as in CI: scripts without a grant do not get them, and all output is redacted.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { createProject, type Project } from "../../support/project.ts";
import { type Environment, runRt } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";

const VALUE = "value-of-the-environment";
const SHOW = "sh -c 'echo \"$npm_lifecycle_event has ${TOKEN-nothing}\"'";
const READ = "sh -c 'echo \"$npm_lifecycle_event reads $(cat leaked)\"'";

describe.skipIf(process.platform === "win32")("secrets of the environment", () => {
  let project: Project;
  beforeAll(async () => {
    project = await createProject({
      "rtfig.toml": `[secrets.TOKEN]
from.command = ["printf", "value-of-the-source"]
[secrets.PLAIN]
from = "acme/plain"
redact = false
[secrets.SHORT]
from = "acme/short"
[run.secrets]
dev = ["TOKEN"]
outer = ["TOKEN"]
[run.cache]
kept = { env = ["TOKEN", "OTHER"] }
[run.remote]
url = "grpc://127.0.0.1:1"
`,
      "package.json": {
        name: "app",
        workspaces: ["web"],
        scripts: {
          predev: SHOW,
          dev: SHOW,
          postdev: READ,
          show: SHOW,
          read: READ,
          kept: `${SHOW}; ${READ}`,
          others: "sh -c 'echo plain=${PLAIN-nothing} short=${SHORT-nothing}'",
          outer: "rt --silent run show",
          inner: SHOW.replace("$npm_lifecycle_event", "inner"),
          "dev:inner": "rt --silent run inner",
          around: "rt --silent run dev",
        },
      },
      "web/package.json": { name: "web", scripts: { show: SHOW, read: "sh -c 'cat ../leaked'" } },
      leaked: `${VALUE}\n`,
      "variables.env": `TOKEN=value-of-a-file\n`,
    });
  });
  afterAll(() => project?.[Symbol.asyncDispose]());

  const run = async (args: readonly string[], env: Environment = { TOKEN: VALUE }) => {
    const { stdout, stderr, status } = await runRt({ args: ["--silent", ...args], cwd: project.path, env });
    return [stdout, stderr, status] as const;
  };

  test("a script without a grant does not have the variable of a secret", async () => {
    expect(await run(["run", "show"])).toEqual(["show has nothing\n", "", 0]);
    expect(await run(["show"])).toEqual(["show has nothing\n", "", 0]);
    expect(await run(["--shell=rt", "run", "show"])).toEqual(["show has nothing\n", "", 0]);
    expect(await run(["--no-redact", "run", "show"])).toEqual(["show has nothing\n", "", 0]);
  });

  test("a script with a grant has it, and its hooks do not", async () => {
    expect(await run(["--no-redact", "run", "dev"])).toEqual([
      `predev has nothing\ndev has ${VALUE}\npostdev reads ${VALUE}\n`,
      "",
      0,
    ]);
  });

  test("a value of the environment is redacted in the output of scripts and hooks without a grant", async () => {
    expect((await run(["run", "dev"]))[0]).toBe(
      "predev has nothing\ndev has [TOKEN]\npostdev reads [TOKEN]\n",
    );
    expect(await run(["run", "read"])).toEqual(["read reads [TOKEN]\n", "", 0]);
  });

  test("a run of several scripts withholds and redacts like a run of one", async () => {
    const [many] = await run(["run", "--sequential", "show", "dev", "read"]);
    expect(many.split("\n").sort()).toEqual([
      "",
      "dev  | dev has [TOKEN]",
      "dev  | postdev reads [TOKEN]",
      "dev  | predev has nothing",
      "read | read reads [TOKEN]",
      "show | show has nothing",
    ]);
    const [filtered] = await run(["--filter=*", "run", "show", "read"]);
    expect(filtered).toContain("show has nothing");
    expect(filtered).not.toContain(VALUE);
    const [alone] = await run(["--filter=web", "run", "read"]);
    expect(alone).toContain("[TOKEN]");
  });

  test("a cached script does not get the variable, and its replayed output is redacted", async () => {
    const shown = "kept has nothing\nkept reads [TOKEN]\n";
    const first = await run(["run", "kept"]);
    expect([first[0], first[2]]).toEqual([shown, 0]);
    expect((await run(["run", "kept"]))[0]).toBe(shown);
    // The first run has no value to search for; the second one has.
    await run(["run", "kept"], { OTHER: "1" });
    const again = await run(["run", "kept", "--report=report.json"], { OTHER: "1", TOKEN: VALUE });
    expect(again[0]).toContain("kept reads [TOKEN]\n");
    expect(again[0]).not.toContain(VALUE);
  });

  test("redact = false withholds a variable, and a value that is too short to redact does not fail the run", async () => {
    const env = { PLAIN: "a-plain-value", SHORT: "abc" };
    expect(await run(["run", "others"], env)).toEqual(["plain=nothing short=nothing\n", "", 0]);
    expect(await run(["run", "read"], { PLAIN: VALUE })).toEqual([`read reads ${VALUE}\n`, "", 0]);
  });

  test("an env file gives a script without a grant no variable of a secret", async () => {
    expect(await run(["--env-file=variables.env", "run", "show"], {})).toEqual(["show has nothing\n", "", 0]);
    const many = await run(["--env-file=variables.env", "run", "--sequential", "show"], {});
    expect(many[0]).toBe("show | show has nothing\n");
  });

  test("a grant also applies to rt inside the script for the same script, and for no others", async () => {
    const shown = ["--no-redact"];
    expect((await run([...shown, "run", "outer"]))[0]).toBe(`show has [TOKEN]\n`);
    expect((await run([...shown, "run", "dev:inner"]))[0]).toBe("inner has nothing\n");
    expect((await run(["--secret=TOKEN", "run", "show"]))[0]).toBe("show has [TOKEN]\n");
  });

  test("the error for a missing secret in a nested run explains that the outer script has no grant", async () => {
    const [stdout, stderr, status] = await run(["run", "around"]);
    expect([stdout, status]).toEqual(["", 1]);
    expect(stderr).toContain(
      'hint: TOKEN was in the environment, but the script "around" that started this run does not get it; ' +
        'add to [run.secrets] of rtfig.toml: around = ["TOKEN"]\n',
    );
  });

  test("a script that rt install runs does not get the variable of a secret", async () => {
    await using own = await createProject({
      "rtfig.toml":
        '[secrets]\nTOKEN = { from = "acme/token" }\n[run.secrets]\npostinstall = ["TOKEN"]\nsetup = ["TOKEN"]\n',
      "package.json": {
        name: "app",
        scripts: {
          postinstall: "echo ${TOKEN-nothing} ${OTHER-nothing} > got",
          setup: "rt install --no-permissions --force",
        },
        dependencies: { dep: "file:./dep" },
        trustedDependencies: ["dep"],
      },
      "dep/package.json": {
        name: "dep",
        version: "1.0.0",
        scripts: { postinstall: "echo ${TOKEN-nothing} > $INIT_CWD/dep-got" },
      },
    });
    const env = { TOKEN: VALUE, OTHER: "other" };
    // With permissions, the script of the package could not write its result.
    const args = ["install", "--no-permissions"];
    const { stderr, status } = await runRt({ args, cwd: own.path, env });
    expect({ stderr, status }).toMatchObject({ status: 0 });
    expect(await Bun.file(own.join("got")).text()).toBe("nothing other\n");
    expect(await Bun.file(own.join("dep-got")).text()).toBe("nothing\n");
    // A script that has the secret passes it to no package either.
    await own.write({ got: "" });
    expect((await runRt({ args: ["run", "setup"], cwd: own.path, env })).status).toBe(0);
    expect(await Bun.file(own.join("got")).text()).toBe("nothing other\n");
    // A program that the user names keeps the environment.
    await own.write({ "node_modules/.bin/tool": "#!/bin/sh\necho ${TOKEN-nothing}\n" });
    await chmod(own.join("node_modules/.bin/tool"), 0o755);
    expect((await runRt({ args: ["x", "tool"], cwd: own.path, env })).stdout).toBe(`${VALUE}\n`);
  });

  test("the error in a script that rt install runs proposes no grant, which would have no effect", async () => {
    await using own = await createProject({
      "rtfig.toml": '[secrets]\nTOKEN = { from.command = ["false"] }\n[run.secrets]\ndev = ["TOKEN"]\n',
      "package.json": { scripts: { postinstall: "rt run dev; true", dev: "true" } },
    });
    const { stderr } = await runRt({ args: ["install"], cwd: own.path, env: { TOKEN: VALUE } });
    expect(stderr).toContain(
      "hint: TOKEN was in the environment, but rt install gives it to no script of a package; " +
        "start this run after rt install\n",
    );
    expect(stderr).not.toContain("[run.secrets]");
  });

  test("a program that is not a script gets the whole environment", async () => {
    expect((await run(["run", "printenv", "TOKEN"]))[0]).toBe(`${VALUE}\n`);
    expect((await run(["-p", "process.env.TOKEN"]))[0]).toBe(`${VALUE}\n`);
  });

  test("a granted value and another one of the environment are both redacted", async () => {
    const RT_TRUST = await trustOf(project.path);
    const env = { TOKEN: VALUE, RT_TRUST };
    expect((await run(["run", "dev"], env))[0]).toContain("dev has [TOKEN]");
    const plan = await runRt({ args: ["run", "show"], cwd: project.path, env: { ...env, RT_DEBUG: "plan" } });
    expect(JSON.parse(plan.stderr.split("\n")[0]!).secrets).toBeUndefined();
  });
});

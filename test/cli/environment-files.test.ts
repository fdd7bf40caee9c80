// Files of the working directory must not configure rt itself. `.env` is for the user's program; rt reads its own settings (bus,
// temporary directory, colours, shell) from the environment in which it started.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { startKeyring } from "../support/keyring/keyring.ts";
import { createProject, type Files } from "../support/project.ts";
import { type Environment, runRt, type RtResult } from "../support/rt.ts";

const isPosix = process.platform !== "win32";

async function runIn(files: Files, args: readonly string[], env: Environment = {}): Promise<RtResult> {
  await using project = await createProject(files);
  return await runRt({ args, cwd: project.path, env });
}

describe.skipIf(process.platform !== "linux")("the bus of the credential store", () => {
  const PROGRAM = "rt.secrets.set('hostile', 'a', 'value').catch((error) => console.log(error.code))";

  for (const args of [["secrets", "set", "hostile", "a"], ["store.ts"], ["--smol", "store.ts"]])
    test(`ignores .env: rt ${args.join(" ")}`, async () => {
      await using keyring = await startKeyring();
      await using project = await createProject({
        ".env": `DBUS_SESSION_BUS_ADDRESS="${keyring.address}"\n`,
        "store.ts": PROGRAM,
        "runtime/x": "",
      });
      const env = { DBUS_SESSION_BUS_ADDRESS: undefined, XDG_RUNTIME_DIR: project.join("runtime") };
      const { stdout, stderr, status } = await runRt({ args, cwd: project.path, env, stdin: "value" });
      const isCommand = args[0] === "secrets";
      expect({ stdout, status }).toEqual({
        stdout: isCommand ? "" : "ERR_SECRETS_UNAVAILABLE\n",
        status: isCommand ? 2 : 0,
      });
      if (isCommand) expect(stderr).toContain(project.join("runtime/bus"));
      expect(await keyring.run(["secret-tool", "search", "--all", "service", "hostile"])).toBe("");
    });

  test("ignores variables that the running program sets", async () => {
    await using keyring = await startKeyring();
    const source = `process.env.DBUS_SESSION_BUS_ADDRESS = "unix:path=/nowhere"; await rt.secrets.set("a", "b", "c");
      console.log(await rt.secrets.get("a", "b"));`;
    for (const args of [["a.ts"], ["--smol", "a.ts"]])
      expect(await runIn({ "a.ts": source }, args, keyring.env)).toEqual({
        stdout: "c\n",
        stderr: "",
        status: 0,
      });
  });

  test("ignores .env in rt doctor", async () => {
    await using keyring = await startKeyring();
    await using project = await createProject({
      ".env": `DBUS_SESSION_BUS_ADDRESS="${keyring.address}"\n`,
      "runtime/x": "",
    });
    const env = { DBUS_SESSION_BUS_ADDRESS: undefined, XDG_RUNTIME_DIR: project.join("runtime") };
    const { stdout, status } = await runRt({ args: ["doctor"], cwd: project.path, env });
    expect(status).toBe(1);
    expect(stdout).toContain(`No session bus answers at unix:path=${project.join("runtime/bus")}`);
  });

  // Without the variable rt uses systemd's path for the bus, which would be the developer's own bus.
  test.skipIf(existsSync(`/run/user/${process.getuid?.()}/bus`))(
    "ignores XDG_RUNTIME_DIR in .env",
    async () => {
      await using keyring = await startKeyring();
      const path = keyring.address.replace(/^unix:path=|,.*/g, "");
      await using project = await createProject({
        ".env": `XDG_RUNTIME_DIR=${path.replace(/\/bus$/, "")}\n`,
      });
      expect(path).toEndWith("/bus");
      const env = { DBUS_SESSION_BUS_ADDRESS: undefined };
      const { stdout, status } = await runRt({ args: ["doctor"], cwd: project.path, env });
      expect(status).toBe(1);
      expect(stdout).toContain("No session bus answers at unix:path=/run/user/");
    },
  );
});

describe.skipIf(!isPosix).concurrent(".env does not change", () => {
  const scripts = { build: "echo built && true", where: "command -v node && true" };

  test("the colours of rt's output", async () => {
    const files = { "package.json": { scripts }, ".env": "FORCE_COLOR=1" };
    for (const args of [["run"], ["run", "build"], ["run", "--filter", "*", "build"]]) {
      const { stdout, stderr } = await runIn(files, args);
      expect({ args, text: stdout + stderr }).toEqual({
        args,
        text: expect.not.stringContaining("\x1b"),
      });
    }
    expect((await runIn(files, ["run"], { FORCE_COLOR: "1" })).stdout).toContain("\x1b");
  });

  test("the concurrency limit, the printed plan and the list of running scripts", async () => {
    const manifest = { name: "a", scripts };
    await using project = await createProject({ "package.json": manifest });
    const running = Array.from({ length: 9 }, () => `build in ${project.path}`).join("\n");
    await project.write({ ".env": `RT_CONCURRENCY=none\nRT_DEBUG=plan\nRT_SCRIPTS="${running}"\n` });
    expect(await runRt({ args: ["run", "build"], cwd: project.path })).toEqual({
      stdout: "built\n",
      stderr: "$ echo built && true\n",
      status: 0,
    });
    const many = await runRt({ args: ["run", "--workspaces", "--if-present", "build"], cwd: project.path });
    expect(many).toMatchObject({ status: 0 });
    const given = await runRt({
      args: ["run", "--workspaces", "--if-present", "build"],
      cwd: project.path,
      env: { RT_CONCURRENCY: "none" },
    });
    expect(given).toMatchObject({ status: 1, stderr: expect.stringContaining("RT_CONCURRENCY needs") });
  });

  test("the shell and the programs of a script", async () => {
    await using project = await createProject(
      {
        "package.json": { scripts: { build: "echo built && true" } },
        "evil/bash": "#!/bin/sh\necho evil\n",
        "evil/node": "#!/bin/sh\necho evil\n",
        "evil/tool": "#!/bin/sh\necho evil\n",
      },
      ["evil/bash", "evil/node", "evil/tool"],
    );
    await project.write({ ".env": `PATH=${project.join("evil")}\n` });
    const run = (...args: string[]) => runRt({ args, cwd: project.path, env: { PATH: undefined } });
    expect(await run("run", "build")).toMatchObject({ stdout: "built\n", status: 0 });
    expect((await run("run", "tool")).stdout).toBe("");
    expect((await run("run", "node", "-p", "1")).stdout).not.toContain("evil");
    const tool = await run("exec", "command -v node; exit 0");
    expect(tool.stdout).not.toContain("evil");
  });

  test("the directory of rt's temporary files", async () => {
    await using project = await createProject({
      "package.json": { scripts: { where: "command -v node && true" } },
      "a.ts": "console.log(import.meta.main)",
      "theirs/x": "",
      "mine/x": "",
    });
    const theirs = project.join("theirs");
    await project.write({
      ".env": ["XDG_RUNTIME_DIR", "TMPDIR", "TMP"].map((name) => `${name}=${theirs}\n`).join(""),
    });
    const env = { TMPDIR: undefined, TEMP: project.join("mine") };
    const { stdout } = await runRt({
      args: ["--silent", "--rt", "run", "where"],
      cwd: project.path,
      env,
    });
    expect(stdout).toStartWith(`${project.join("mine")}/rt-links-`);
    await runRt({ args: ["--inspect=127.0.0.1:0", "a.ts"], cwd: project.path, env });
    expect(await readdir(theirs)).toEqual(["x"]);
  });

  test("whether a debugger waits", async () => {
    await using project = await createProject({ "a.ts": "console.log(1)", ".env": "BUN_INSPECT=1" });
    await mkdir(project.join("run"), { mode: 0o700 });
    const env = { XDG_RUNTIME_DIR: project.join("run") };
    expect(await runRt({ args: ["--smol", "a.ts"], cwd: project.path, env })).toMatchObject({
      stdout: "1\n",
      status: 0,
    });
    expect(await readdir(project.join("run"))).toEqual([]);
  });

  test("the git commands that rt runs", async () => {
    await using project = await createProject({ "package.json": { name: "a", scripts } });
    await project.write({ ".env": `GIT_TRACE=${project.join("trace")}\n` });
    const init = `git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm x`;
    await runRt({ program: ["sh", "-c", init], cwd: project.path });
    const { stderr, status } = await runRt({
      args: ["run", "--affected", "--dry-run", "build"],
      cwd: project.path,
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(existsSync(project.join("trace"))).toBe(false);
  });
});

describe.concurrent("no code of the working directory", () => {
  const EVIL = "require('node:fs').writeFileSync('ran', process.argv.join(' ')); export default {};";
  const FILES = {
    "evil.ts": EVIL,
    "node_modules/dbus-next/index.js": EVIL,
    "node_modules/citty/index.js": EVIL,
    "node_modules/rt/index.js": EVIL,
    "bunfig.toml": 'preload = ["./evil.ts"]\n[run]\npreload = ["./evil.ts"]\n',
    ".npmrc": "proxy=http://127.0.0.1:9\nregistry=http://127.0.0.1:9\n",
    "tsconfig.json": { compilerOptions: { baseUrl: ".", paths: { "*": ["./evil.ts"] } } },
    ".env": [
      ...["BUN_OPTIONS=--preload=./evil.ts", "NODE_OPTIONS=--require=./evil.ts", "BUN_BE_BUN=1"],
      ...["BUN_INSPECT_PRELOAD=./evil.ts", "RT_BECAME=1", "RT_SUPERVISED=1", "RT_DEBUG=plan", ""],
    ].join("\n"),
    "package.json": {
      type: "commonjs",
      imports: { "#x": "./evil.ts" },
      browser: { fs: "./evil.ts" },
      bun: { preload: "./evil.ts" },
      scripts: { secrets: "echo evil", doctor: "echo evil", upgrade: "echo evil", help: "echo evil" },
    },
  };

  for (const line of [
    ...["help", "help secrets", "--version", "--help", "run", "types", "completions bash", "doctor"],
    ...["secrets list", "secrets set a b", "secrets get a b", "upgrade --rollback", "upgrade ./no-such-file"],
  ])
    test(`runs in rt ${line}`, async () => {
      await using project = await createProject(FILES);
      await using clean = await createProject({ "package.json": FILES["package.json"] });
      const run = async ({ path }: { path: string }) => {
        const { stdout, stderr, status } = await runRt({ args: line.split(" "), cwd: path });
        return { stdout, stderr: stderr.replaceAll(path, "$PROJECT"), status };
      };
      expect(await run(project)).toEqual(await run(clean));
      expect(existsSync(project.join("ran"))).toBe(false);
    });
});

// Tests `rt` as a Windows program: files, scripts, binaries, standard input, workspaces and secrets. Each start does
// several checks, because it takes a fifth of a second under Wine.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { PREPARATION_TIMEOUT } from "../support/programs/compiled.ts";
import { createProject, type Project } from "../support/project.ts";
import { readLines } from "../support/output.ts";
import { waitUntil } from "../support/processes.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { canRunWindows, isWine, openWindows, type Windows } from "../support/programs/windows.ts";

/** Characters that shells and programs interpret. Tests without cmd.exe cover `%`. */
const ARGUMENTS = [
  "a b",
  "",
  'say "hi"',
  "x\\",
  'q\\"',
  "it's",
  "*",
  "ü🔑",
  "a&b|c<d>e^f",
  "$HOME",
  "!x!",
  "--",
  "-p",
];

const FILES = {
  "package.json": {
    name: "root",
    workspaces: ["packages/*"],
    scripts: {
      args: "rt args.ts",
      prehooked: "echo pre",
      hooked: "echo main && exit 3",
      posthooked: "echo never",
      env: 'echo $npm_lifecycle_event $npm_package_name && node -p "[process.env.INIT_CWD === process.cwd(), process.env.BUN_BE_BUN, typeof rt]"',
      nested: "rt run args 1",
      tool: "tool 1",
      both: "rt -e \"console.log('to output'); console.error('to error')\"",
      endless: "rt endless.ts",
      // The engine ends its own children when it ends, but not the children of cmd.exe.
      orphaned: "cmd /c rt endless.ts",
      fails:
        'rt -e "while (!(await Bun.file(process.env.STARTED).exists())) await Bun.sleep(10); process.exit(9)"',
    },
  },
  "packages/a/package.json": {
    name: "a",
    scripts: {
      build: "echo built a",
      fail: "exit 4",
      leaves: "cmd /c start /b rt ../../left.ts",
      postleaves: "rt ../../seen.ts",
    },
    dependencies: { b: "*" },
  },
  "packages/b/package.json": { name: "b", scripts: { build: "echo built b", fail: "echo fine" } },
  "endless.ts": `const child = Bun.spawn([process.execPath, "-e", "setInterval(() => {}, 1e6)"]);
    await Bun.write(process.env.STARTED!, String(child.pid));
    setInterval(() => {}, 1e6);`,
  "left.ts": "await Bun.write(process.env.STARTED!, String(process.pid)); setInterval(() => {}, 1e6);",
  "seen.ts": `const started = Bun.file(process.env.STARTED!);
    while (!(await started.exists()) || (await started.text()) === "") await Bun.sleep(10);
    process.kill(Number(await started.text()), 0);
    await Bun.write("../../seen", "was there");`,
  "args.ts": "const args: string[] = process.argv.slice(2); console.log(JSON.stringify(args));",
  "facts.ts": `import { secrets } from "rt";
    console.log(process.platform, typeof secrets.get, typeof rt.CSRF.generate, import.meta.path === process.argv[1],
      process.execArgv.length);
    console.log(JSON.stringify(process.argv.slice(2)));
    process.exit(77);`,
  "spawn.ts": `const [kind] = process.argv.slice(2);
    const child = Bun.spawn([process.execPath, "run", "-"], { stdin: "pipe", stdout: "inherit", stderr: "inherit" });
    if (kind === "code") child.stdin.write("console.log(6 * 7)");
    child.stdin.end();
    process.exit(await child.exited);`,
  "node_modules/tool/cli.js": `console.log("tool", JSON.stringify(process.argv.slice(2)));`,
  "node_modules/.bin/tool.cmd":
    '@ECHO off\r\nSETLOCAL\r\nnode "%~dp0\\..\\tool\\cli.js" %*\r\nexit /b %ERRORLEVEL%\r\n',
};

describe.skipIf(!canRunWindows)("rt.exe", () => {
  let windows: Windows;
  let project: Project;
  beforeAll(async () => {
    [windows, project] = await Promise.all([openWindows(), createProject(FILES)]);
  }, PREPARATION_TIMEOUT);
  afterAll(async () => {
    await windows?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });

  /** Would change a real machine, or needs a user there. */
  const testOnWine = test.skipIf(!isWine);
  /** Starts reg.exe without rt. */
  const setKey = async (...words: string[]) => {
    const command = [...windows.command().slice(0, -1), "reg.exe", "add", ...words];
    await Bun.spawn(command, { env: windows.environment, stdio: ["ignore", "ignore", "ignore"] }).exited;
  };
  const rt = (args: readonly string[], input?: string) => windows.run({ args, cwd: project.path, input });
  const output = (stdout: string, status = 0) => ({ stdout, stderr: "", status });
  const json = (args: readonly string[]) => `${JSON.stringify(args)}\n`;

  const facts = (options: number) =>
    output(`win32 function function true ${options}\n${json([...ARGUMENTS, "%PATH%"])}`, 77);

  test("runs a file in its process, with arguments and exit code", async () => {
    expect(await rt(["facts.ts", ...ARGUMENTS, "%PATH%"])).toEqual(facts(0));
    expect(await rt([windows.path(project.join("args.ts")), "1"])).toEqual(output(json(["1"])));
    expect(await rt([".\\args.ts", "2"])).toEqual(output(json(["2"])));
  });

  test("starts the engine when necessary", async () => {
    expect(await rt(["--smol", "facts.ts", ...ARGUMENTS, "%PATH%"])).toEqual(facts(1));
    expect(
      await rt([
        "-p",
        "process.exitCode = 42; [process.platform, process.env.BUN_BE_BUN, process.execArgv.length]",
      ]),
    ).toEqual(output('[ "win32", undefined, 2 ]\n', 42));
    expect(await rt(["run", "-", "a b"], "console.log(JSON.stringify(process.argv.slice(2)))")).toEqual(
      output(json(["a b"])),
    );
  });

  test("distinguishes an empty pipe from one with code", async () => {
    expect(await rt(["spawn.ts", "code"])).toEqual(output("42\n"));
    expect(await rt(["spawn.ts", "nothing"])).toMatchObject({
      stderr: expect.stringContaining("error: Standard input is empty"),
      status: 1,
    });
  });

  test("runs scripts in the built-in shell, with their hooks and arguments", async () => {
    expect(await rt(["run", "args", ...ARGUMENTS])).toMatchObject({ stdout: json(ARGUMENTS), status: 0 });
    expect(await rt(["hooked"])).toEqual({
      stdout: "pre\nmain\n",
      stderr: '$ echo pre\n$ echo main && exit 3\nerror: script "hooked" exited with code 3\n',
      status: 3,
    });
    expect(await rt(["--silent", "env"])).toEqual(output('env root\n[ true, undefined, "object" ]\n'));
    expect(await rt(["--silent", "nested"])).toMatchObject({ stdout: json(["1"]), status: 0 });
    if (!isWine) return;
    expect(await rt(["run", "--shell", "system", "args"])).toMatchObject({
      stderr: expect.stringContaining("hint: install Git for Windows"),
      status: 1,
    });
  });

  const BASH = `#include <stdio.h>
    int main(int count, char **words) { printf("bash %s %s\\n", words[1], words[2]); return count; }`;
  testOnWine("--shell system is the bash of Git for Windows", async () => {
    await project.write({ "git/bash.c": BASH, "git/bin/.keep": "" });
    const compiler = ["x86_64-w64-mingw32-gcc", "-o", "git/bin/bash.exe", "git/bash.c"];
    expect(Bun.spawnSync(compiler, { cwd: project.path }).exitCode).toBe(0);
    const key = ["HKCU\\SOFTWARE\\GitForWindows", "/v", "InstallPath", "/t", "REG_SZ", "/f", "/d"];
    await setKey(...key, windows.path(project.join("git")));
    expect(await rt(["--silent", "run", "--shell", "system", "args", "x y"])).toEqual(
      output("bash -c rt args.ts 'x y'\n", 3),
    );
  });

  test("refuses a line break in an argument of a batch file, where it would end the command", async () => {
    await using other = await createProject({ ...FILES, "package.json": { name: "without-scripts" } });
    expect(await windows.run({ args: ["tool", "a\nb"], cwd: other.path })).toMatchObject({
      status: 126,
      stderr: expect.stringContaining("a batch file cannot be given an argument with a line break"),
    });
  });

  test("runs binaries of packages, and commands of the system", async () => {
    expect(await rt(["--silent", "run", "tool", "x y"])).toEqual(output(`tool ${json(["1", "x y"])}`));
    await using other = await createProject({ ...FILES, "package.json": { name: "without-scripts" } });
    const direct = await windows.run({ args: ["--rt", "tool", ...ARGUMENTS], cwd: other.path });
    expect(direct).toEqual(output(`tool ${json(ARGUMENTS)}`));
    expect(await rt(["run", "cmd", "/c", "exit 5"])).toEqual(output("", 5));
    expect(await rt(["run", "nothing-of-this-name"])).toMatchObject({ status: 1, stdout: "" });
  });

  test("runs several scripts, dependencies first", async () => {
    const { stdout, status } = await rt(["run", "--filter", "*", "build"]);
    expect(stdout.split("\n").filter((line) => line.includes("built"))).toEqual([
      "b build: built b",
      "a build: built a",
    ]);
    expect(status).toBe(0);
    expect(await rt(["run", "--workspaces", "--parallel", "fail"])).toMatchObject({ status: 4 });
  });

  test("keeps the standard error of scripts separate", async () => {
    const { stdout, stderr } = await rt(["run", "--parallel", "both"]);
    expect(stdout).toBe("both | to output\n");
    expect(stderr).toContain("both | to error\n");
  });

  test("neither waits for a script's background process nor ends it while the run continues", async () => {
    const env = { STARTED: windows.path(project.join("left")) };
    const args = ["--silent", "run", "--filter", "a", "leaves"];
    // The background process may keep the pipe open, so the output is not read to its end.
    const child = windows.start({ args, cwd: project.path, env });
    expect(await child.exited).toBe(0);
    expect(readFileSync(project.join("seen"), "utf8")).toBe("was there");
  });

  test("ends the process tree of a script that it stops", async () => {
    const env = { STARTED: windows.path(project.join("started")) };
    const args = ["run", "--parallel", "endless", "fails"];
    const { stderr, status } = await windows.run({ args, cwd: project.path, env });
    expect(status).toBe(9);
    expect(stderr).toContain("1 failed, 1 stopped");
    const pid = await Bun.file(project.join("started")).text();
    const check = `try { process.kill(${pid}, 0); "alive" } catch ({ code }) { code }`;
    expect(await rt(["-p", check])).toEqual(output("ESRCH\n"));
  });

  describe("a killed rt.exe ends", () => {
    for (const [target, args] of [
      ["the process tree of a script", ["run", "--parallel", "orphaned"]],
      ["a file that runs in the engine", ["--smol", "left.ts"]],
    ] as const)
      test(
        target,
        async () => {
          const started = project.join(`killed-${args[0]}`);
          const env = { STARTED: windows.path(started) };
          const child = windows.start({ args: [...args], cwd: project.path, env });
          await waitUntil(() => existsSync(started) && readFileSync(started, "utf8") !== "");
          const pid = readFileSync(started, "utf8");
          // One rt waits until the process ends, because each start takes a fifth of a second.
          const watcher = windows.start({
            args: [
              "-e",
              `for (;;) { try { process.kill(${pid}, 0) } catch ({ code }) { console.log(code); break }
                if (!globalThis.seen) { console.log("alive"); globalThis.seen = true }
                await Bun.sleep(10) }`,
            ],
            cwd: project.path,
          });
          const lines = readLines(watcher.stdout);
          expect((await lines.next()).value?.trimEnd()).toBe("alive");
          child.kill("SIGKILL");
          await child.exited;
          expect((await lines.next()).value?.trimEnd()).toBe("ESRCH");
          await watcher.exited;
        },
        120_000,
      );
  });

  test("stores credentials from the command line", async () => {
    expect(await rt(["secrets", "set", "cli", "me"], "a välue\n")).toEqual(output(""));
    expect(await rt(["secrets", "get", "cli", "me"])).toEqual(output("a välue"));
    expect(await rt(["secrets", "list", "cli"])).toEqual(output("cli\tme\n"));
    expect(await rt(["secrets", "delete", "cli", "me"])).toEqual(output(""));
    expect(await rt(["secrets", "get", "cli", "me"])).toEqual({
      stdout: "",
      stderr: 'error: No credential "me" under "cli"\n',
      status: 1,
    });
  });

  test.skipIf(!isWine)("prompts for a value on a console without echo", async () => {
    // Wine does not change the terminal's modes.
    const command = [
      "sh",
      "-c",
      'stty raw -echo; exec "$@"',
      "sh",
      ...windows.command("secrets", "set", "cli", "asked"),
    ];
    await using terminal = startOnTerminal(command, windows.environment);
    await terminal.awaitOutput("(not shown)");
    terminal.type("hidden vX\x7falue\r");
    expect(await terminal.awaitExit()).toBe(0);
    expect(terminal.shown).not.toContain("hidden");
    expect(await rt(["secrets", "get", "cli", "asked"])).toEqual(output("hidden value"));
  });

  test("checks the Credential Manager, and reports when it is disabled", async () => {
    const ready = await rt(["doctor"]);
    expect(ready).toMatchObject({ status: 0, stderr: "" });
    expect(ready.stdout).toContain("ok       credential store  Windows Credential Manager answers\n");
    if (!isWine) return; // the service of a real machine must not change
    const key = [
      "HKLM\\SYSTEM\\CurrentControlSet\\Services\\VaultSvc",
      "/v",
      "Start",
      "/t",
      "REG_DWORD",
      "/f",
      "/d",
    ];
    await setKey(...key, "4");
    const disabled = await rt(["doctor", "--json"]);
    expect(disabled.status).toBe(1);
    expect(JSON.parse(disabled.stdout)).toMatchObject({
      ready: false,
      store: null,
      checks: [
        {
          name: "service",
          status: "problem",
          found: "The Credential Manager service is disabled",
          remedy: expect.stringContaining("sc.exe config VaultSvc start= demand"),
        },
      ],
    });
    await setKey(...key, "3");
    expect((await rt(["doctor"])).stdout).toContain(
      "ok       service           The Credential Manager service may start\n",
    );
  });

  test("prints its help, its version and its types", async () => {
    const [help, version, types] = await Promise.all([rt(["--help"]), rt(["--version"]), rt(["types"])]);
    expect(help).toMatchObject({
      stdout: expect.stringContaining("Usage\n  rt [options] <file|script> [args]"),
      stderr: "",
    });
    expect(version).toMatchObject({ stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), status: 0 });
    expect(types.stdout).toContain('declare module "rt"');
  });
});

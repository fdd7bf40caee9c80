// Options for the choice of what runs, and for reports.
import { describe, expect } from "bun:test";
import { existsSync } from "node:fs";
import { createMachines, RECORD } from "../distributed/machines.ts";
import { waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, RT, runRt, startRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { openReapiServer } from "../support/servers/reapi-server.ts";
import { outputOf, prove, runIn } from "./prove.ts";

const hello = { "package.json": { scripts: { hello: "echo hi" } } };

describe("general execution", () => {
  prove("silent", "does not print the command of a script", async () => {
    expect(await runIn(hello, ["run", "hello"])).toEqual({
      stdout: "hi\n",
      stderr: "$ echo hi\n",
      status: 0,
    });
    expect(await runIn(hello, ["--silent", "run", "hello"])).toEqual({
      stdout: "hi\n",
      stderr: "",
      status: 0,
    });
  });

  prove("if-present", "ignores a missing entry point", async () => {
    expect((await runIn(hello, ["run", "bye"])).status).toBe(1);
    expect(await runIn(hello, ["--if-present", "run", "bye"])).toEqual({ stdout: "", stderr: "", status: 0 });
  });

  prove("eval", "runs its argument as TypeScript", async () => {
    expect(
      await outputOf({}, ["-e", "const x: number = 2; console.log(x + process.argv.length, typeof rt)"]),
    ).toBe("3 object");
    expect(await outputOf({}, ["--eval=console.log(process.argv.slice(1))", "a"])).toBe('[ "a" ]');
  });

  prove("print", "prints the value of its argument", async () => {
    expect(await outputOf({}, ["-p", "[1, typeof rt.secrets.get]"])).toBe('[ 1, "function" ]');
    expect(await outputOf({}, ["--print", "await Promise.resolve(7)"])).toBe("7");
    expect(await outputOf({}, ["-pe", "3"])).toBe("3");
    expect(await outputOf({}, ["--smol", "-pe", "process.argv.slice(1)", "a"])).toContain('"a"');
  });

  prove("help", "shows help and runs nothing", async () => {
    const { stdout } = await runIn({ "a.ts": "console.log('executed')" }, ["--help", "a.ts"]);
    expect(stdout).toMatch(/usage/i);
    expect(stdout).not.toContain("executed");
  });

  prove("version", "prints one version number", async () => {
    expect(await outputOf({}, ["--version"])).toMatch(/^\d+\.\d+\.\d+$/);
    expect(await outputOf({}, ["-v"])).toMatch(/^\d+\.\d+\.\d+$/);
  });

  prove("revision", "prints the version of rt, then the engine's with its commit", async () => {
    const [version, revision] = [await outputOf({}, ["--version"]), await outputOf({}, ["--revision"])];
    expect(revision).toBe(`${version}+bun.${Bun.version}.${Bun.revision.slice(0, 9)}`);
  });

  prove("check", "runs nothing when there are type errors", async () => {
    const wrong = { "a.ts": 'const x: number = "text";\nconsole.log("ran", x);\n', "tsconfig.json": {} };
    expect(await outputOf(wrong, ["a.ts"])).toBe("ran text");
    const { stdout, stderr, status } = await runIn(wrong, ["--check", "a.ts"]);
    expect({ status, ran: stdout.includes("ran") }).toEqual({ status: 1, ran: false });
    expect(stdout + stderr).toContain("TS2322");
  });

  prove("interactive", "reads and evaluates lines", async () => {
    const stdin = "6 * 7\ntypeof rt.secrets\n.exit\n";
    expect(await outputOf({}, ["--interactive"], { stdin })).toContain("> 42\n> 'object'\n");
  });

  prove("interactive", "reads TypeScript and imports", async () => {
    const stdin = `
      const x: number = 20
      x + 1
      function half(value: number): number {
      return value / 2 }
      half(x)
      enum Size { Small, Large }
      Size.Large as number
      interface Shape {}
      let later: Promise<number> = Promise.resolve(4)
      later
      a b
      throw 5 as any
      _error
      x.y.z as any
      { a: 1 }
      process.execArgv
    `.replaceAll(/^ +/gm, "");
    const output = await outputOf({}, ["--interactive"], { stdin });
    // The output does not echo the input, and an incomplete line continues in the next one.
    expect(output).toContain(
      "> 20\n> 21\n> | undefined\n> 10\n> undefined\n> 1\n> undefined\n> Promise { 4 }\n> Promise { 4 }\n> a b\n",
    );
    expect(output).toContain("SyntaxError: Unexpected identifier 'b'\n> Uncaught 5\n> 5\n> ");
    expect(output).toContain("Uncaught TypeError: undefined is not an object (evaluating 'x.y.z')\n");
    expect(output).toContain("> { a: 1 }\n> [ '--interactive' ]\n");
    const files = { "a.ts": "export const a: number = 7; export default 'b';\n" };
    const imports = { stdin: 'import b, { a as c } from "./a.ts"\n' };
    expect(await outputOf(files, ["--interactive"], imports)).toEndWith("> 'b'\n>");
    const awaited = { stdin: 'const d: number = (await import("./a.ts")).a as number\n' };
    expect(await outputOf(files, ["--interactive"], awaited)).toEndWith("> 7\n>");
  });
});

const packages = {
  "package.json": { workspaces: ["packages/*"] },
  "packages/a/package.json": { name: "pkg-a", scripts: { go: "echo from a" } },
  "packages/b/package.json": { name: "pkg-b", scripts: { go: "echo from b" } },
  "packages/c/package.json": { name: "other", scripts: { go: "echo from c" } },
};
const three = {
  "package.json": { scripts: { one: "echo 1", bad: "exit 3", two: "echo 2" } },
};

describe("workspaces", () => {
  prove("filter", "runs the script of the matching packages", async () => {
    const output = await outputOf(packages, ["run", "--filter", "pkg-*", "go"]);
    expect(["from a", "from b", "from c"].map((text) => output.includes(text))).toEqual([true, true, false]);
    expect(await outputOf(packages, ["-F", "other", "run", "go"])).toContain("from c");
  });

  prove("workspaces", "runs the script of every package", async () => {
    const output = await outputOf(packages, ["--workspaces", "run", "go"]);
    expect(["from a", "from b", "from c"].every((text) => output.includes(text))).toBe(true);
  });

  prove("elide-lines", "cuts a package's output to its last lines", async () => {
    const files = {
      "package.json": { workspaces: ["p", "q"] },
      "p/package.json": { name: "p", scripts: { go: "seq 1 30" } },
      "q/package.json": { name: "q", scripts: { go: "true" } },
    };
    // Lines are elided only on a terminal, which `script` provides.
    const inTerminal = async (option: string) => {
      await using project = await createProject(files);
      const line = `'${RT}' ${option} --filter '*' run go`;
      const { stdout } = await runRt({ program: ["script", "-qec", line, "/dev/null"], cwd: project.path });
      return Bun.stripANSI(stdout);
    };
    expect(await inTerminal("--elide-lines=5")).toMatch(/2[56] lines elided/);
    expect(await inTerminal("--elide-lines=0")).not.toContain("elided");
  });

  prove("output", "shows the output of failed scripts only", async () => {
    const files = { "package.json": { scripts: { x: "echo fine", y: "echo broken; exit 1" } } };
    const { stdout } = await runIn(files, ["--sequential", "--output=errors", "run", "x", "y"]);
    expect(stdout).toBe("y | broken\n");
  });

  prove("ui", "shows a list of tasks on a terminal", async () => {
    await using project = await createProject({
      "package.json": { scripts: { x: "echo one", y: "echo two" } },
    });
    const shown = async (option: string) => {
      const line = `'${RT}' run ${option} --parallel x y`;
      return (await runRt({ program: ["script", "-qec", line, "/dev/null"], cwd: project.path })).stdout;
    };
    expect(await shown("--ui=list")).toContain("\x1b[?1049h");
    expect(await shown("--ui=stream")).not.toContain("\x1b[?1049h");
  });

  prove("log-prefix", "omits the prefixes of output", async () => {
    const files = { "package.json": { scripts: { x: "echo one", y: "echo two" } } };
    expect(await outputOf(files, ["--sequential", "--log-prefix=none", "run", "x", "y"])).toBe("one\ntwo");
  });

  prove("parallel", "runs scripts concurrently, with prefixed output", async () => {
    // Each script waits for the other, so both must run concurrently.
    const meet = (mine: string, other: string) =>
      `touch ${mine}; while [ ! -e ${other} ]; do read -t 0.01 <> <(:) || :; done; echo met`;
    const files = { "package.json": { scripts: { x: meet("x", "y"), y: meet("y", "x") } } };
    const output = await outputOf(files, ["--parallel", "run", "x", "y"]);
    expect(output.match(/^(?:x|y)\b.*met$/gm)?.length).toBe(2);
  });

  prove("sequential", "runs scripts one after the other, with prefixed output", async () => {
    const files = { "package.json": { scripts: { x: "echo first > log", y: "cat log; echo second" } } };
    expect((await outputOf(files, ["--sequential", "run", "x", "y"])).match(/first|second/g)).toEqual([
      "first",
      "second",
    ]);
  });

  prove("no-exit-on-error", "continues after a script that fails", async () => {
    const stopped = await runIn(three, ["--sequential", "run", "bad", "two"]);
    expect({ status: stopped.status, two: /two.*2/.test(stopped.stdout) }).toEqual({ status: 3, two: false });
    const continued = await runIn(three, ["--sequential", "--no-exit-on-error", "run", "bad", "two"]);
    expect({ status: continued.status, two: /two.*2/.test(continued.stdout) }).toEqual({
      status: 3,
      two: true,
    });
  });

  prove("concurrency", "limits the number of concurrent scripts", async () => {
    const lock = "mkdir lock && echo alone && rmdir lock";
    const files = { "package.json": { scripts: { a: lock, b: lock, c: lock, d: lock } } };
    const output = await outputOf(files, ["--parallel", "--concurrency=1", "run", "a", "b", "c", "d"]);
    expect(output.match(/alone/g)?.length).toBe(4);
  });

  prove("dry-run", "prints what would run and runs nothing", async () => {
    const plain = await outputOf(packages, ["--dry-run", "--workspaces", "run", "go"]);
    expect(plain).toContain("echo from a");
    expect(plain).not.toMatch(/^from a/m);
    const json = JSON.parse(await outputOf(packages, ["--dry-run=json", "--workspaces", "run", "go"]));
    expect(JSON.stringify(json)).toContain("echo from c");
  });

  prove("pick", "offers a choice of scripts", async () => {
    await using project = await createProject(three);
    await using terminal = startOnTerminal(
      [RT, "--pick", "run", "one"],
      cleanEnvironment({ NO_COLOR: "1" }),
      {
        cwd: project.path,
      },
    );
    await terminal.awaitOutput("$ rt run one");
    await waitUntil(() => !terminal.isInDefaultMode);
    terminal.type("\r");
    await terminal.awaitOutput("$ rt run one", 2);
    expect(await terminal.awaitExit()).toBe(0);
  });

  prove("report", "writes order, times and exit codes as JSON", async () => {
    await using project = await createProject(three);
    await runRt({ args: ["--report=report.json", "--sequential", "run", "one", "bad"], cwd: project.path });
    const { tasks } = await Bun.file(project.join("report.json")).json();
    expect(tasks[1].start).toBeGreaterThan(tasks[0].start);
    expect(tasks).toMatchObject([
      { script: "one", outcome: "success", exitCode: 0 },
      { script: "bad", outcome: "failure", exitCode: 3 },
    ]);
  });

  const remotely = async (words: readonly string[], more: string) => {
    await using server = await openReapiServer();
    const system = `${process.platform}-${process.arch}`;
    await using project = await createProject({
      "package.json": { scripts: { where: "pwd" } },
      "rtfig.toml": `[run.remote]\nurl = "${server.url}"\nsystem = "${system}"\n${more}`,
    });
    await Bun.spawn(["git", "init", "-q"], { cwd: project.path, env: cleanEnvironment() }).exited;
    const { stdout, status } = await runRt({ args: ["run", ...words, "where"], cwd: project.path });
    expect(status).toBe(0);
    return stdout.trimEnd() === project.path ? "here" : /\/rt-reapi-[^/]+$/.test(stdout.trimEnd()) && "there";
  };

  prove("remote", "runs a script on the server in rtfig.toml", async () => {
    expect(await remotely(["--remote"], "")).toBe("there");
    expect(await remotely([], "")).toBe("here");
  });

  prove("no-remote", "runs a script locally despite rtfig.toml", async () => {
    const always = "[run.remote.scripts.where]\nremote = true\n";
    expect(await remotely([], always)).toBe("there");
    expect(await remotely(["--no-remote"], always)).toBe("here");
  });

  prove("shard", "runs one of several parts", async () => {
    const parts = ["1/2", "2/2"].map((part) =>
      outputOf(packages, [`--shard=${part}`, "--workspaces", "run", "go"]),
    );
    const ran = (await Promise.all(parts)).map((text) => text.match(/(?<=: )from ./g)?.toSorted());
    expect(ran).toEqual([["from a", "from c"], ["from b"]]);
  });

  prove("shard-times", "balances the parts by the times of a report", async () => {
    const tasks = [{ package: "pkg-a", script: "go", outcome: "success", duration: 900 }];
    const times = ["pkg-b", "other"].map((name) => ({ ...tasks[0], package: name, duration: 100 }));
    const files = { ...packages, "report.json": { version: 1, tasks: [...tasks, ...times] } };
    const words = ["--shard=2/2", "--shard-times=report.json", "--workspaces", "run", "go"];
    const ran = (await outputOf(files, words)).match(/(?<=: )from ./g);
    expect(ran?.toSorted()).toEqual(["from b", "from c"]);
  });

  const alone = { a: { t: `${RECORD}; cat src.txt > out.txt` } };

  prove("share", "runs each script once, on any free machine", async () => {
    await using machines = await createMachines({ count: 2, packages: alone });
    for (const machine of machines.all) expect((await machine.start([]).result).status).toBe(0);
    expect(await machines.ran()).toEqual([`a ${machines.all[0]!.path}/packages/a`]);
  });

  prove("share-id", "identifies the run that the machines share", async () => {
    await using machines = await createMachines({ count: 1, packages: alone });
    const { stderr } = await machines.all[0]!.start(["--share-id=build 7"]).result;
    expect(stderr).toStartWith(
      `Run build 7 at ${machines.redis.url}, machine m1: 1 of 1 scripts are shared\n`,
    );
  });

  prove("share-name", "sets the name of the machine", async () => {
    await using machines = await createMachines({ count: 1, packages: alone });
    const { stderr } = await machines.all[0]!.start(["--share-name=left"]).result;
    expect(stderr).toContain(", machine left: 1 of 1 scripts are shared\n");
  });

  prove("affected", "runs only changed packages and their dependents", async () => {
    await using project = await createProject(packages);
    const git = async (...args: string[]) => {
      const identity = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
      await Bun.spawn(["git", ...identity, ...args], {
        cwd: project.path,
        stdout: "ignore",
        stderr: "ignore",
      }).exited;
    };
    await git("init", "-q");
    await git("add", ".");
    await git("commit", "-qm", "start");
    await project.write({ "packages/b/x.ts": "1" });
    const { stdout } = await runRt({ args: ["--affected=HEAD", "run", "go"], cwd: project.path });
    expect(["from a", "from b", "from c"].map((text) => stdout.includes(text))).toEqual([false, true, false]);
  });
});

describe("processes", () => {
  prove("no-orphans", "ends the program when its parent exits", async () => {
    await using project = await createProject({
      "a.ts": "console.log(process.pid); setInterval(() => {}, 1000)",
    });
    const shell = startRt({ program: ["sh", "-c", `'${RT}' --no-orphans a.ts & wait`], cwd: project.path });
    const pid = Number(new TextDecoder().decode((await shell.stdout.getReader().read()).value));
    shell.kill("SIGKILL");
    expect(pid).toBeGreaterThan(0);
    await waitUntil(() => !existsSync(`/proc/${pid}/comm`));
  });
});

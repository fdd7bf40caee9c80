// `interactive` tasks: standard input, output without a prefix, and nothing beside them.
import { describe, expect, test } from "bun:test";
import { startOnTerminal, type TerminalProgram } from "../../support/programs/terminal.ts";
import type { Project } from "../../support/project.ts";
import { cleanEnvironment, RT, runRt } from "../../support/rt.ts";
import { trustOf } from "../../support/trusted.ts";
import { ask, createServices, logOf, serve } from "./server.ts";

test("an interactive task gets standard input, prints without a prefix and runs alone", async () => {
  await using project = await createServices(
    {
      a: "echo a >> order; sleep 0.3; echo a ended >> order",
      b: "read line; echo got $line; echo b >> order; sleep 0.3; echo b ended >> order",
      c: "echo c >> order",
    },
    "[tasks.b]\ninteractive = true\n",
  );
  const { stdout, status } = await runRt({
    args: ["run", "--concurrency=4", "--report=r.json", "a", "b", "c"],
    cwd: project.path,
    stdin: "yes\n",
  });
  expect({ stdout, status }).toEqual({
    stdout: "a: Exited with code 0\ngot yes\nb: Exited with code 0\nc: Exited with code 0\n",
    status: 0,
  });
  expect((await Bun.file(project.join("order")).text()).trim().split("\n")).toEqual([
    "a",
    "a ended",
    "b",
    "b ended",
    "c",
  ]);
  expect(await Bun.file(project.join("r.json")).json()).toMatchObject({
    tasks: [{ script: "a" }, { script: "b", interactive: true }, { script: "c" }],
  });
});

test("an interactive task runs beside the service that it needs", async () => {
  await using project = await createServices(
    { db: serve("db"), console: `${ask("db")}; read line; echo got $line` },
    '[tasks.db]\nservice = true\n[tasks.console]\ninteractive = true\ndepends-on = ["db"]\n',
  );
  const { stdout, status } = await runRt({ args: ["run", "console"], cwd: project.path, stdin: "yes\n" });
  expect(status).toBe(0);
  expect(stdout).toContain("\ndb\ngot yes\n");
});

test("an interactive task has pipes with --output=json", async () => {
  await using project = await createServices(
    { a: "read line; echo got $line", b: "true" },
    "[tasks.a]\ninteractive = true\n",
  );
  const args = ["run", "--output=json", "a", "b"];
  const { stdout } = await runRt({ args, cwd: project.path, stdin: "yes\n" });
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.find(({ type }) => type === "output")).toMatchObject({ task: "a", line: "got yes" });
});

test.skipIf(process.platform !== "linux")(
  "the output of an interactive task with secrets is redacted, also with permissions",
  async () => {
    await using project = await createServices(
      { a: "echo a has $TOKEN", b: "echo b has $TOKEN" },
      `[tasks."*"]\ninteractive = true\nsecrets = ["TOKEN"]\n[tasks.a]\npermissions = true
[secrets.TOKEN]\nfrom.command = ["echo", "value-of-the-token"]\n`,
    );
    const env = { RT_TRUST: await trustOf(project.path) };
    const { stdout, status } = await runRt({ args: ["run", "a", "b"], cwd: project.path, env });
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: "a: a has [TOKEN]\na: Exited with code 0\nb has [TOKEN]\nb: Exited with code 0\n",
    });
  },
);

describe.skipIf(process.platform === "win32")("an interactive task on a terminal", () => {
  function start({ path }: Project, ...args: readonly string[]): TerminalProgram {
    const terminal = startOnTerminal([RT, "run", ...args], cleanEnvironment(), {
      cwd: path,
      isSessionLeader: true,
    });
    terminal.resize(100, 20);
    return terminal;
  }

  /** The service prints when the file "speak" exists, and then creates "spoken". */
  const SCRIPTS = {
    db: "echo begins; while :; do if test -e speak; then rm speak; echo spoke; touch spoken; fi; sleep 0.05; done",
    console:
      "test -t 0 && test -t 1 && echo na''me?; read -r name; touch speak; until test -e spoken; do sleep 0.02; done; echo hello $name; read -r word; echo bye $word",
    preconsole: ":",
    postconsole: ":",
  };
  const CONFIG =
    '[tasks.db]\nservice = true\nready = { log = "begins" }\n[tasks.console]\ninteractive = true\ndepends-on = ["db"]\n';

  test.each([[["console"]], [["--ui=list", "console"]], [["--output=stream", "console"]]])(
    "reads what is typed, and rt shows nothing until it has ended: rt run %p",
    async (args) => {
      await using project = await createServices(SCRIPTS, CONFIG);
      await using terminal = start(project, ...args);
      await terminal.awaitOutput("name?");
      terminal.type("Ann\r");
      await terminal.awaitOutput("hello Ann");
      terminal.resize(60, 20);
      terminal.type("now\r");
      await terminal.awaitOutput("bye now");
      expect(await terminal.awaitExit()).toBe(0);
      await terminal.awaitClose();
      const { shown } = terminal;
      expect(shown.slice(shown.indexOf("name?"), shown.indexOf("bye now"))).toBe(
        "name?\r\nAnn\r\nhello Ann\r\nnow\r\n",
      );
      const after = shown.slice(shown.indexOf("bye now"));
      expect(after).toContain("spoke");
      if (args.includes("--output=stream")) expect(after).toContain("postconsole: Exited with code 0");
    },
  );

  test("gets Ctrl-C, which ends the run if it ends the task", async () => {
    await using project = await createServices(
      {
        db: serve("db"),
        console:
          "trap 'echo cau''ght' INT; echo be''gins; read -r a; trap - INT; echo a''gain; read -r b; echo ne''ver",
        after: "echo after >> log",
      },
      '[tasks.db]\nservice = true\n[tasks.console]\ninteractive = true\ndepends-on = ["db"]\n[tasks.after]\ndepends-on = ["console"]\n',
    );
    await using terminal = start(project, "after");
    await terminal.awaitOutput("begins");
    terminal.type("\x03");
    await terminal.awaitOutput("caught");
    terminal.type("a\r");
    await terminal.awaitOutput("again");
    expect(await logOf(project)).toEqual(["db started"]);
    terminal.type("\x03");
    expect(await terminal.awaitExit()).toBe("SIGINT");
    expect(await logOf(project)).toEqual(["db started", "db interrupted"]);
    expect(terminal.shown).not.toContain("never");
  });
});

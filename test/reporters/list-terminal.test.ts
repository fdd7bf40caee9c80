// The list of tasks of the compiled program, on a terminal.
import { describe, expect, test } from "bun:test";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";
import { startOnTerminal, type TerminalProgram } from "../support/programs/terminal.ts";

const ENTER = "\x1b[?1049h";
const LEAVE = "\x1b[?1049l";
const HINTS = "j/k select";

const SCRIPTS = {
  "dev:a": "echo a $$ begins; stty size; while read -r line; do echo got:$line; done",
  "dev:b": "echo b begins; exec sleep 1000",
};

const createTasks = (scripts: Record<string, string> = SCRIPTS): Promise<Project> =>
  createProject({ "package.json": { scripts } });

function start(
  { path }: Project,
  env: Record<string, string> = {},
  args = ["run", "--parallel", "dev:*"],
): TerminalProgram {
  const terminal = startOnTerminal([RT, ...args], cleanEnvironment(env), {
    cwd: path,
    isSessionLeader: true,
  });
  terminal.resize(100, 20);
  return terminal;
}

/** Ends the run, and checks that the terminal is usable. */
async function quit(terminal: TerminalProgram): Promise<void> {
  terminal.type("q");
  expect(await terminal.awaitExit()).toBe("SIGINT");
  await terminal.awaitClose();
  expect(terminal.shown.split(ENTER).length).toBe(terminal.shown.split(LEAVE).length);
}

describe.skipIf(process.platform === "win32")("the list of tasks", () => {
  test("shows the selected task and sends it what is typed", async () => {
    await using project = await createTasks();
    await using terminal = start(project);
    await terminal.awaitOutput("begins");
    await terminal.awaitOutput(HINTS);
    terminal.type("fBEGINS\r");
    await terminal.awaitOutput("found in line 1 of 2");
    terminal.type("i");
    await terminal.awaitOutput("Ctrl-Z leaves");
    terminal.type("q hello\r");
    await terminal.awaitOutput("got:q hello");
    terminal.type("\x1aj");
    await terminal.awaitOutput("b begins");
    await quit(terminal);
    expect(terminal.isInDefaultMode).toBe(true);
    const after = terminal.shown.slice(terminal.shown.lastIndexOf(LEAVE));
    expect(after).toContain("│ got:q hello");
    expect(after).toContain("2 scripts in");
  });

  test("restarts a task, and stops one without the others", async () => {
    await using project = await createTasks();
    await using terminal = start(project);
    await terminal.awaitOutput("begins");
    const first = /a (\d+) begins/.exec(terminal.shown)![1]!;
    terminal.type("r");
    const second = () => [...terminal.shown.matchAll(/a (\d+) begins/g)].find(([, pid]) => pid !== first);
    while (!second()) await terminal.awaitOutput("begins", terminal.shown.split("begins").length);
    expect(() => process.kill(Number(first), 0)).toThrow();
    terminal.type("js");
    await terminal.awaitOutput("dev:b: Stopped");
    process.kill(Number(second()![1]), 0);
    await quit(terminal);
  });

  test("shows the output of a failed task after the end and exits with its code", async () => {
    await using project = await createTasks({
      "dev:a": "printf '\\033]52;c;eA==\\007'; seq 40; echo last; exit 7",
      "dev:b": "true",
    });
    await using terminal = start(project);
    expect(await terminal.awaitExit()).toBe(7);
    await terminal.awaitClose();
    const after = terminal.shown.slice(terminal.shown.lastIndexOf(LEAVE));
    expect(after.match(/│ \d+/g)).toHaveLength(40);
    expect(after).toContain("│ last");
    expect(after).toContain("dev:a (Exited with code 7)");
    expect(terminal.shown).not.toContain("\x1b]52");
  });

  test("switches to the prefixed stream with one key", async () => {
    await using project = await createTasks({
      "dev:a": "read -r go < go; echo a speaks; sleep 1000",
      "dev:b": "sleep 1000",
    });
    Bun.spawnSync(["mkfifo", `${project.path}/go`]);
    await using terminal = start(project);
    await terminal.awaitOutput(HINTS);
    terminal.type("p");
    await terminal.awaitOutput(LEAVE);
    await Bun.write(`${project.path}/go`, "go\n");
    await terminal.awaitOutput("a speaks");
    expect(Bun.stripANSI(terminal.shown)).toContain("dev:a | a speaks");
    terminal.type("\x03");
    expect(await terminal.awaitExit()).toBe("SIGINT");
    expect(terminal.isInDefaultMode).toBe(true);
  });

  test("passes a new size to the tasks", async () => {
    await using project = await createTasks({
      "dev:a": "trap 'stty size' WINCH; echo begins; while :; do sleep 0.01; done",
      "dev:b": "sleep 1000",
    });
    await using terminal = start(project);
    await terminal.awaitOutput("begins");
    terminal.resize(40, 30);
    await terminal.awaitOutput(" 40\x1b");
    await quit(terminal);
  });

  test("leaves the terminal usable when rt receives SIGTERM", async () => {
    await using project = await createTasks();
    await using terminal = start(project);
    await terminal.awaitOutput(HINTS);
    terminal.kill("SIGTERM");
    expect(await terminal.awaitExit()).toBe("SIGTERM");
    await terminal.awaitClose();
    expect(terminal.shown).toContain(LEAVE);
    expect(terminal.isInDefaultMode).toBe(true);
  });

  test("leaves the screen at Ctrl-Z and draws it again after fg", async () => {
    await using project = await createTasks();
    const script = `set -m; "$0" run --parallel 'dev:*'; stty -a | grep -o ' echo '; echo "[stopped]"; read -r; fg`;
    const terminal = startOnTerminal(["bash", "-c", script, RT], cleanEnvironment(), {
      cwd: project.path,
      isSessionLeader: true,
    });
    await using _ = terminal;
    await terminal.awaitOutput(HINTS);
    terminal.type("\x1a");
    await terminal.awaitOutput("[stopped]");
    expect(terminal.shown.lastIndexOf(LEAVE)).toBeGreaterThan(terminal.shown.lastIndexOf(ENTER));
    expect(terminal.shown).toContain(" echo ");
    terminal.type("\n");
    await terminal.awaitOutput(ENTER, 2);
    await terminal.awaitOutput(HINTS, 2);
    terminal.type("q");
    await terminal.awaitOutput("2 scripts in");
  });

  test("handles keys while a task prints without an end", async () => {
    await using project = await createTasks({ "dev:a": "yes", "dev:b": "echo b begins; sleep 1000" });
    await using terminal = start(project);
    await terminal.awaitOutput(HINTS);
    terminal.type("j");
    await terminal.awaitOutput("b begins");
    await quit(terminal);
  });

  test("rt shows no list on a terminal without cursor control", async () => {
    await using project = await createTasks({ "dev:a": "echo a", "dev:b": "echo b" });
    await using terminal = start(project, { TERM: "dumb" });
    expect(await terminal.awaitExit()).toBe(0);
    await terminal.awaitClose();
    expect(terminal.shown).not.toContain(ENTER);
  });
});

// The list of tasks of the compiled program, on a terminal.
import { describe, expect, test } from "bun:test";
import { createProject, type Project } from "../support/project.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";
import { startOnTerminal, type TerminalProgram } from "../support/programs/terminal.ts";

const ENTER = "\x1b[?1049h";
const LEAVE = "\x1b[?1049l";
const HINTS = "j/k select";

const SCRIPTS = {
  "dev:a": "stty size; echo a $$ begins; while read -r line; do echo got:$line; done",
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
    await terminal.awaitOutput("found in line 2 of 2");
    terminal.type("i");
    await terminal.awaitOutput("Ctrl-Z leaves");
    terminal.type("q hello\r");
    await terminal.awaitOutput("got:q hello");
    terminal.type("\x1aj");
    // The searched text is highlighted.
    await terminal.awaitOutput("b \x1b[0;7mbegins\x1b[0m");
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
    // Waits for the reader, unlike Bun.write.
    await Bun.spawn(["sh", "-c", 'echo go > "$0"', `${project.path}/go`]).exited;
    await terminal.awaitOutput("a speaks");
    expect(Bun.stripANSI(terminal.shown)).toContain("dev:a | a speaks");
    terminal.type("\x03");
    expect(await terminal.awaitExit()).toBe("SIGINT");
    expect(terminal.isInDefaultMode).toBe(true);
  });

  test("prints every line of a task that prints during the switch to the stream", async () => {
    await using project = await createTasks({ "dev:a": "exec seq 1000000000", "dev:b": "sleep 1000" });
    await using terminal = start(project);
    await terminal.awaitOutput(HINTS);
    terminal.type("p");
    await terminal.awaitOutput(LEAVE);
    await terminal.awaitOutput("dev:a", terminal.shown.split("dev:a").length + 200);
    terminal.type("\x03");
    await terminal.awaitExit();
    const after = Bun.stripANSI(terminal.shown.slice(terminal.shown.lastIndexOf(LEAVE)));
    const lines = [...after.matchAll(/^(?:│|dev:a \|) (\d+)\r$/gm)].slice(0, 100);
    // The last line of the list may continue in the stream.
    const printed = lines.map(([, number]) => number).join("");
    const first = Number(lines[0]![1]);
    const expected = Array.from(lines, (_, at) => first + at).join("");
    expect(printed).toBe(expected.slice(0, printed.length));
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

  test("keeps the scrolled lines while the task prints, and searches from the line that was found", async () => {
    await using project = await createTasks({
      "dev:a":
        "seq 100 | sed s/^/line./; read -r go < go; seq 100 | sed s/^/more./; echo printed; sleep 1000",
      "dev:b": "sleep 1000",
    });
    Bun.spawnSync(["mkfifo", `${project.path}/go`]);
    await using terminal = start(project);
    await terminal.awaitOutput("line.100");
    terminal.type("fLINE.4\r");
    await terminal.awaitOutput("found in line 49 of 100");
    terminal.type("N");
    await terminal.awaitOutput("found in line 48 of 100");
    // Clears the notice, so that the distance from the end is shown.
    terminal.type("h");
    await terminal.awaitOutput("any key leaves");
    terminal.type("h");
    await terminal.awaitOutput("34 lines below");
    await Bun.write(`${project.path}/go`, "go\n");
    await terminal.awaitOutput("135 lines below");
    terminal.type("n");
    await terminal.awaitOutput("found in line 49 of 201");
    terminal.type("G");
    await terminal.awaitOutput("printed");
    expect(terminal.shown).not.toContain("more.5\x1b");
    await quit(terminal);
  });

  test("shows the last lines of a task that has printed more than the scrollback while another one was shown", async () => {
    await using project = await createTasks({
      "dev:a": "read -r go < go; sleep 1000",
      "dev:b": "seq 50000; echo end > go; exec sleep 1000",
    });
    Bun.spawnSync(["mkfifo", `${project.path}/go`]);
    await using terminal = start(project);
    await terminal.awaitOutput(HINTS);
    terminal.type("j");
    await terminal.awaitOutput("50000");
    terminal.type("g");
    await terminal.awaitOutput("39983\x1b");
    await quit(terminal);
  });

  test.each([
    [20, 5],
    [30, 12],
    [1, 1],
  ])(
    "shows the list in a terminal of %d columns and %d rows, and after each resize",
    async (columns, rows) => {
      await using project = await createTasks();
      await using terminal = start(project);
      await terminal.awaitOutput(HINTS);
      terminal.resize(columns, rows);
      await terminal.awaitOutput("\x1b[2J", 3);
      terminal.resize(90, 20);
      await terminal.awaitOutput(HINTS, 2);
      await quit(terminal);
    },
  );

  test("shows the list without colours if NO_COLOR is set", async () => {
    await using project = await createTasks({
      "dev:a": "printf '\\033[31mred\\033[0m\\n'; exec sleep 1000",
      "dev:b": "sleep 1000",
    });
    await using terminal = start(project, { NO_COLOR: "1" });
    await terminal.awaitOutput("red");
    await terminal.awaitOutput(HINTS);
    await quit(terminal);
    expect(terminal.shown).not.toMatch(/\x1b\[[\d;]*[1-9]\d*m/);
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

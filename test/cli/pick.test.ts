// `rt run --pick` in a real terminal: search, run, arguments, exit, resize, thousands of scripts; and without a usable terminal.
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { splitLine } from "../../src/cli/picker/argument-splitter.ts";
import { createProject, type Project } from "../support/project.ts";
import { waitUntil } from "../support/processes.ts";
import { cleanEnvironment, type Environment, expectRt, RT } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { workspace } from "../support/workspace.ts";

const SOCKET = `rt-pick-${process.pid}`;

function tmux(...args: string[]): string {
  return Bun.spawnSync(["tmux", "-L", SOCKET, "-f", "/dev/null", ...args], {
    env: cleanEnvironment({ TERM: "xterm-256color", TMUX_TMPDIR: tmpdir() }),
  }).stdout.toString();
}

let sessions = 0;

class Screen {
  readonly #name: string;

  constructor(directory: string, args: string, env: Environment, columns = 60, rows = 20) {
    this.#name = `p${++sessions}`;
    // Prints the terminal's modes before and after.
    const modes = "stty -a | grep -o '[^ ]*icanon\\|[^ ]*echo ' | tr '\\n' ' '";
    const command = `trap : INT; clear; M=$(${modes}); ${RT} ${args}; S=$?; echo "modes $M/ $(${modes})"; echo "status $S"; read end`;
    const variables = Object.entries(cleanEnvironment(env)).map(([key, value]) => `${key}=${value}`);
    const place = ["-s", this.#name, "-x", String(columns), "-y", String(rows), "-c", directory];
    tmux(
      "new-session",
      "-d",
      ...place,
      "env",
      "-i",
      "TERM=screen",
      ...variables,
      "bash",
      "--norc",
      "-c",
      command,
    );
  }

  get lines(): string[] {
    const lines = tmux("capture-pane", "-t", this.#name, "-p")
      .split("\n")
      .map((line) => line.trimEnd());
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  /** Resolves with the screen when it has this line. */
  async awaitLine(line: string): Promise<string[]> {
    let lines: string[] = [];
    await waitUntil(() => (lines = this.lines).includes(line));
    return lines;
  }

  /** Resolves with the exit code after checking that the terminal's modes are restored. */
  async awaitExit(): Promise<number> {
    await waitUntil(() => /^status \d+$/.test(this.lines.at(-1) ?? ""));
    const [, before, after] = /^modes (.*)\/ (.*)$/.exec(this.lines.at(-2)!.padEnd(1))!;
    expect(after!.trim()).toBe(before!.trim());
    return Number(this.lines.at(-1)!.slice("status ".length));
  }

  type(text: string): void {
    tmux("send-keys", "-t", this.#name, "-l", "--", text);
  }

  press(...keys: string[]): void {
    tmux("send-keys", "-t", this.#name, ...keys);
  }

  resize(columns: number, rows: number): void {
    tmux("resize-window", "-t", this.#name, "-x", String(columns), "-y", String(rows));
  }
}

afterAll(() => void tmux("kill-server"));

async function shop(): Promise<Project> {
  return await createProject(
    workspace(
      {
        web: { scripts: { build: "echo built web", serve: 'read line; echo "got $line"' } },
        api: { scripts: { build: "echo built api", test: "echo tested" } },
      },
      { scripts: { lint: "echo linted" } },
    ),
  );
}

const stateOf = (project: Project): Environment => ({
  XDG_STATE_HOME: join(project.path, "state"),
  NO_COLOR: "1",
});

async function pick(project: Project, args = "run --pick", columns?: number, rows?: number): Promise<Screen> {
  await project.write({ "state/x": "" });
  return new Screen(project.path, args, stateOf(project), columns, rows);
}

describe.skipIf(process.platform === "win32").concurrent("rt run --pick", () => {
  test("finds scripts by name, package and command, and runs the chosen one in the terminal", async () => {
    await using project = await shop();
    const screen = await pick(project);
    const first = await screen.awaitLine("Run a script: _");
    expect(first.slice(1, 6)).toEqual([
      "> lint  echo linted",
      "  api build  echo built api",
      "  api test  echo tested",
      "  web build  echo built web",
      '  web serve  read line; echo "got $line"',
    ]);
    expect(first.slice(6, 8)).toEqual(["$ rt run lint", "  echo linted"]);
    screen.press("NPage"); // stops at the last script
    await screen.awaitLine("$ rt run --filter ./packages/web serve");
    screen.press("PPage");
    await screen.awaitLine("$ rt run lint");
    screen.press("Up", "Down", "Down"); // stops at the first script
    await screen.awaitLine("$ rt run --filter ./packages/api test");
    screen.type("wbserve");
    await screen.awaitLine("$ rt run --filter ./packages/web serve");
    screen.press("Enter");
    await screen.awaitLine('$ read line; echo "got $line"');
    screen.type("a line");
    screen.press("Enter");
    await screen.awaitLine("got a line");
    expect(await screen.awaitExit()).toBe(0);
  });

  test("passes arguments, and offers the last picked script and its arguments first", async () => {
    await using project = await shop();
    const screen = await pick(project);
    await screen.awaitLine("Run a script: _");
    screen.type("tested");
    await screen.awaitLine("> api test  echo tested");
    screen.press("Tab");
    await screen.awaitLine("Arguments: _");
    screen.press("Tab");
    await screen.awaitLine("Run a script: tested_");
    screen.press("Tab");
    await screen.awaitLine("Arguments: _");
    screen.type("--only 'a b");
    await screen.awaitLine("  Unclosed quote".trim());
    screen.press("Enter"); // Enter does nothing here
    screen.type("' $HOME");
    // The arguments are quoted as a shell needs them.
    await screen.awaitLine("$ rt run --filter ./packages/api test --only 'a b' '$HOME'");
    screen.press("Enter");
    await screen.awaitLine("tested --only a b $HOME");
    expect(await screen.awaitExit()).toBe(0);

    const again = await pick(project);
    const lines = await again.awaitLine("Run a script: _");
    expect(lines[1]).toBe("> api test  echo tested");
    again.press("Tab");
    await again.awaitLine("Arguments: --only 'a b' $HOME_");
    again.press("Tab");
    await again.awaitLine("Run a script: _");
    again.press("Escape");
    expect(await again.awaitExit()).toBe(130);
  });

  test.each(["C-c", "C-d", "Escape"])("exits with 130 and restores the terminal on %s", async (key) => {
    await using project = await shop();
    const screen = await pick(project);
    await screen.awaitLine("Run a script: _");
    screen.press(key);
    expect(await screen.awaitExit()).toBe(130);
  });

  test("redraws within the terminal width after a resize", async () => {
    await using project = await shop();
    const screen = await pick(project);
    await screen.awaitLine("Run a script: _");
    screen.resize(30, 20);
    const small = [
      "Run a script: _",
      "> lint  echo linted",
      "  api build  echo built api",
      "  api test  echo tested",
      "  web build  echo built web",
      "  web serve  read line; echo…",
      "$ rt run lint",
      "  echo linted",
      "Up/Down: choose, Enter: run,…",
    ];
    // The previous frame is cleared completely.
    await waitUntil(() => JSON.stringify(screen.lines) === JSON.stringify(small));
    screen.resize(30, 8);
    await waitUntil(
      () => JSON.stringify(screen.lines) === JSON.stringify([...small.slice(0, 4), ...small.slice(6)]),
    );
    screen.resize(70, 20);
    await screen.awaitLine('  web serve  read line; echo "got $line"');
    screen.press("C-c");
    expect(await screen.awaitExit()).toBe(130);
  });

  test("shows and searches five thousand scripts", async () => {
    const scripts = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`task-${index}`, `echo number ${index}`]),
    );
    await using project = await createProject({ "package.json": { scripts } });
    const screen = await pick(project);
    await screen.awaitLine("> task-0  echo number 0");
    screen.press("NPage", "NPage");
    const [, top] = await screen.awaitLine("> task-24  echo number 24");
    expect(top).toBe("  task-18  echo number 18");
    screen.type("4999");
    await screen.awaitLine("> task-4999  echo number 4999");
    screen.type("x");
    await screen.awaitLine("No script matches");
    screen.press("Enter"); // Enter does nothing here
    screen.press("BSpace", "Enter");
    await screen.awaitLine("number 4999");
    expect(await screen.awaitExit()).toBe(0);
  });

  test("starts on Enter after the list of scripts of rt run", async () => {
    await using project = await shop();
    const screen = await pick(project, "run");
    await screen.awaitLine("Press Enter to pick a script, any other key to exit");
    screen.press("Enter");
    await screen.awaitLine("$ rt run lint");
    screen.press("Enter");
    await screen.awaitLine("linted");
    expect(await screen.awaitExit()).toBe(0);
    const left = await pick(project, "run");
    await left.awaitLine("Press Enter to pick a script, any other key to exit");
    left.press("q");
    expect(await left.awaitExit()).toBe(0);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s ends the offer of the picker and restores the terminal",
    async (signal) => {
      await using project = await shop();
      await using terminal = startOnTerminal([RT, "run"], cleanEnvironment(stateOf(project)), {
        cwd: project.path,
      });
      await terminal.awaitOutput("any other key to exit");
      await waitUntil(() => !terminal.isInDefaultMode);
      terminal.kill(signal);
      expect(await terminal.awaitExit()).toBe(signal);
      expect(terminal.isInDefaultMode).toBe(true);
    },
  );

  test("restores the terminal when a signal ends it", async () => {
    await using project = await shop();
    await using terminal = startOnTerminal([RT, "run", "--pick"], cleanEnvironment(stateOf(project)), {
      cwd: project.path,
    });
    await terminal.awaitOutput("Run a script");
    await waitUntil(() => !terminal.isInDefaultMode);
    terminal.kill("SIGTERM");
    expect(await terminal.awaitExit()).toBe("SIGTERM");
    expect(terminal.isInDefaultMode).toBe(true);
  });

  test("prompts line by line with ACCESSIBLE=1", async () => {
    await using project = await shop();
    const env = cleanEnvironment({ ...stateOf(project), ACCESSIBLE: "1" });
    await using terminal = startOnTerminal([RT, "run", "--pick", "built web"], env, { cwd: project.path });
    await terminal.awaitOutput("1. web build: echo built web");
    await terminal.awaitOutput("(empty to exit): ");
    terminal.type("api tes\r");
    await terminal.awaitOutput("1. api test: echo tested");
    await terminal.awaitOutput("(empty to exit): ", 2);
    terminal.type("1\r");
    await terminal.awaitOutput("Arguments (empty for none): ");
    terminal.type("x\r");
    await terminal.awaitOutput("rt run --filter ./packages/api test x");
    await terminal.awaitOutput("tested x");
    expect(await terminal.awaitExit()).toBe(0);
    expect(terminal.shown).not.toContain("\x1b");
  });
});

test.skipIf(process.platform === "win32")(
  "the picker stores the last picked scripts separately for each workspace",
  async () => {
    await using project = await shop();
    await using other = await shop();
    await project.write({ "state/x": "" });
    const env = cleanEnvironment({ ...stateOf(project), ACCESSIBLE: "1" });
    const pickLint = async (at: Project, offered: string, args: string) => {
      await using terminal = startOnTerminal([RT, "run", "--pick", "echo linted"], env, { cwd: at.path });
      await terminal.awaitOutput("1. lint: echo linted");
      await terminal.awaitOutput("(empty to exit): ");
      terminal.type("0\r"); // no such number, so a part of a name
      await terminal.awaitOutput("No script matches");
      await terminal.awaitOutput("(empty to exit): ", 2);
      terminal.type("linted\r");
      await terminal.awaitOutput("(empty to exit): ", 3);
      terminal.type("1\r");
      await terminal.awaitOutput(`Arguments (${offered}empty for none): `);
      terminal.type("'\r");
      await terminal.awaitOutput("Unclosed quote");
      await terminal.awaitOutput("empty for none): ", 2);
      terminal.type(`${args}\r`);
      expect(await terminal.awaitExit()).toBe(0);
    };
    const kept = () => [
      ...new Bun.Glob("state/rt/picked/*.json").scanSync({ cwd: project.path, absolute: true }),
    ];
    await pickLint(project, "", "one");
    const [file] = kept();
    const picked = (await Bun.file(file!).json()) as object[];
    expect(picked).toHaveLength(1);
    const others = Array.from({ length: 60 }, (_, index) => ({ ...picked[0], scriptName: `task-${index}` }));
    await Bun.write(file!, JSON.stringify([...picked, null, { directory: 1 }, ...others]));
    await pickLint(project, "last time: one; ", "two");
    await pickLint(project, "last time: two; ", "three");
    const now = (await Bun.file(file!).json()) as { scriptName: string; args: string }[];
    expect(now.filter(({ scriptName }) => scriptName === "lint").map(({ args }) => args)).toEqual(["three"]);
    await Bun.write(file!, JSON.stringify(others));
    await pickLint(project, "", "four");
    expect(await Bun.file(file!).json()).toHaveLength(50);
    await pickLint(other, "", "five");
    expect(kept()).toHaveLength(2);
  },
);

test.skipIf(process.platform === "win32")("the line prompt exits with 130 after an empty line", async () => {
  await using project = await shop();
  const env = cleanEnvironment({ ...stateOf(project), ACCESSIBLE: "1" });
  await using terminal = startOnTerminal([RT, "run", "--pick"], env, { cwd: project.path });
  await terminal.awaitOutput("(empty to exit): ");
  terminal.type("\r");
  expect(await terminal.awaitExit()).toBe(130);
});

test.each<[string, string[] | undefined]>([
  ["", []],
  ["a  b\tc", ["a", "b", "c"]],
  [`'a\\' "b\\"c\\d\\\\" x"y"'z'`, ["a\\", 'b"c\\d\\', "xyz"]],
  [`'' ""`, ["", ""]],
  [String.raw`'a\\b\"c'`, [String.raw`a\\b\"c`]],
  ["a\\ b $HOME *\\", ["a b", "$HOME", "*\\"]],
  [`a "b`, undefined],
  ["a 'b", undefined],
])("splitLine() splits %j into %j", (line, words) => expect(splitLine(line)).toEqual(words));

describe.concurrent("without a terminal", () => {
  const files = { "package.json": { scripts: { a: "true" } } };

  test("--pick prints the list of scripts", () =>
    expectRt({
      files,
      args: ["run", "--pick"],
      stdout: "package.json scripts (1 found):\n  $ rt run a\n    true\n",
    }));
});

test.skipIf(process.platform === "win32")(
  "--pick is rejected together with options that select packages",
  async () => {
    await using project = await shop();
    await using terminal = startOnTerminal([RT, "run", "--pick", "--filter", "*"], cleanEnvironment(), {
      cwd: project.path,
    });
    await terminal.awaitOutput("--pick cannot be used with --filter");
    expect(await terminal.awaitExit()).toBe(1);
  },
);

test.skipIf(process.platform === "win32")("a list of scripts ends when its terminal closes", async () => {
  await using project = await createProject({ "package.json": { scripts: { a: "true", b: "true" } } });
  // The shell that leads the session ignores the signal, so rt detects the hang-up only by its standard input.
  const line = `trap '' HUP; ${RT} run --pick; echo $? > ended`;
  await using terminal = startOnTerminal(["sh", "-c", line], cleanEnvironment({ TERM: "xterm" }), {
    cwd: project.path,
    isSessionLeader: true,
  });
  await terminal.awaitOutput("b");
  terminal.hangUp();
  await waitUntil(() => existsSync(project.join("ended")));
});

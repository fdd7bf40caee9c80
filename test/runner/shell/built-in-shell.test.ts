// Tests `--shell rt` with several scripts: commands that rt evaluates itself behave like a separate shell.
import { copyFileSync, constants } from "node:fs";
import { describe, expect, test } from "bun:test";
import { needsNoProcess } from "../../../src/runner/script/built-in-shell.ts";
import { createProject, type Files } from "../../support/project.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { cleanEnvironment, RT, runRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";

const BUILT_IN = [
  ...["true", "false", "pwd", "echo", "exit", "exit 3", "exit 007", "exit 256", "exit 999", "  true  "],
  ...["true --help", "false x y", "true if", "echo if then fi", "echo -n a", "echo -e 'a\\tb'", "echo -E a"],
  ...[
    "echo -nn a",
    "echo -- a",
    "echo a  b",
    "echo 'a  b'",
    'echo "a  b"c',
    "echo '' a",
    'echo "it\'s"',
    "echo '\"'",
  ],
  ...[
    "echo a;echo b",
    "echo a&&echo b",
    "false || exit 9",
    "echo a && false || echo c",
    "true && false; pwd",
  ],
  ...[
    "echo a=b",
    "echo a,b",
    "echo %41 x/y@z:1 ..",
    "echo '日本 é 🙂'",
    "echo '$HOME `id` \\ * ~ {a,b} # !'",
  ],
  ...['echo "* ~ {a,b} # ! (x) | & ; < >"', "echo '(x) | & ; < >'", "echo a'b'\"c\"d", "pwd && pwd"],
] as const;

const EXTERNAL = [
  ...[
    "",
    " ",
    "ls",
    "rm x",
    "cd /",
    "cat",
    "exit abc",
    "exit 1 2",
    "exit 3; echo b",
    "exit -1",
    "pwd x",
    ":",
  ],
  ...[
    "echo $HOME",
    'echo "$HOME"',
    "echo `id`",
    "echo ~",
    "echo *",
    "echo {a,b}",
    "echo a > f",
    "echo a | cat",
  ],
  ...[
    "echo a &",
    "echo a # b",
    "echo a\\ b",
    'echo "a\\"b"',
    "echo a\necho b",
    "echo 'a\nb'",
    "echo a\tb",
    "! true",
  ],
  ...[
    "(echo a)",
    "if true; then echo a; fi",
    "A=1 echo a",
    '"echo" a',
    "echo 'a",
    "true &&",
    "; true",
    "true;",
    "é",
  ],
  ...[
    "echoa",
    "true & true",
    "true ||| true",
    "echo é",
    "echo \u0000",
    "echo '\u007f'",
    "echo \udc80",
    "yes",
    "seq 3",
  ],
] as const;

describe("--shell rt with several scripts", () => {
  test.each(BUILT_IN)("starts no process for %j", (command) => {
    expect(needsNoProcess(command, {})).toBe(true);
  });

  test.each(EXTERNAL)("starts a process for %j", (command) => {
    expect(needsNoProcess(command, {})).toBe(false);
  });

  test("matches the output and exit codes of the system's shell", async () => {
    const random = createRandom(3);
    const commands = [...BUILT_IN, ...Array.from({ length: 100 }, () => randomList(random))];
    expect(commands.filter((command) => !needsNoProcess(command, {}))).toEqual([]);
    await using project = await createProject(workspace(commands));
    const run = async (shell: string, env: Record<string, string> = {}) => {
      const args = ["run", "--silent", "--shell", shell, "--no-exit-on-error", "--concurrency", "2"];
      const target = ["--report", "report.json", "--parallel", "--workspaces", "t"];
      const { stdout, stderr, status } = await runRt({ args: [...args, ...target], cwd: project.path, env });
      const { tasks } = await Bun.file(project.join("report.json")).json();
      const codes = new Map<string, number>(
        tasks.map((task: { package: string; exitCode: number }) => [task.package, task.exitCode]),
      );
      return { stdout: lines(stdout), stderr: lines(stderr), codes, isSuccess: status === 0 };
    };
    const builtIn = await run("rt");
    expect(builtIn).toEqual(await run("system"));
    expect(builtIn.codes.size).toBe(commands.length);
    // This variable makes rt start a process for each script.
    expect(builtIn).toEqual(await run("rt", { BUN_OPTIONS: "--smol" }));
  });

  test("writes to the terminal like the system's shell when a script has it", async () => {
    await using project = await createProject({
      "package.json": { workspaces: ["packages/*"] },
      "packages/a/package.json": { name: "a", scripts: { t: "echo written" } },
    });
    for (const shell of ["rt", "system"]) {
      const args = [
        "run",
        "--cwd",
        project.path,
        "--shell",
        shell,
        "--report",
        "report.json",
        "--filter",
        "a",
        "t",
      ];
      await using terminal = startOnTerminal([RT, ...args], cleanEnvironment());
      await terminal.shows("Exited");
      expect(terminal.shown).toBe("written\r\na t: Exited with code 0\r\n");
      expect(await terminal.ends()).toBe(0);
    }
  });

  test("starts no process, and reports failures with the same messages", async () => {
    const chain = (script: string, ...dependencies: string[]) => ({
      scripts: { t: script },
      dependencies: Object.fromEntries(dependencies.map((name) => [name, "*"])),
    });
    await using project = await createProject({
      "package.json": { workspaces: ["packages/*"] },
      "packages/a/package.json": { name: "a", ...chain("rm -r ../../rt ../gone") },
      "packages/b/package.json": { name: "b", ...chain("echo inside", "a") },
      "packages/c/package.json": { name: "c", ...chain("exit 7", "b") },
      "packages/d/package.json": { name: "d", ...chain("echo outside | cat", "b") },
      "packages/gone/package.json": { name: "e", ...chain("echo never", "b") },
    });
    const copy = project.join("rt");
    copyFileSync(RT, copy, constants.COPYFILE_FICLONE);
    const { stdout, status } = await runRt({
      program: [copy],
      args: ["run", "--silent", "--concurrency", "1", "--shell", "rt", "--workspaces", "t"],
      cwd: project.path,
    });
    expect({ stdout: stdout.replaceAll(project.path, "$PROJECT"), status }).toEqual({
      stdout: [
        "a t: Exited with code 0",
        "b t: inside",
        "b t: Exited with code 0",
        "c t: Exited with code 7",
        "d t: Cannot start: $PROJECT/rt does not exist",
        "e t: Cannot start: its directory does not exist: $PROJECT/packages/gone",
        "",
      ].join("\n"),
      status: 7,
    });
  });
});

const lines = (text: string) =>
  text
    .replace(/Done in [\d.]+ m?s/g, "Done")
    .split("\n")
    .sort();

function workspace(commands: readonly string[]): Files {
  const files: Files = { "package.json": { workspaces: ["packages/*"] } };
  for (const [index, command] of commands.entries())
    files[`packages/p${index}/package.json`] = { name: `p${index}`, scripts: { t: command } };
  return files;
}

const SEPARATORS = [" && ", " || ", "; ", ";", "&&", "||"];
const UNQUOTED = "aZ09_@%+:,./=- ";
const QUOTED = `${UNQUOTED}*?[]{}()<>|&;#!~^éß日🙂`;

function randomWord(random: Random): string {
  const text = (from: string) =>
    Array.from({ length: random.below(5) }, () => random.pick(Array.from(from))).join("");
  const parts = [
    () => random.pick(Array.from(UNQUOTED.trim())),
    () => `'${text(`${QUOTED}"$\`\\`)}'`,
    () => `"${text(`${QUOTED}'`)}"`,
  ];
  return Array.from({ length: 1 + random.below(3) }, () => random.pick(parts)()).join("");
}

function randomList(random: Random): string {
  const simple = () => {
    const words = Array.from({ length: random.below(4) }, () => randomWord(random));
    return [random.pick(["true", "false", "echo", "echo", "echo -n", "echo -e"]), ...words].join(" ");
  };
  let list = "";
  for (let rest = random.below(4); rest > 0; rest -= 1) list += simple() + random.pick(SEPARATORS);
  return list + (random.below(3) === 0 ? `exit ${random.below(300)}` : simple());
}

// Tests scripts that rt evaluates without a process (`echo done`, `true`, `exit 3`): random commands and failing
// output behave like bash.
import { describe, expect, test } from "bun:test";
import { createProject } from "../../support/project.ts";
import { createRandom } from "../../support/random.ts";
import { RT, runRt } from "../../support/rt.ts";
import {
  createComparisonProject,
  linesOf,
  runBash,
  type CommandResult,
  shellIn,
  type ShellContext,
  contextsOf,
  WORDS,
} from "./bash-comparison.ts";

const SCRIPTS = { say: "echo said  by=script", fine: "true", bad: "false", leave: "exit 7" };
const FILES = { "package.json": { name: "project", scripts: SCRIPTS } };

/** Runs `command` in bash, with `$RT` for the program. */
const inShell = (command: string, cwd: string) =>
  runRt({ program: ["bash", "-c", command], cwd, env: { RT } });

test("a builtin script has the output and exit code of bash, alone and among several", async () => {
  await using project = await createProject(FILES);
  const run = async (...args: string[]) => await runRt({ args, cwd: project.path });
  expect(await run("run", "say")).toEqual({
    stdout: "said by=script\n",
    stderr: "$ echo said  by=script\n",
    status: 0,
  });
  expect(await run("say", "more", "--words")).toMatchObject({
    stdout: "said by=script more --words\n",
    status: 0,
  });
  expect(await run("--silent", "fine")).toEqual({ stdout: "", stderr: "", status: 0 });
  expect(await run("--silent", "bad")).toEqual({ stdout: "", stderr: "", status: 1 });
  expect(await run("--silent", "leave")).toEqual({ stdout: "", stderr: "", status: 7 });
  const { stdout, status } = await run(
    "run",
    "--silent",
    "--no-exit-on-error",
    "--sequential",
    "say",
    "fine",
    "leave",
  );
  expect({ lines: stdout.split("\n").filter((line) => !line.includes("Exited")), status }).toEqual({
    lines: ["say   | said by=script", ""],
    status: 7,
  });
});

test("a builtin script does not start a program of that name", async () => {
  await using project = await createProject(
    {
      ...FILES,
      "bin/echo": "#!/bin/sh\nprintf impostor\n",
      "bin/true": "#!/bin/sh\nprintf impostor\nexit 3\n",
      "node_modules/.bin/echo": "#!/bin/sh\nprintf impostor\n",
    },
    ["bin/echo", "bin/true", "node_modules/.bin/echo"],
  );
  const PATH = `${project.join("bin")}:${process.env.PATH}`;
  const run = async (script: string) =>
    await runRt({ args: ["--silent", script], cwd: project.path, env: { PATH } });
  expect(await run("say")).toEqual({ stdout: "said by=script\n", stderr: "", status: 0 });
  expect(await run("fine")).toEqual({ stdout: "", stderr: "", status: 0 });
});

test("a builtin script runs in bash when variables change bash", async () => {
  await using project = await createProject({
    ...FILES,
    "start.sh": "echo() { printf 'from a function'; }\n",
  });
  const run = async (env: Record<string, string>) =>
    (await runRt({ args: ["--silent", "say"], cwd: project.path, env })).stdout;
  expect(await run({ BASH_ENV: project.join("start.sh") })).toBe("from a function");
  expect(await run({ "BASH_FUNC_echo%%": "() { printf exported; }" })).toBe("exported");
});

describe("a builtin script whose output cannot be written", () => {
  test("fails like bash on a full disk", async () => {
    await using project = await createProject(FILES);
    const actual = await inShell("$RT --silent say >/dev/full", project.path);
    const expected = await inShell("$(command -v bash) -c 'echo said  by=script' >/dev/full", project.path);
    expect(actual).toEqual(expected);
    expect(actual.status).toBe(1);
  });

  test("dies of SIGPIPE when the reader has closed the pipe", async () => {
    await using project = await createProject(FILES);
    const command = "mkfifo p; exec 3<>p 4>p; exec 3<&-; $RT --silent say >&4; echo $?";
    expect(await inShell(command, project.path)).toEqual({ stdout: "141\n", stderr: "", status: 0 });
  });
});

function answer(command: string, context: ShellContext): CommandResult | undefined {
  const found = shellIn(context).emulate(command);
  return found && { stdout: linesOf(found.output), status: found.code };
}

describe("a command without a process", () => {
  const BUILTINS = ["echo", "true", "false", "exit"];

  test("matches the output and the exit code of bash", async () => {
    await using project = await createComparisonProject();
    const random = createRandom(11);
    const all = contextsOf(project);
    const numbers = Array.from({ length: 10 }, () => String(random.below(300)));
    let answered = 0;
    for (let round = 0; round < 20_000 && answered < 600; round += 1) {
      const context = random.below(2) ? all[0]! : random.pick(all);
      const words = Array.from({ length: random.below(4) }, () =>
        random.pick([...WORDS.slice(0, 25), ...numbers, "00", "08", "0x1", "1e1", "+1", "256"]),
      );
      const command = [random.pick(BUILTINS), ...words].join(random.pick([" ", " ", "  "]));
      const actual = answer(command, context);
      if (!actual) continue;
      answered += 1;
      const expected = runBash(command, context);
      expect({ command, ...context, ...actual }).toEqual({ command, ...context, ...expected });
    }
    expect(answered).toBe(600);
  });

  test.each(["true", "false x", "exit", "exit 0", "exit 255", "echo", "echo a", "echo a  b=c"])(
    "may be %j",
    (command) => expect(answer(command, { directory: "/", env: { PATH: process.env.PATH! } })).toBeDefined(),
  );

  test.each([
    ...[
      "exit 256",
      "exit -1",
      "exit a",
      "exit 1 2",
      "exit 01",
      "echo -n",
      "echo a -e",
      "echo 'a'",
      "echo $A",
      ":",
    ],
    ...["true && true", "true; echo", "echo a > b", "pwd", "printf a", `echo ${"a".repeat(600)}`],
  ])("may not be %j", (command) =>
    expect(answer(command, { directory: "/", env: { PATH: process.env.PATH! } })).toBeUndefined(),
  );
});

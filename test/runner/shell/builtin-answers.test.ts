// Scripts that rt answers itself (`echo done`, `true`, `exit 3`) must come out as they do from bash: random ones, and
// where the output goes wrong.
import { describe, expect, test } from "bun:test";
import { createProject } from "../../support/project.ts";
import { createRandom } from "../../support/random.ts";
import { RT, runRt } from "../../support/rt.ts";
import {
  createStage,
  linesOf,
  runBash,
  type Seen,
  shellIn,
  type Surroundings,
  surroundingsOf,
  WORDS,
} from "./bash-comparison.ts";

const SCRIPTS = { say: "echo said  by=script", fine: "true", bad: "false", leave: "exit 7" };
const FILES = { "package.json": { name: "project", scripts: SCRIPTS } };

/** What a shell shows of `command`, with `$RT` for the program. */
const inShell = (command: string, cwd: string) =>
  runRt({ program: ["bash", "-c", command], cwd, env: { RT } });

test("output and exit codes, alone and among many", async () => {
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

test("no program of that name is started", async () => {
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

test("what changes bash is left to bash", async () => {
  await using project = await createProject({
    ...FILES,
    "start.sh": "echo() { printf 'from a function'; }\n",
  });
  const run = async (env: Record<string, string>) =>
    (await runRt({ args: ["--silent", "say"], cwd: project.path, env })).stdout;
  expect(await run({ BASH_ENV: project.join("start.sh") })).toBe("from a function");
  expect(await run({ "BASH_FUNC_echo%%": "() { printf exported; }" })).toBe("exported");
});

describe("where the output cannot be written", () => {
  test("a full disk is told as bash tells it", async () => {
    await using project = await createProject(FILES);
    const ours = await inShell("$RT --silent say >/dev/full", project.path);
    const theirs = await inShell("$(command -v bash) -c 'echo said  by=script' >/dev/full", project.path);
    expect(ours).toEqual(theirs);
    expect(ours.status).toBe(1);
  });

  test("a reader that has gone ends it by SIGPIPE", async () => {
    await using project = await createProject(FILES);
    const command = "mkfifo p; exec 3<>p 4>p; exec 3<&-; $RT --silent say >&4; echo $?";
    expect(await inShell(command, project.path)).toEqual({ stdout: "141\n", stderr: "", status: 0 });
  });
});

function answer(command: string, surroundings: Surroundings): Seen | undefined {
  const found = shellIn(surroundings).emulate(command);
  return found && { stdout: linesOf(found.output), status: found.code };
}

describe("a command that is answered without a process", () => {
  const ANSWERED = ["echo", "true", "false", "exit"];

  test("has the output and the exit code of bash", async () => {
    await using project = await createStage();
    const random = createRandom(11);
    const all = surroundingsOf(project);
    const numbers = Array.from({ length: 10 }, () => String(random.below(300)));
    let answered = 0;
    for (let round = 0; round < 20_000 && answered < 600; round += 1) {
      const surroundings = random.below(2) ? all[0]! : random.pick(all);
      const words = Array.from({ length: random.below(4) }, () =>
        random.pick([...WORDS.slice(0, 25), ...numbers, "00", "08", "0x1", "1e1", "+1", "256"]),
      );
      const command = [random.pick(ANSWERED), ...words].join(random.pick([" ", " ", "  "]));
      const ours = answer(command, surroundings);
      if (!ours) continue;
      answered += 1;
      const theirs = runBash(command, surroundings);
      expect({ command, ...surroundings, ...ours }).toEqual({ command, ...surroundings, ...theirs });
    }
    expect(answered).toBe(600);
  });

  test.each(["true", "false x", "exit", "exit 0", "exit 255", "echo", "echo a", "echo a  b=c"])(
    "%j is answered",
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
  ])("%j is not", (command) =>
    expect(answer(command, { directory: "/", env: { PATH: process.env.PATH! } })).toBeUndefined(),
  );
});

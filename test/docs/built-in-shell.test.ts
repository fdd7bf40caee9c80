// Tests which shell syntax the built-in shell supports, as listed in docs/guides/scripts.md.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";

async function run(command: string) {
  await using project = await createProject({ "a.txt": "", "package.json": { scripts: { s: command } } });
  return await runRt({ args: ["run", "--silent", "--shell", "rt", "s"], cwd: project.path });
}

const SUPPORTED = {
  "echo one | cat": "one",
  "true && echo one": "one",
  "false || echo one": "one",
  "false; echo one": "one",
  "if true; then echo one; fi": "one",
  "[[ a == a ]] && echo one": "one",
  "echo one > file && cat < file": "one",
  "ls none 2>&1 | grep -c none": "1",
  "X=one; echo $X": "one",
  "echo $(echo one)": "one",
  "echo *.txt": "a.txt",
  "echo {a,b}": "a b",
};

const UNSUPPORTED = [
  "for i in one; do echo $i; done",
  "f() { echo one; }; f",
  "case a in a) echo one;; esac",
  "echo one & wait",
  "echo one >&2",
  "echo $?",
  "echo $((0+1))",
  "echo ${X:-one}",
];

describe.concurrent("the built-in shell", () => {
  for (const [command, output] of Object.entries(SUPPORTED)) {
    test(`runs the command: ${command}`, async () => {
      expect((await run(command)).stdout).toBe(`${output}\n`);
    });
  }

  for (const command of UNSUPPORTED) {
    test(`fails to run the command: ${command}`, async () => {
      const { stdout, stderr } = await run(command);
      expect([stdout.trim(), stderr.trim()]).not.toContainEqual(expect.stringMatching(/^(?:one|0|1)$/));
    });
  }

  test("exits with 1 when a command does not exist", async () => {
    expect((await run("rt-test-no-such-command")).status).toBe(1);
  });
});

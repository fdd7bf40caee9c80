// What docs/scripts.md says of the built-in shell, for whoever wonders whether a script can run in it.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";

async function run(command: string) {
  await using project = await createProject({ "a.txt": "", "package.json": { scripts: { s: command } } });
  return await runRt({ args: ["run", "--silent", "--shell", "rt", "s"], cwd: project.path });
}

const HAS = {
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

const HAS_NOT = [
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
  for (const [command, output] of Object.entries(HAS)) {
    test(`has ${command}`, async () => {
      expect((await run(command)).stdout).toBe(`${output}\n`);
    });
  }

  for (const command of HAS_NOT) {
    test(`has no ${command}`, async () => {
      const { stdout, stderr } = await run(command);
      expect([stdout.trim(), stderr.trim()]).not.toContainEqual(expect.stringMatching(/^(?:one|0|1)$/));
    });
  }

  test("ends with 1 where a command is not there", async () => {
    expect((await run("rt-test-no-such-command")).status).toBe(1);
  });
});

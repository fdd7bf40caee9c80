// rt's commands fail when they cannot write their output completely, so that a script detects it.
import { expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";

const COMMANDS = [
  "cache",
  "cache prune",
  "types",
  "help",
  "help caching",
  "run --help",
  "completions bash",
  "doctor",
  "--version",
  "--revision",
  "run",
];

async function run(words: string, end: string) {
  await using project = await createProject({ "package.json": { scripts: { hello: "echo hello" } } });
  return await runRt({
    program: ["bash", "-c", `"$0" "$@" ${end}`, RT],
    args: words.split(" "),
    cwd: project.path,
    env: { XDG_CACHE_HOME: project.path },
  });
}

test.skipIf(process.platform !== "linux").each(COMMANDS)(
  "rt %s fails with one error line when its output device is full",
  async (words) => {
    expect(await run(words, "> /dev/full")).toEqual({
      stdout: "",
      stderr: "error: Cannot write to standard output (ENOSPC)\n",
      status: words === "doctor" ? 2 : 1,
    });
  },
);

test.each([
  ["types foo", "types"],
  ["help run extra", "help"],
  ["completions bash zsh", "completions"],
])("rt %s fails with an unexpected argument", async (words, command) => {
  const more = words.split(" ").at(-1);
  expect(await run(words, "")).toEqual({
    stdout: "",
    stderr: `error: Unexpected argument "${more}"\nhint: see rt help ${command}\n`,
    status: 1,
  });
});

test.skipIf(process.platform === "win32").each(COMMANDS)(
  "rt %s prints no error when its reader has exited",
  async (words) => {
    const end = "> >(exec true); true"; // the exit code is the command's result, not part of this test
    expect(await run(words, end)).toMatchObject({ stdout: "", stderr: "" });
  },
);

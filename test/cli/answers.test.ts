// Output of rt's commands that cannot be written completely: rt fails, so that a script detects it.
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
  "rt %s into a full device is one line",
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
])("rt %s is more than that takes", async (words, command) => {
  const more = words.split(" ").at(-1);
  expect(await run(words, "")).toEqual({
    stdout: "",
    stderr: `error: Unexpected argument "${more}"\nhint: see rt help ${command}\n`,
    status: 1,
  });
});

test.skipIf(process.platform === "win32").each(COMMANDS)("rt %s to nobody says nothing", async (words) => {
  const end = "> >(exec true); true"; // its exit code is what was found
  expect(await run(words, end)).toMatchObject({ stdout: "", stderr: "" });
});

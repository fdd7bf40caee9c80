// Keys of rtfig.toml for tasks. test/tasks/table has the details.
import { expect } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { packageWith } from "../support/workspace.ts";
import { effect } from "./effects.ts";

const SCRIPTS = { a: "echo a", b: "echo b", "x:a": "echo xa" };

/** Runs rt in a package whose rtfig.toml has these rows. */
async function run(rows: string, ...args: readonly string[]) {
  await using project = await createProject({ ...packageWith(SCRIPTS), "rtfig.toml": rows });
  return await runRt({ args: ["run", ...args], cwd: project.path });
}

/** The settings that a dry run prints for the last task. */
async function settingsOf(rows: string, task: string) {
  const { stdout } = await run(rows, "--dry-run=json", task);
  return (JSON.parse(stdout) as { tasks: { settings?: Record<string, { value: unknown }> }[] }).tasks.at(-1)!
    .settings;
}

effect("tasks.*.depends-on", "names tasks that run before", async () => {
  const { stdout } = await run('[tasks.a]\ndepends-on = ["b"]', "a");
  expect(stdout).toBe("b: b\nb: Exited with code 0\na: a\na: Exited with code 0\n");
});

effect("tasks.*.command", "is a task without a script", async () => {
  expect((await run('[tasks.c]\ncommand = "echo c"', "c")).stdout).toBe("c\n");
});

effect("tasks.*.description", "is part of the list of scripts", async () => {
  expect((await run('[tasks.a]\ndescription = "Print a letter"')).stdout).toContain("    Print a letter\n");
});

effect("tasks.*.when", "excludes a task from globs", async () => {
  const { stdout } = await run('[tasks."x:a"]\nwhen = "never"', "--sequential", "--if-present", "x:*", "a");
  expect(stdout).toBe("a | a\n");
});

effect("tasks.*.timeout", "ends a task", async () => {
  const { stderr, status } = await run('[tasks.c]\ncommand = "sleep 1000"\ntimeout = "1s"', "c");
  expect([stderr.includes("Timed out after 1s"), status]).toEqual([true, 124]);
});

effect("tasks.*.retries", "repeats a task that fails", async () => {
  const { stderr, status } = await run('[tasks.c]\ncommand = "exit 2"\nretries = 1', "c");
  expect([stderr.includes("retry 1 of 1"), status]).toEqual([true, 2]);
});

effect("tasks.*.lock", "is part of the plan", async () => {
  expect(await settingsOf('[tasks.a]\nlock = "one"', "a")).toMatchObject({ lock: { value: "one" } });
});

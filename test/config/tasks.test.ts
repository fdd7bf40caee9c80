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

/** Runs a task that needs the service `s` with these keys. */
async function useService(keys: string, command: string) {
  return await run(
    `[tasks.s]\nservice = true\ncommand = ${JSON.stringify(command)}\n${keys}\n[tasks.a]\ndepends-on = ["s"]`,
    "a",
  );
}

effect("tasks.*.service", "fails when it ends before it is ready", async () => {
  const { stdout, status } = await useService("", "true");
  expect([stdout.includes("s: Exited with code 0 before it was ready"), status]).toEqual([true, 1]);
});

effect("tasks.*.ready.port", "is a port that no other program uses", async () => {
  using other = Bun.serve({ port: 0, fetch: () => new Response() });
  const { stdout } = await useService(`ready.port = ${other.port}`, "sleep 1000");
  expect(stdout).toContain(`s: Port ${other.port} is in use by another program\n`);
});

effect("tasks.*.ready.log", "is a text in the output", async () => {
  expect((await useService('ready.log = "up"', "echo up; sleep 1000")).stdout).toContain('s: Ready ("up")\n');
});

effect("tasks.*.ready.http", "is a URL that no other program answers", async () => {
  using other = Bun.serve({ port: 0, fetch: () => new Response() });
  const { stdout } = await useService(`ready.http = "http://localhost:${other.port}/"`, "sleep 1000");
  expect(stdout).toContain(`s: Another program answers at http://localhost:${other.port}/\n`);
});

effect("tasks.*.ready.command", "is a program that succeeds", async () => {
  expect((await useService('ready.command = ["true"]', "sleep 1000")).stdout).toContain(
    's: Ready ("true")\n',
  );
});

effect("tasks.*.ready.timeout", "limits the wait for a service", async () => {
  const { stdout, status } = await useService('ready.timeout = "1s"', "sleep 1000");
  expect([stdout.includes("s: Not ready after 1s"), status]).toEqual([true, 124]);
});

effect("tasks.*.restart", "starts a service again", async () => {
  const { stderr } = await useService(
    'restart = "on-failure"\nready.log = "up"',
    "test -e x || { touch x; exit 3; }; echo up; sleep 1000",
  );
  expect(stderr).toContain("warning: s: Exited with code 3; it starts again in 0.5 s\n");
});

effect("tasks.*.interactive", "prints without a prefix", async () => {
  expect((await run('[tasks.b]\ninteractive = true\n[tasks.a]\ndepends-on = ["b"]', "a")).stdout).toStartWith(
    "b\n",
  );
});

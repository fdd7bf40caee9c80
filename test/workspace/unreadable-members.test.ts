// A member whose package.json cannot be read. A run that may select it fails; any other run prints a warning.
import { expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { scripts, workspace } from "../support/workspace.ts";

const PROBLEM =
  "Cannot read $P/packages/bad/package.json:1:3: expected a member name in double quotes or }, found oops";

async function run(...args: string[]) {
  await using project = await createProject({
    ...workspace({ app: scripts("echo app"), lib: scripts("echo lib") }),
    "packages/bad/package.json": "{ oops",
    "packages/empty/x": "",
  });
  const { stdout, stderr, status } = await runRt({
    cwd: project.path,
    args: ["run", "--sequential", ...args, "t"],
  });
  const ran = stdout.split("\n").filter((line) => / (?:app|lib)$/.test(line)).length;
  return { ran, first: stderr.split("\n")[0]!.replaceAll(project.path, "$P"), status };
}

test.each<[ran: number, args: string[]]>([
  [1, ["--filter", "app"]],
  [2, ["--filter", "app", "--filter", "lib"]],
  [1, ["--filter", "./packages/app"]],
  [1, ["--filter", "{packages/a*}"]],
  [1, ["--filter", "app*{packages/app}"]],
  [2, ["--filter", "*", "--filter", "!./packages/bad"]],
  [2, ["--filter", "!{packages/b*}"]],
])("an unreadable member causes a warning, and %i scripts run, with %j", async (ran, args) => {
  expect(await run(...args)).toEqual({ ran, first: `warning: ${PROBLEM}`, status: 0 });
});

test.each<[args: string[]]>([
  [["--filter", "*"]],
  [["--filter", "a*"]],
  [["--filter", "!app"]],
  [["--filter", "app..."]],
  [["--filter", "...app"]],
  [["--filter", "bad"]],
  [["--filter", "app", "--filter", "bad"]],
  [["--filter", "./packages/bad"]],
  [["--filter", "{packages}"]],
  [["--filter", "app*{packages}"]],
  [["--workspaces"]],
  [["--if-present", "--filter", "bad"]],
])("an unreadable member is an error with %j", async (args) => {
  expect(await run(...args)).toEqual({ ran: 0, first: `error: ${PROBLEM}`, status: 1 });
});

test("a filter that may match an unreadable package continues with --no-exit-on-error and fails at the end", async () => {
  expect(await run("--no-exit-on-error", "--filter", "*")).toEqual({
    ran: 2,
    first: `warning: ${PROBLEM}`,
    status: 1,
  });
  expect(await run("--no-exit-on-error", "--filter", "app")).toMatchObject({ ran: 1, status: 0 });
  expect(await run("--no-exit-on-error", "--dry-run", "--filter", "*")).toMatchObject({ status: 1 });
  expect(await run("--no-exit-on-error", "--dry-run", "--filter", "app")).toMatchObject({ status: 0 });
});

test("a filter that matches nothing selects nothing with --if-present", async () => {
  await using project = await createProject(workspace({ app: scripts("echo app") }));
  const filtered = (...args: string[]) =>
    runRt({ cwd: project.path, args: ["run", "--if-present", ...args, "t"] });
  for (const args of [
    ["--filter", "nope"],
    ["--filter", "nope", "--filter", "*-no"],
    ["--filter", "app", "--filter", "!app"],
  ])
    expect(await filtered(...args)).toEqual({ stdout: "", stderr: "", status: 0 });
  expect(await filtered("--filter", "nope", "--filter", "app")).toMatchObject({
    stdout: expect.stringContaining("app t: app\n"),
    status: 0,
  });
});

// A folder of the workspace that cannot be listed. A run that may select packages in it fails; any other run prints a
// warning. Root can list every folder, so the tests run as another user.
import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { createProject } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";
import { AS_OTHER_USER, isRoot, OTHER_USER_ID } from "../support/users.ts";
import { scripts } from "../support/workspace.ts";

interface Layout {
  readonly patterns: readonly string[];
  readonly mode: number;
}

const DEFAULT_LAYOUT: Layout = { patterns: ["packages/*", "apps/*/*"], mode: 0o000 };

async function run({ patterns, mode }: Layout, ...args: string[]) {
  await using project = await createProject({
    "package.json": { name: "root", workspaces: patterns },
    "packages/a/package.json": { name: "a", ...scripts("echo a") },
    "packages/b/package.json": { name: "b", ...scripts("echo b") },
    "apps/x/y/package.json": { name: "y", ...scripts("echo y") },
  });
  if (isRoot) await Bun.$`chown -R ${OTHER_USER_ID}:${OTHER_USER_ID} ${project.path}`;
  chmodSync(project.join("packages"), mode);
  const { stdout, stderr, status } = await runRt({
    program: [...AS_OTHER_USER, RT],
    cwd: project.path,
    args: ["run", ...args, "t"],
  });
  chmodSync(project.join("packages"), 0o755);
  return {
    ran: stdout.split("\n").flatMap((line) => /^(\w+) t: \w+$/.exec(line)?.[1] ?? []),
    messages: stderr
      .split("\n")
      .filter((line) => line.includes(project.path))
      .map((line) => line.replaceAll(project.path, "$P")),
    status,
  };
}

const PROBLEM = "Cannot read $P/packages: permission denied";

test.each<[args: string[]]>([
  [["--filter", "*"]],
  [["--workspaces"]],
  [["--filter", "y..."]],
  [["--filter", "b"]],
  [["--filter", "y", "--filter", "b"]],
  [["--filter", "./packages/*"]],
  [["--filter", "./packages/b"]],
  [["--filter", "./pack*/b"]],
  [["--filter", "{packages}"]],
  [["--filter", "b*{packages/b}"]],
  [["--if-present", "--filter", "b"]],
])("an unlistable folder is an error with %j", async (args) => {
  expect(await run(DEFAULT_LAYOUT, ...args)).toEqual({ ran: [], messages: [`error: ${PROBLEM}`], status: 1 });
});

test.each<[args: string[]]>([
  [["--filter", "y"]],
  [["--filter", "./apps/*/*"]],
  [["--filter", "{apps}"]],
  [["--filter", "*", "--filter", "!./packages/*"]],
  [["--filter", "*", "--filter", "!{packages}"]],
])("an unlistable folder causes a warning with %j", async (args) => {
  expect(await run(DEFAULT_LAYOUT, ...args)).toEqual({
    ran: ["y"],
    messages: [`warning: ${PROBLEM}`],
    status: 0,
  });
});

test.each<[layout: Layout]>([
  [{ patterns: ["packages/*", "apps/*/*"], mode: 0o311 }],
  [{ patterns: ["packages/**", "apps/*/*"], mode: 0o311 }],
  [{ patterns: ["*/*", "apps/*/*"], mode: 0o000 }],
  [{ patterns: ["packages/a", "apps/*/*"], mode: 0o000 }],
])("an unlistable folder is an error with %j", async (layout) => {
  expect(await run(layout, "--filter", "*")).toEqual({ ran: [], messages: [`error: ${PROBLEM}`], status: 1 });
});

test("a folder that cannot be listed and whose own package.json cannot be read is reported once", async () => {
  const layout = { patterns: ["*", "*/*", "*/*/*"], mode: 0o000 };
  const { messages } = await run(layout, "--filter", "y");
  expect(messages).toEqual(["warning: Cannot read $P/packages/package.json: permission denied"]);
});

test("a folder whose packages are excluded causes no message", async () => {
  const layout = { patterns: ["*/*", "apps/*/*", "!packages/*"], mode: 0o000 };
  expect(await run(layout, "--filter", "*")).toEqual({ ran: ["y"], messages: [], status: 0 });
});

test("a run with an unlistable folder continues with --no-exit-on-error and fails at the end", async () => {
  expect(await run(DEFAULT_LAYOUT, "--no-exit-on-error", "--filter", "*")).toEqual({
    ran: ["y"],
    messages: [`warning: ${PROBLEM}`],
    status: 1,
  });
});

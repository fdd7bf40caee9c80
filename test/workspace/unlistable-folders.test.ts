// A folder that `workspaces` leads through and that cannot be listed: as with a package.json that cannot be read, the end of
// a run that may mean what is in it, a line in every other one. Root may list everything, so that it is tried as another user.
import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { createProject } from "../support/project.ts";
import { RT, runRt } from "../support/rt.ts";
import { AS_OTHER, isRoot, NOBODY } from "../support/users.ts";
import { scripts } from "../support/workspace.ts";

interface Place {
  readonly patterns: readonly string[];
  readonly mode: number;
}

const ORDINARY: Place = { patterns: ["packages/*", "apps/*/*"], mode: 0o000 };

async function run({ patterns, mode }: Place, ...args: string[]) {
  await using project = await createProject({
    "package.json": { name: "root", workspaces: patterns },
    "packages/a/package.json": { name: "a", ...scripts("echo a") },
    "packages/b/package.json": { name: "b", ...scripts("echo b") },
    "apps/x/y/package.json": { name: "y", ...scripts("echo y") },
  });
  if (isRoot) await Bun.$`chown -R ${NOBODY}:${NOBODY} ${project.path}`;
  chmodSync(project.join("packages"), mode);
  const { stdout, stderr, status } = await runRt({
    program: [...AS_OTHER, RT],
    cwd: project.path,
    args: ["run", ...args, "t"],
  });
  chmodSync(project.join("packages"), 0o755);
  return {
    ran: stdout.split("\n").flatMap((line) => /^(\w+) t: \w+$/.exec(line)?.[1] ?? []),
    told: stderr
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
])("it is an error with %j", async (args) => {
  expect(await run(ORDINARY, ...args)).toEqual({ ran: [], told: [`error: ${PROBLEM}`], status: 1 });
});

test.each<[args: string[]]>([
  [["--filter", "y"]],
  [["--filter", "./apps/*/*"]],
  [["--filter", "{apps}"]],
  [["--filter", "*", "--filter", "!./packages/*"]],
  [["--filter", "*", "--filter", "!{packages}"]],
])("it is a notice with %j", async (args) => {
  expect(await run(ORDINARY, ...args)).toEqual({ ran: ["y"], told: [`warning: ${PROBLEM}`], status: 0 });
});

test.each<[place: Place]>([
  [{ patterns: ["packages/*", "apps/*/*"], mode: 0o311 }],
  [{ patterns: ["packages/**", "apps/*/*"], mode: 0o311 }],
  [{ patterns: ["*/*", "apps/*/*"], mode: 0o000 }],
  [{ patterns: ["packages/a", "apps/*/*"], mode: 0o000 }],
])("it is an error with %j", async (place) => {
  expect(await run(place, "--filter", "*")).toEqual({ ran: [], told: [`error: ${PROBLEM}`], status: 1 });
});

test("a folder whose own package.json cannot be read either is told once", async () => {
  const place = { patterns: ["*", "*/*", "*/*/*"], mode: 0o000 };
  const { told } = await run(place, "--filter", "y");
  expect(told).toEqual(["warning: Cannot read $P/packages/package.json: permission denied"]);
});

test("a folder whose packages are excluded may be whatever it is", async () => {
  const place = { patterns: ["*/*", "apps/*/*", "!packages/*"], mode: 0o000 };
  expect(await run(place, "--filter", "*")).toEqual({ ran: ["y"], told: [], status: 0 });
});

test("a run with an unlistable folder continues with --no-exit-on-error and fails at the end", async () => {
  expect(await run(ORDINARY, "--no-exit-on-error", "--filter", "*")).toEqual({
    ran: ["y"],
    told: [`warning: ${PROBLEM}`],
    status: 1,
  });
});

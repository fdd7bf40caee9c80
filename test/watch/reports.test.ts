// `rt --watch run --report`: writing a report is not a change, and a report covers one round. The line that names the files
// of a restart would contain earlier unwanted changes.
import { expect, test } from "bun:test";
import { symlink } from "node:fs/promises";
import { resolve } from "node:path";
import { startLive, type Live } from "../options/live.ts";
import { createProject, type Project } from "../support/project.ts";
import { workspace } from "../support/workspace.ts";

/** Times in the output have a precision of 10 ms. */
const ROUNDING = 5; // ms

const dev = (line: string, ...needed: readonly string[]) => ({
  scripts: { dev: line },
  dependencies: Object.fromEntries(needed.map((name) => [name, "*"])),
});

/** The second package depends on the first. */
const PACKAGES = workspace(
  { api: dev("cat src.ts"), app: dev("cat src.ts", "api") },
  { scripts: { dev: "cat packages/api/src.ts" } },
);

function watch({ path }: Project, ...options: readonly string[]): Live {
  return startLive({ args: ["--watch", "run", ...options, "dev"], cwd: path, env: { NO_COLOR: "1" } });
}

test.concurrent.each([
  ["of packages", ["--filter=*"]],
  ["of packages, with --watch-path=.", ["--filter=*", "--watch-path=."]],
  ["of one script", []],
  ["of one script, with --watch-path=.", ["--watch-path=."]],
  ["that --watch-path names", ["--filter=*", "--watch-path=out.json", "--watch-path=packages"]],
])("reports %s are not changes", async (_, options) => {
  await using project = await createProject({
    ...PACKAGES,
    "packages/api/src.ts": "round 0.\n",
    "packages/app/src.ts": "",
    "packages/app/linked.json": "",
    "out.json": "",
  });
  await symlink("packages/app/linked.json", project.join("link.json"));
  await symlink("packages/api", project.join("folder"));
  const reports = ["out.json", "./packages/../out.html", "link.json", "folder/out.xml"];
  reports.push(project.join("out-trace.json"));
  await using live = watch(project, ...options, ...reports.map((report) => `--report=${report}`));
  for (let round = 1; round < 4; round += 1) {
    await live.see(`round ${round - 1}.`);
    await live.see("waiting for a change");
    for (const report of reports) expect(await Bun.file(resolve(project.path, report)).text()).not.toBe("");
    await project.write({ "packages/api/src.ts": `round ${round}.\n` });
  }
  await live.see("round 3.");
  await live.see("waiting for a change");
  const reasons = [...live.output.matchAll(/^rt: (.*) changed.*$/gm)].map(([, names]) => names!);
  expect(reasons).toEqual(Array<string>(3).fill("packages/api/src.ts"));
  expect(live.output).not.toContain("your script");
});

test.concurrent("a file with the name of a report in another folder is a change", async () => {
  await using project = await createProject({
    ...PACKAGES,
    "packages/api/src.ts": "",
    "packages/app/src.ts": "",
  });
  await using live = watch(project, "--filter=*", "--report=out.json");
  await live.see("waiting for a change");
  await project.write({ "packages/api/out.json": "{}" });
  await live.see("rt: packages/api/out.json changed");
});

test.concurrent("times in the report of a round are relative to its start", async () => {
  await using project = await createProject({
    ...PACKAGES,
    "packages/api/src.ts": "round 0.\n",
    "packages/app/src.ts": "",
  });
  await using live = watch(project, "--filter=*", "--report=out.json");
  await live.see("waiting for a change");
  await project.write({ "packages/api/src.ts": "round 1.\n" });
  await live.see("round 1.");
  const [, total, unit] = await live.see(/2 scripts in ([\d.]+) (m?s): 2 succeeded/);
  await live.see("waiting for a change");
  const { duration, tasks } = await Bun.file(project.join("out.json")).json();
  expect(tasks).toHaveLength(2);
  // Relative to the start of rt, the last task would end after the round.
  for (const task of tasks) expect(task.start + task.duration).toBeLessThanOrEqual(duration);
  expect(Number(total) * (unit === "s" ? 1000 : 1)).toBeLessThanOrEqual(duration + ROUNDING);
});

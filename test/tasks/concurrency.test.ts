// How many scripts run at a time: the option wins over RT_CONCURRENCY, and that over rtfig.toml. With --parallel the
// option alone counts, since a server that waits for another one to end would never start.
import { expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { scripts, workspace } from "../support/workspace.ts";

interface Settings {
  args?: readonly string[];
  environment?: string;
  configured?: number;
}

/** Fails where another one runs; the pause gives the others time to be in its way. */
const ALONE = "mkdir ../lock && sleep 0.1 && rmdir ../lock";

/** With this none ends before all of them run. */
const ALL_STARTED = "[ -e ../a/started ] && [ -e ../b/started ] && [ -e ../c/started ]";
const TOGETHER = `echo > started; until ${ALL_STARTED}; do sleep 0.01; done`;

/** Whether the scripts of three packages succeed. */
async function succeed(script: string, { args = ["--filter", "*"], environment, configured }: Settings) {
  await using project = await createProject({
    ...workspace({ a: scripts(script), b: scripts(script), c: scripts(script) }),
    ...(configured === undefined ? {} : { "rtfig.toml": `[run]\nconcurrency = ${configured}\n` }),
  });
  const { status } = await runRt({
    args: ["--no-exit-on-error", ...args, "run", "t"],
    cwd: project.path,
    env: { RT_CONCURRENCY: environment },
  });
  return status === 0;
}

test.concurrent("RT_CONCURRENCY bounds how many scripts run at a time", async () => {
  expect(await succeed(ALONE, { environment: "1" })).toBe(true);
  expect(await succeed(TOGETHER, { environment: "3" })).toBe(true);
});

test.concurrent("RT_CONCURRENCY that is empty, as CI sets what is not defined, says nothing", async () => {
  expect(await succeed(ALONE, { environment: "", configured: 1 })).toBe(true);
});

test.concurrent("RT_CONCURRENCY wins over rtfig.toml", async () => {
  expect(await succeed(ALONE, { environment: "1", configured: 3 })).toBe(true);
  expect(await succeed(TOGETHER, { environment: "3", configured: 1 })).toBe(true);
});

test.concurrent("--concurrency wins over RT_CONCURRENCY", async () => {
  const args = ["--filter", "*", "--concurrency"];
  expect(await succeed(ALONE, { args: [...args, "1"], environment: "3" })).toBe(true);
  expect(await succeed(TOGETHER, { args: [...args, "3"], environment: "1" })).toBe(true);
});

test.concurrent(
  "--parallel starts everything at once, unless the command line itself says how many",
  async () => {
    const args = ["--filter", "*", "--parallel"];
    expect(await succeed(TOGETHER, { args, environment: "1", configured: 1 })).toBe(true);
    expect(await succeed(ALONE, { args: [...args, "--concurrency=1"], environment: "3" })).toBe(true);
  },
);

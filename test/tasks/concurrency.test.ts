// Limit of scripts that run at once: the option overrides RT_CONCURRENCY, which overrides rtfig.toml. With --parallel
// only the option counts, because a server that waits for a free slot would never start.
import { expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { scripts, workspace } from "../support/workspace.ts";

interface Settings {
  args?: readonly string[];
  environment?: string;
  configured?: number;
}

/** Fails if another script runs at the same time; the pause gives the other scripts time to overlap. */
const ALONE = "mkdir ../lock && sleep 0.1 && rmdir ../lock";

/** Succeeds only if all three scripts run at once. */
const ALL_STARTED = "[ -e ../a/started ] && [ -e ../b/started ] && [ -e ../c/started ]";
const TOGETHER = `echo > started; until ${ALL_STARTED}; do sleep 0.05; done`;

/** Returns whether the scripts of three packages succeed. */
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

test.concurrent("RT_CONCURRENCY limits how many scripts run at once", async () => {
  expect(await succeed(ALONE, { environment: "1" })).toBe(true);
  expect(await succeed(TOGETHER, { environment: "3" })).toBe(true);
});

test.concurrent(
  "an empty RT_CONCURRENCY, which CI sets for an undefined variable, has no effect",
  async () => {
    expect(await succeed(ALONE, { environment: "", configured: 1 })).toBe(true);
  },
);

test.concurrent("RT_CONCURRENCY overrides rtfig.toml", async () => {
  expect(await succeed(ALONE, { environment: "1", configured: 3 })).toBe(true);
  expect(await succeed(TOGETHER, { environment: "3", configured: 1 })).toBe(true);
});

test.concurrent("--concurrency overrides RT_CONCURRENCY", async () => {
  const args = ["--filter", "*", "--concurrency"];
  expect(await succeed(ALONE, { args: [...args, "1"], environment: "3" })).toBe(true);
  expect(await succeed(TOGETHER, { args: [...args, "3"], environment: "1" })).toBe(true);
});

test.concurrent("--parallel starts all scripts at once unless --concurrency limits them", async () => {
  const args = ["--filter", "*", "--parallel"];
  expect(await succeed(TOGETHER, { args, environment: "1", configured: 1 })).toBe(true);
  expect(await succeed(ALONE, { args: [...args, "--concurrency=1"], environment: "3" })).toBe(true);
});

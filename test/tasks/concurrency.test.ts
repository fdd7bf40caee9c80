// How many scripts run at a time: the option wins over RT_CONCURRENCY, and that over rtfig.toml. With --parallel the
// option alone counts, since a server that waits for another one to end would never start.
import { expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { runRt } from "../support/rt.ts";

interface Settings {
  args?: readonly string[];
  environment?: string;
  configured?: number;
}

/** Fails where another one runs; the pause gives the others time to be in its way. */
const ALONE = "mkdir ../lock && sleep 0.1 && rmdir ../lock";

/** Whether three packages ran one after another. */
async function ranAlone({ args = ["--filter", "*"], environment, configured }: Settings) {
  await using project = await createProject({
    "package.json": { workspaces: ["a", "b", "c"] },
    "a/package.json": { name: "a", scripts: { go: ALONE } },
    "b/package.json": { name: "b", scripts: { go: ALONE } },
    "c/package.json": { name: "c", scripts: { go: ALONE } },
    ...(configured === undefined ? {} : { "rtfig.toml": `[run]\nconcurrency = ${configured}\n` }),
  });
  const { status } = await runRt({
    args: ["--no-exit-on-error", ...args, "run", "go"],
    cwd: project.path,
    env: { RT_CONCURRENCY: environment },
  });
  return status === 0;
}

test.concurrent("RT_CONCURRENCY bounds how many scripts run at a time", async () => {
  expect(await ranAlone({ environment: "1" })).toBe(true);
  expect(await ranAlone({ environment: "3" })).toBe(false);
});

test.concurrent("RT_CONCURRENCY wins over rtfig.toml", async () => {
  expect(await ranAlone({ environment: "1", configured: 3 })).toBe(true);
  expect(await ranAlone({ environment: "3", configured: 1 })).toBe(false);
});

test.concurrent("--concurrency wins over RT_CONCURRENCY", async () => {
  const args = ["--filter", "*", "--concurrency"];
  expect(await ranAlone({ args: [...args, "1"], environment: "3" })).toBe(true);
  expect(await ranAlone({ args: [...args, "3"], environment: "1" })).toBe(false);
});

test.concurrent(
  "--parallel starts everything at once, unless the command line itself says how many",
  async () => {
    const args = ["--filter", "*", "--parallel"];
    expect(await ranAlone({ args, environment: "1", configured: 1 })).toBe(false);
    expect(await ranAlone({ args: [...args, "--concurrency=1"], environment: "3" })).toBe(true);
  },
);

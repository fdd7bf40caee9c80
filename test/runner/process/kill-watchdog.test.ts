// Tests that no script survives when rt is killed by SIGKILL, at any moment.
//
//   RT_TEST_KILLS=200 npm test -- runner/process/kill-watchdog      (6 by default)
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMark, waitUntil } from "../../support/processes.ts";
import { createProject } from "../../support/project.ts";
import { createRandom } from "../../support/random.ts";
import { RT, startRt } from "../../support/rt.ts";
import { startOnTerminal } from "../../support/programs/terminal.ts";
import { cleanEnvironment } from "../../support/rt.ts";
import { workspace } from "../../support/workspace.ts";

const isLinux = process.platform === "linux";
const KILLS = Number(process.env.RT_TEST_KILLS ?? 6);
/** After this time a parallel run has started all its scripts. */
const MAX_DELAY = 200; // ms
/** Starts another session, which no process group of rt contains. */
const SURVIVES = "setsid sleep 1017 & sleep 1017; true";
const RTFIG = '[secrets.TOKEN]\nfrom = "com.acme/token"\n[run.secrets]\n"*" = ["TOKEN"]\n';
const TOKEN = "ghp_A1b2C3d4E5f6G7h8";

let folder = "";

beforeAll(async () => {
  if (!isLinux) return;
  folder = await mkdtemp(join(tmpdir(), "rt-test-killed-"));
  await Bun.$`cc -shared -fPIC -O1 -o ${folder}/signal-at.so ${join(import.meta.dir, "signal-at.c")}`.quiet();
});

afterAll(async () => await rm(folder, { recursive: true, force: true }));

/** Kills rt when it has started this many processes, including the watchdog, before it registers the last. */
const killedAfter = (processes: number) => ({
  LD_PRELOAD: join(folder, "signal-at.so"),
  SIGNAL_AT: "after-fork",
  SIGNAL_NUMBER: "9",
  SIGNAL_COUNT: String(processes),
});

const PACKAGES = workspace({
  a: { scripts: { t: SURVIVES } },
  b: { scripts: { t: SURVIVES } },
  c: { scripts: { t: SURVIVES } },
});

describe.skipIf(!isLinux).concurrent("rt after a SIGKILL", () => {
  for (const processes of [1, 2, 3, 4])
    test(`leaves no script of a parallel run when ${processes} processes have just started`, async () => {
      await using project = await createProject(PACKAGES);
      const mark = createMark();
      const env = { ...killedAfter(processes), ...mark.env };
      const args = ["run", "--parallel", "--concurrency=3", "--filter", "*", "t"];
      const child = startRt({ args, cwd: project.path, env });
      await child.exited;
      expect(child.signalCode).toBe("SIGKILL");
      await waitUntil(() => mark.find().length === 0);
    });

  test("leaves no hook that has just started", async () => {
    await using project = await createProject({
      "package.json": { scripts: { prego: SURVIVES, go: "echo not reached" } },
    });
    const mark = createMark();
    const child = startRt({ args: ["go"], cwd: project.path, env: { ...killedAfter(2), ...mark.env } });
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    await waitUntil(() => mark.find().length === 0);
  });

  test("leaves no script with permissions that has just started", async () => {
    const mark = createMark();
    const env = JSON.stringify(Object.keys(mark.env));
    await using project = await createProject({
      "package.json": { scripts: { go: SURVIVES } },
      "rtfig.toml": `[tasks.go]\nenv = ${env}\n`,
    });
    const args = ["run", "--permissions", "--parallel", "go"];
    // The killed rt leaves its folder of temporary files.
    const variables = { ...killedAfter(2), ...mark.env, TMPDIR: project.path };
    const child = startRt({ args, cwd: project.path, env: variables });
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    await waitUntil(() => mark.find().length === 0);
  });

  test("leaves no cached script that has just started", async () => {
    await using project = await createProject({
      "package.json": { scripts: { go: SURVIVES } },
      "rtfig.toml": "[run.cache]\ngo = true\n",
    });
    const mark = createMark();
    const env = { ...killedAfter(2), XDG_CACHE_HOME: project.join("cache"), ...mark.env };
    const child = startRt({ args: ["go"], cwd: project.path, env });
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    await waitUntil(() => mark.find().length === 0);
  });

  for (const [line, title] of [
    [`echo up; ${SURVIVES}`, "with secrets that writes to a pipe"],
    [`echo up >&2; exec >/dev/null 2>&1; ${SURVIVES}`, "with secrets that has closed its pipe"],
  ] as const)
    test(`leaves no script ${title}`, async () => {
      await using project = await createProject({
        "package.json": { scripts: { go: line } },
        "rtfig.toml": RTFIG,
      });
      const mark = createMark();
      const child = startRt({ args: ["--silent", "go"], cwd: project.path, env: { TOKEN, ...mark.env } });
      const [output, error] = [child.stdout.getReader(), child.stderr.getReader()];
      await Promise.race([output.read(), error.read()]);
      child.kill("SIGKILL");
      await waitUntil(() => mark.find().length === 0);
    });

  test("leaves no script with secrets on its terminal", async () => {
    await using project = await createProject({
      "package.json": { scripts: { go: "echo up; sleep 1017; true" } },
      "rtfig.toml": RTFIG,
    });
    const mark = createMark();
    const words = [RT, "--silent", "--cwd", project.path, "run", "go"];
    await using terminal = startOnTerminal(words, cleanEnvironment({ TOKEN, ...mark.env }));
    await terminal.awaitOutput("up");
    const rt = mark.find().find(({ command }) => command.startsWith(RT))!;
    process.kill(rt.pid, "SIGKILL");
    await waitUntil(() => mark.find().length === 0);
  });

  test(
    `leaves no script of a parallel run at ${KILLS} random moments`,
    async () => {
      await using project = await createProject(PACKAGES);
      const random = createRandom(1);
      for (let round = 0; round < KILLS; round += 1) {
        const mark = createMark();
        const args = ["run", "--parallel", "--concurrency=3", "--filter", "*", "t"];
        const child = startRt({ args, cwd: project.path, env: mark.env });
        const timer = setTimeout(() => child.kill("SIGKILL"), random.below(MAX_DELAY));
        await child.exited;
        clearTimeout(timer);
        await waitUntil(() => mark.find().length === 0);
      }
    },
    10_000 + KILLS * 3000,
  );
});

// Tests how signals end a run: which signal counts, when a script is killed, and which processes survive. Each script
// prints its signals, so that the next signal of a test is always a second one.
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { createMark, watchdogOf, type Mark, waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, RT, startRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { workspace } from "../support/workspace.ts";

const IGNORES = "trap '' INT TERM HUP; echo up; while :; do sleep 0.05; done";
/** Prints each signal and continues. */
const REPORTS = "trap 'echo heard' INT TERM HUP; echo up; while :; do sleep 0.05; done";

/** Runs until it is killed; answers SIGUSR1. */
const ANSWERS = 'trap "echo > answer" USR1; echo > listens; while :; do sleep 1017 & wait; done';

interface Run {
  /** The project folder. */
  readonly path: string;
  readonly child: ReturnType<typeof startRt>;
  readonly mark: Mark;
  /** Resolves when standard output contains the text `times` times. */
  shows(text: string, times?: number): Promise<void>;
  /** Resolves to all of standard output when rt has ended. */
  ends(): Promise<string>;
}

async function withRun(
  scripts: Record<string, string>,
  args: string[],
  use: (run: Run) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  await using project = await createProject({ "package.json": { scripts } });
  const mark = createMark();
  const child = startRt({ args, cwd: project.path, env: { ...mark.env, ...env } });
  const reader = child.stdout.getReader();
  let shown = "";
  const read = async () => {
    const { done, value } = await reader.read();
    shown += Buffer.from(value ?? []).toString();
    return !done;
  };
  try {
    await use({
      path: project.path,
      child,
      mark,
      async shows(text, times = 1) {
        while (shown.split(text).length <= times)
          if (!(await read())) throw new Error(`Ended without "${text}": ${shown}`);
      },
      async ends() {
        while (await read());
        await child.exited;
        return shown;
      },
    });
  } finally {
    mark.kill();
  }
}

const BOTH = ["run", "--parallel", "--silent", "deaf", "hearing"];
const SCRIPTS = { deaf: IGNORES, hearing: REPORTS };

test.concurrent.each([
  ["rt run --parallel", BOTH],
  ["rt --watch run", ["--watch", "--silent", "run", "deaf"]],
  ["rt --watch run --parallel", ["--watch", ...BOTH]],
])("%s kills a script that ignores a signal after the grace period", (_, args) =>
  withRun(SCRIPTS, args, async ({ child, mark, shows, ends }) => {
    await shows("up\n", args === BOTH ? 2 : 1);
    child.kill("SIGTERM");
    await ends();
    expect(child.signalCode).toBe("SIGTERM");
    expect(mark.find()).toEqual([]);
  }),
);

test.concurrent("a background process of a script may end after the script without being killed", () => {
  // It holds no pipe to rt, and begins to end only when the script has ended.
  const background =
    "exec > /dev/null 2>&1; trap told=1 TERM; : > up; until [ $told ]; do sleep 0.05; done; " +
    "while kill -0 $1; do sleep 0.01; done; sleep 0.3; : > ended";
  const left = `bash -c '${background}' left $$ & until [ -e up ]; do sleep 0.05; done; echo up; wait`;
  return withRun({ left }, ["run", "--parallel", "left"], async ({ child, path, shows, ends }) => {
    await shows("up\n");
    child.kill("SIGTERM");
    await ends();
    expect(child.signalCode).toBe("SIGTERM");
    expect(existsSync(`${path}/ended`)).toBe(true);
  });
});

test.concurrent("a second SIGINT kills the scripts that ignored the first", () =>
  withRun(SCRIPTS, BOTH, async ({ child, mark, shows, ends }) => {
    await shows("up\n", 2);
    child.kill("SIGINT");
    await shows("heard\n");
    child.kill("SIGINT");
    // A killed script cannot print the second signal.
    expect((await ends()).split("heard").length).toBe(2);
    expect(child.signalCode).toBe("SIGINT");
    expect(mark.find()).toEqual([]);
  }),
);

test.concurrent("a run dies of the first of several signals, and passes a second SIGTERM on", () =>
  withRun(SCRIPTS, BOTH, async ({ child, shows, ends }) => {
    await shows("up\n", 2);
    child.kill("SIGHUP");
    await shows("heard\n");
    child.kill("SIGTERM");
    await shows("heard\n", 2);
    child.kill("SIGINT");
    await ends();
    expect(child.signalCode).toBe("SIGHUP");
  }),
);

test.concurrent("rt --watch dies of the first of two signals, and kills its script at the second", () => {
  // Without the second signal, the script would end within the grace period.
  const t =
    "trap told=1 HUP; echo up; until [ $told ]; do sleep 0.05; done; echo heard; sleep 2; echo finished";
  return withRun({ t }, ["--watch", "--silent", "run", "t"], async ({ child, mark, shows, ends }) => {
    await shows("up\n");
    child.kill("SIGHUP");
    await shows("heard\n");
    child.kill("SIGTERM");
    expect(await ends()).toBe("up\nheard\n");
    expect(child.signalCode).toBe("SIGHUP");
    expect(mark.find()).toEqual([]);
  });
});

test.concurrent("a hook that continues after a signal is killed at the second", () =>
  withRun(
    { pret: REPORTS, t: "echo never" },
    ["--silent", "run", "t"],
    async ({ child, mark, shows, ends }) => {
      await shows("up\n");
      child.kill("SIGTERM");
      await shows("heard\n");
      child.kill("SIGHUP");
      expect(await ends()).toBe("up\nheard\n");
      expect(child.signalCode).toBe("SIGKILL");
      await waitUntil(() => mark.find().length === 0);
    },
  ),
);

/** Waits until rt reports the end of the script `left` on standard error. */
async function waitForLeft({ child }: Run): Promise<void> {
  const stderr = child.stderr.getReader();
  for (let text = ""; !/left +\| Done/.test(text);)
    text += Buffer.from((await stderr.read()).value!).toString();
}

const LEAVES_BACKGROUND = "sleep 1019 & echo left";
const commandsOf = ({ mark }: Run) => mark.find().map(({ command }) => command);

test.concurrent.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "%s also ends the background process of a finished script",
  (signal) =>
    withRun(
      { left: LEAVES_BACKGROUND, runs: "echo up; exec sleep 1018" },
      ["run", "--parallel", "left", "runs"],
      async (run) => {
        await run.shows("up\n");
        await waitForLeft(run);
        run.child.kill(signal);
        await run.ends();
        expect(run.child.signalCode).toBe(signal);
        expect(commandsOf(run)).toEqual([]);
      },
    ),
);

test.concurrent(
  "Ctrl-C in a terminal also ends the background process of a finished script of a package",
  async () => {
    await using project = await createProject(
      workspace({
        a: { scripts: { t: LEAVES_BACKGROUND } },
        b: { scripts: { t: "echo up; exec sleep 1018" } },
      }),
    );
    const mark = createMark();
    const args = ["run", "--filter=*", "--concurrency=2", "t"];
    await using terminal = startOnTerminal([RT, ...args], cleanEnvironment(mark.env), {
      cwd: project.path,
      isSessionLeader: true,
    });
    await terminal.awaitOutput("Done in");
    await terminal.awaitOutput("up");
    terminal.type("\x03");
    expect(await terminal.awaitExit()).toBe("SIGINT");
    expect(mark.find()).toEqual([]);
  },
);

test.concurrent(
  "a background process of a finished script is killed at the second signal if it ignores the first",
  () =>
    withRun(
      { left: `(${IGNORES.replace("up", "left")}) & until [ -e go ]; do sleep 0.05; done`, hearing: REPORTS },
      ["run", "--parallel", "left", "hearing"],
      async (run) => {
        await run.shows("left\n");
        await run.shows("up\n");
        await Bun.write(`${run.path}/go`, "");
        await waitForLeft(run);
        run.child.kill("SIGINT");
        await run.shows("heard\n");
        run.child.kill("SIGINT");
        await run.ends();
        expect(commandsOf(run)).toEqual([]);
      },
    ),
);

test.concurrent.each([0, 3])(
  "a run that ends without a signal, here with %d, leaves background processes of finished scripts running",
  (status) =>
    withRun(
      {
        left: LEAVES_BACKGROUND,
        ends: `until [ -e go ]; do sleep 0.05; done; exit ${status}`,
        ...(status > 0 && { runs: "echo up; exec sleep 1018" }),
      },
      ["run", "--parallel", "left", "ends", ...(status > 0 ? ["runs"] : [])],
      async (run) => {
        await waitForLeft(run);
        if (status > 0) await run.shows("up\n");
        await Bun.write(`${run.path}/go`, "");
        await run.ends();
        expect(run.child.exitCode).toBe(status);
        expect(commandsOf(run)).toEqual(["sleep 1019"]);
      },
    ),
);

test.skipIf(process.platform !== "linux")(
  "the kill watchdog leaves background processes of finished scripts running",
  () =>
    withRun(
      { left: `bash -c '${ANSWERS}' left & echo up`, runs: "exec sleep 1018" },
      ["run", "--parallel", "left", "runs"],
      async ({ child, mark, path, shows }) => {
        await shows("left | up\n");
        const stderr = child.stderr.getReader();
        for (let text = ""; !text.includes("left | Done");)
          text += Buffer.from((await stderr.read()).value!).toString();
        const find = (command: string) => mark.find().find((each) => each.command === command);
        await waitUntil(() => find("sleep 1018") !== undefined && existsSync(`${path}/listens`));
        const watchdog = await watchdogOf(child.pid, 1);
        child.kill("SIGKILL");
        // The kill watchdog stops each process before it kills it, and ends after the last kill.
        await waitUntil(() => !existsSync(`/proc/${watchdog}/cwd`));
        await waitUntil(() => find("sleep 1018") === undefined);
        const left = mark.find().find(({ command }) => command.endsWith(" left"));
        process.kill(left!.pid, "SIGUSR1");
        await waitUntil(() => existsSync(`${path}/answer`));
      },
    ),
);

test("an exit status is 127 for a missing directory of a script and 126 for a script that cannot start", async () => {
  const root = { "package.json": { workspaces: ["packages/*"] } };
  for (const [script, status] of [
    ["true", 127],
    [`: ${"x".repeat(200_000)}`, 126],
    ["tool", 126],
  ] as const) {
    await using project = await createProject({
      ...root,
      "packages/a/package.json": { name: "a", scripts: { t: status === 127 ? "rm -r ../b" : "true" } },
      "packages/b/package.json": { name: "b", scripts: { t: script, pret: "true && true" } },
      "packages/b/node_modules/.bin/tool": "#!/etc/passwd\n", // an interpreter that is not executable
    });
    await chmod(project.join("packages/b/node_modules/.bin/tool"), 0o755);
    const child = startRt({
      args: ["run", "--silent", "--sequential", "--filter", "*", "t"],
      cwd: project.path,
    });
    const stderr = await new Response(child.stderr).text();
    expect(stderr).toContain("b:t | Cannot start: ");
    expect(await child.exited).toBe(status);
  }
});

test("a script that cannot start leaks no file descriptor", async () => {
  const packages = Array.from({ length: 40 }, (_, index) => `p${index + 10}`);
  await using project = await createProject({
    "package.json": { workspaces: ["packages/*"] },
    "packages/a/package.json": { name: "a", scripts: { t: "rm -r ../p*" } },
    ...Object.fromEntries(
      packages.map((name) => [`packages/${name}/package.json`, { name, scripts: { t: "ls && ls" } }]),
    ),
  });
  const child = startRt({
    program: ["bash", "-c", 'ulimit -n 64; exec "$0" "$@"', RT],
    args: ["run", "--silent", "--sequential", "--no-exit-on-error", "--filter", "*", "t"],
    cwd: project.path,
  });
  const lines = (await new Response(child.stderr).text())
    .split("\n")
    .filter((line) => line.includes("Cannot start"));
  expect(lines).toHaveLength(packages.length);
  for (const line of lines) expect(line).toContain("Cannot start: its directory does not exist");
  expect(await child.exited).toBe(127);
});

test.skipIf(process.platform !== "linux").each([5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16])(
  "with a limit of %d open files, a run works or reports the limit in one line",
  async (limit) => {
    await using project = await createProject({
      "package.json": { scripts: { t: "ls && seq 50000", preu: "ls && true", u: "ls" } },
    });
    for (const args of [["--parallel", "t"], ["--filter", ".", "t"], ["t"], ["u"]]) {
      const child = startRt({
        program: ["bash", "-c", `ulimit -n ${limit}; exec "$0" "$@"`, RT],
        args: ["run", "--silent", ...args],
        cwd: project.path,
      });
      const [out, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      const status = await child.exited;
      if (status === 0) {
        expect(out).toContain(args.at(-1) === "t" ? "50000\n" : "package.json\n");
        continue;
      }
      expect(status).toBe(1);
      // With 5 the engine fails before any code of rt runs.
      if (limit > 5)
        expect(stderr).toMatch(
          new RegExp(
            `^error: (Too many open files: the limit is ${limit} \\(ulimit -n\\)\nhint: .*|Cannot read .*/package.json: EMFILE)\n$`,
          ),
        );
    }
  },
);

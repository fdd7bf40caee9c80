import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "bun:test";
import { compileProgram } from "../support/programs/programs.ts";
import { createProject } from "../support/project.ts";
import { createMark, watchdogOf, type Mark, waitUntil } from "../support/processes.ts";
import { RT, startRt } from "../support/rt.ts";

// Each script starts four processes: a plain child, one in the background, one in another session, and one whose
// parent has exited. Then it prints a line.
const PROCESS_TREE =
  "sleep 1001 & setsid sleep 1002 & (sleep 1003 & setsid sleep 1004 &) ; echo up; sleep 1005";
const TREE_SIZE = 4; // sleeps that rt finds in the tree of a script: 1001, 1002, 1003, 1005

interface Run {
  readonly child: ReturnType<typeof startRt>;
  readonly mark: Mark;
  sleeps(): string[];
}

async function withRun(
  args: string[],
  script: string,
  use: (run: Run) => Promise<void>,
  expected: number,
): Promise<void> {
  const manifest = { scripts: { t: script } };
  await using project = await createProject({
    "package.json": { workspaces: ["packages/*"] },
    "packages/a/package.json": { name: "a", ...manifest },
    "packages/b/package.json": { name: "b", ...manifest },
  });
  const mark = createMark();
  const child = startRt({ args: ["run", ...args, "t"], cwd: project.path, env: mark.env });
  const sleeps = () => mark.find().flatMap(({ command }) => (command.startsWith("sleep ") ? [command] : []));
  void child.stdout.pipeTo(new WritableStream());
  void child.stderr.pipeTo(new WritableStream());
  try {
    await waitUntil(() => sleeps().length === expected);
    await use({ child, mark, sleeps });
  } finally {
    mark.kill();
  }
}

/** With dependency order and without it. The options that select packages do not change how a run ends. */
const MODES = [
  ["--filter", "*"],
  ["--parallel", "--workspaces"],
];
const ORPHANED = ["sleep 1004", "sleep 1004"]; // in another session and without a parent before the signal

describe.each(MODES.map((mode) => [mode.join(" "), mode] as const))("rt run %s", (_, mode) => {
  test.each(["SIGTERM", "SIGHUP"] as const)("passes %s to every descendant and dies of it", (signal) =>
    withRun(
      [...mode, "--concurrency", "2"],
      PROCESS_TREE,
      async ({ child, sleeps }) => {
        child.kill(signal);
        await child.exited;
        expect(child.signalCode).toBe(signal);
        expect(sleeps().sort()).toEqual(ORPHANED);
      },
      2 * (TREE_SIZE + 1),
    ),
  );

  test("passes SIGINT on while a script is silent, and dies of it", () =>
    withRun(
      [...mode, "--concurrency", "2"],
      "sleep 1005; echo never",
      async ({ child, mark }) => {
        child.kill("SIGINT");
        await child.exited;
        expect(child.signalCode).toBe("SIGINT");
        expect(mark.find()).toEqual([]);
      },
      2,
    ));

  test("kills a script that ignores the first SIGINT at the second", () =>
    withRun(
      [...mode, "--concurrency", "2"],
      "trap '' INT TERM; sleep 1005",
      async ({ child, mark }) => {
        child.kill("SIGINT");
        // The kernel merges two pending signals, so the test sends more.
        const again = setInterval(() => child.kill("SIGINT"), 20);
        await child.exited;
        clearInterval(again);
        expect(child.signalCode).toBe("SIGINT");
        expect(mark.find()).toEqual([]);
      },
      2,
    ));

  test("leaves no process behind when rt is killed", () =>
    withRun(
      [...mode, "--concurrency", "2"],
      PROCESS_TREE,
      async ({ child, sleeps }) => {
        await watchdogOf(child.pid, 2);
        child.kill("SIGKILL");
        await child.exited;
        await waitUntil(() => sleeps().length === ORPHANED.length);
        expect(sleeps().sort()).toEqual(ORPHANED);
      },
      2 * (TREE_SIZE + 1),
    ));
});

// As in a container whose first process reaps no orphans.
test.skipIf(process.platform !== "linux")(
  "ends when Ctrl-C is held down beside thousands of ended processes",
  () =>
    withRun(
      ["--workspaces", "--concurrency", "2"],
      "trap '' INT TERM; sleep 1017",
      async ({ child }) => {
        await using project = await createProject();
        const program = project.join("zombies");
        await compileProgram(
          program,
          'for (int i = 0; i < 3000; i++) if (fork() == 0) _exit(0); puts(""); fflush(stdout); pause();',
        );
        await using zombies = Bun.spawn([program], { stdout: "pipe" });
        await zombies.stdout.getReader().read();
        const again = setInterval(() => child.kill("SIGINT"), 5);
        await child.exited;
        clearInterval(again);
        expect(child.signalCode).toBe("SIGINT");
      },
      2,
    ),
);

function ignores(pid: number, signal: number): boolean {
  const mask = /^SigIgn:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]!;
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

test("the kill watchdog survives signals that are sent to all processes", () =>
  withRun(
    ["--parallel", "--workspaces"],
    "exec sleep 1016",
    async ({ child, sleeps }) => {
      const watchdog = await watchdogOf(child.pid, 2);
      // Its first command ignores the signals.
      await waitUntil(() => [1, 2, 3, 15].every((signal) => ignores(watchdog, signal)));
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)
        process.kill(watchdog, signal);
      child.kill("SIGKILL");
      await child.exited;
      await waitUntil(() => sleeps().length === 0);
    },
    2,
  ));

test("a script's SIGINT handler runs once per Ctrl-C, also below another rt", async () => {
  // The script runs no other program, so its handler runs at once: two pending signals would merge.
  const inner =
    // Each read ends, as bash runs no trap for a signal that arrives just before it reads.
    "trap 'echo heard >> ../../log' INT; trap 'echo ended >> ../../log; exit' TERM; " +
    "exec 9<>../../pipe; echo up > ../../up; while :; do read -t 0.2 -u 9 line; done";
  await using project = await createProject({
    "package.json": { workspaces: ["packages/*"] },
    "packages/a/package.json": { name: "a", scripts: { t: `${RT} run --filter b inner` } },
    "packages/b/package.json": { name: "b", scripts: { inner, t: "sleep 1007" } },
    log: "",
  });
  await Bun.$`mkfifo ${project.join("pipe")}`;
  const mark = createMark();
  const child = startRt({
    args: ["run", "--parallel", "--workspaces", "t"],
    cwd: project.path,
    env: mark.env,
  });
  try {
    await waitUntil(() => existsSync(project.join("up")));
    await waitUntil(() => mark.find().some(({ command }) => command === "sleep 1007"));
    child.kill("SIGINT");
    await waitUntil(() => !mark.find().some(({ command }) => /sleep 1007$/.test(command)));
    await waitUntil(() => readFileSync(project.join("log"), "utf8") !== "");
    // Signals arrive in order: a second SIGINT would have been handled before this one.
    child.kill("SIGTERM");
    await child.exited;
    expect(await Bun.file(project.join("log")).text()).toBe("heard\nended\n");
  } finally {
    mark.kill();
    await child.exited;
  }
});

test("scripts end when the reader closes the pipe", () =>
  withRun(
    ["--parallel", "--workspaces"],
    "sleep 1008 & while :; do echo line; done",
    async ({ child }) => {
      child.kill("SIGKILL"); // this test uses only the files of this run
      await child.exited;
      await using project = await createProject({
        "package.json": { scripts: { t: "sleep 1009 & while :; do echo line; done", u: "sleep 1010" } },
      });
      const own = createMark();
      const program = ["bash", "-c", `${RT} run --parallel t u | head -1; echo \${PIPESTATUS[0]}`];
      const pipeline = startRt({ program, cwd: project.path, env: own.env });
      expect(await new Response(pipeline.stdout).text()).toBe("t | line\n141\n");
      await waitUntil(() => own.find().length === 0);
    },
    2,
  ));

test("a background process of a finished script does not delay the end of the run", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "sleep 1011 & echo up" } } });
  const mark = createMark();
  const child = startRt({ args: ["run", "--parallel", "--silent", "t"], cwd: project.path, env: mark.env });
  expect(await new Response(child.stdout).text()).toBe("t | up\n");
  expect(await child.exited).toBe(0);
  mark.kill();
});

test.each(["SIGHUP", "SIGINT"] as const)(
  "a run that was started to ignore %s, like under nohup, continues",
  async (signal) => {
    const t = "echo up; until test -e go; do sleep 0.05; done; echo done";
    for (const args of ["run --parallel --silent t u", "--silent run t"]) {
      await using project = await createProject({ "package.json": { scripts: { t, u: t, postt: "true" } } });
      const mark = createMark();
      const program = ["bash", "-c", `trap '' ${signal.slice(3)}; exec ${RT} ${args}`];
      const child = startRt({ program, cwd: project.path, env: mark.env });
      try {
        const output = child.stdout.getReader();
        expect(Buffer.from((await output.read()).value ?? []).toString()).toContain("up");
        child.kill(signal);
        await project.write({ go: "" }); // a signal that was not ignored would arrive before the file
        let rest = "";
        for (let part = await output.read(); !part.done; part = await output.read())
          rest += Buffer.from(part.value).toString();
        expect(rest).toContain("done\n");
        expect(await child.exited).toBe(0);
      } finally {
        mark.kill();
      }
    }
  },
);

test.skipIf(process.platform !== "linux")(
  "a run that cannot update its list of child processes ends the kill watchdog, not the scripts",
  async () => {
    const scripts = {
      t: "until test -e go; do sleep 0.05; done",
      u: "until test -e end; do sleep 0.05; done",
    };
    await using project = await createProject({ "package.json": { scripts } });
    const mark = createMark();
    const child = startRt({ args: ["run", "--parallel", "t", "u"], cwd: project.path, env: mark.env });
    try {
      const watchdog = await watchdogOf(child.pid, 2);
      // The list is a file: with this limit rt cannot write to it.
      await Bun.$`prlimit --pid ${child.pid} --fsize=0`;
      await project.write({ go: "" });
      await waitUntil(() => !existsSync(`/proc/${watchdog}/cwd`));
      await project.write({ end: "" });
      expect(await child.exited).toBe(0);
    } finally {
      mark.kill();
    }
  },
);

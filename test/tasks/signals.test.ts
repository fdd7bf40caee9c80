import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { createMark, guardianOf, type Mark, waitUntil } from "../support/processes.ts";
import { RT, startRt } from "../support/rt.ts";

// Each script starts a plain child, one in the background, one in a session of its own and one whose parent
// has gone, and says so.
const FAMILY = "sleep 1001 & setsid sleep 1002 & (sleep 1003 & setsid sleep 1004 &) ; echo up; sleep 1005";
const MEMBERS = 4; // the sleeps that somebody's tree still holds: 1001, 1002, 1003, 1005

interface Started {
  readonly child: ReturnType<typeof startRt>;
  readonly mark: Mark;
  sleeps(): string[];
}

async function withRun(
  args: string[],
  script: string,
  use: (run: Started) => Promise<void>,
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

const MODES = [
  ["--filter", "*"],
  ["--workspaces"],
  ["--parallel", "--workspaces"],
  ["--parallel", "--filter", "*"],
];
const ORPHANED = ["sleep 1004", "sleep 1004"]; // left its session and its parent on purpose, before any signal

describe.each(MODES.map((mode) => [mode.join(" "), mode] as const))("rt run %s", (_, mode) => {
  test.each(["SIGTERM", "SIGHUP"] as const)("passes %s to every descendant and dies of it", (signal) =>
    withRun(
      [...mode, "--concurrency", "2"],
      FAMILY,
      async ({ child, sleeps }) => {
        child.kill(signal);
        await child.exited;
        expect(child.signalCode).toBe(signal);
        expect(sleeps().sort()).toEqual(ORPHANED);
      },
      2 * (MEMBERS + 1),
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

  test("kills what ignores a first SIGINT at the second", () =>
    withRun(
      [...mode, "--concurrency", "2"],
      "trap '' INT TERM; sleep 1005",
      async ({ child, mark }) => {
        child.kill("SIGINT");
        // Two that arrive together are one to the kernel, so there are more.
        const again = setInterval(() => child.kill("SIGINT"), 20);
        await child.exited;
        clearInterval(again);
        expect(child.signalCode).toBe("SIGINT");
        expect(mark.find()).toEqual([]);
      },
      2,
    ));

  test("leaves nobody behind when it is killed itself", () =>
    withRun(
      [...mode, "--concurrency", "2"],
      FAMILY,
      async ({ child, sleeps }) => {
        await guardianOf(child.pid, 2);
        child.kill("SIGKILL");
        await child.exited;
        await waitUntil(() => sleeps().length === ORPHANED.length);
        expect(sleeps().sort()).toEqual(ORPHANED);
      },
      2 * (MEMBERS + 1),
    ));
});

function ignores(pid: number, signal: number): boolean {
  const mask = /^SigIgn:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]!;
  return ((BigInt(`0x${mask}`) >> BigInt(signal - 1)) & 1n) === 1n;
}

test("what ends scripts when rt is killed outlives a signal that is sent to all there is", () =>
  withRun(
    ["--parallel", "--workspaces"],
    "exec sleep 1016",
    async ({ child, sleeps }) => {
      const guardian = await guardianOf(child.pid, 2);
      // It says so itself, with its first command.
      await waitUntil(() => [1, 2, 3, 15].every((signal) => ignores(guardian, signal)));
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)
        process.kill(guardian, signal);
      child.kill("SIGKILL");
      await child.exited;
      await waitUntil(() => sleeps().length === 0);
    },
    2,
  ));

test("a script's Ctrl-C handler hears one SIGINT, below another rt as well", async () => {
  // Waits in no other program, so that it hears each at once: two that wait for a handler are one.
  const inner =
    "trap 'echo heard >> ../../log' INT; trap 'echo ended >> ../../log; exit' TERM; " +
    "exec 9<>../../pipe; echo up > ../../up; while :; do read -u 9 line; done";
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
    // Signals arrive in order: when the run has ended of this one, a second SIGINT would have been heard too.
    child.kill("SIGTERM");
    await child.exited;
    expect(await Bun.file(project.join("log")).text()).toBe("heard\nended\n");
  } finally {
    mark.kill();
    await child.exited;
  }
});

test("a reader that goes away ends everything", () =>
  withRun(
    ["--parallel", "--workspaces"],
    "sleep 1008 & while :; do echo line; done",
    async ({ child }) => {
      child.kill("SIGKILL"); // this run is only here for its files
      await child.exited;
      await using project = await createProject({
        "package.json": { scripts: { t: "sleep 1009 & while :; do echo line; done", u: "sleep 1010" } },
      });
      const own = createMark();
      const program = ["bash", "-c", `${RT} run --parallel t u | head -1; echo \${PIPESTATUS[0]}`];
      const pipeline = startRt({ program, cwd: project.path, env: own.env });
      expect(await new Response(pipeline.stdout).text()).toBe("t | line\n141\n");
      expect(own.find()).toEqual([]);
    },
    2,
  ));

test("a background process that a script leaves behind does not hold the run up", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "sleep 1011 & echo up" } } });
  const mark = createMark();
  const child = startRt({ args: ["run", "--parallel", "--silent", "t"], cwd: project.path, env: mark.env });
  expect(await new Response(child.stdout).text()).toBe("t | up\n");
  expect(await child.exited).toBe(0);
  mark.kill();
});

test.each(["SIGHUP", "SIGINT"] as const)(
  "a run that was started to ignore %s, as nohup does it, goes on",
  async (signal) => {
    const t = "echo up; until test -e go; do sleep 0.01; done; echo done";
    for (const args of ["run --parallel --silent t u", "--silent run t"]) {
      await using project = await createProject({ "package.json": { scripts: { t, u: t, postt: "true" } } });
      const mark = createMark();
      const program = ["bash", "-c", `trap '' ${signal.slice(3)}; exec ${RT} ${args}`];
      const child = startRt({ program, cwd: project.path, env: mark.env });
      try {
        const output = child.stdout.getReader();
        expect(Buffer.from((await output.read()).value ?? []).toString()).toContain("up");
        child.kill(signal);
        await project.write({ go: "" }); // a signal that was heeded would be there before this
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
  "a run that cannot write down its children any more has nobody killed when rt is",
  async () => {
    const scripts = {
      t: "until test -e go; do sleep 0.01; done",
      u: "until test -e end; do sleep 0.01; done",
    };
    await using project = await createProject({ "package.json": { scripts } });
    const mark = createMark();
    const child = startRt({ args: ["run", "--parallel", "t", "u"], cwd: project.path, env: mark.env });
    try {
      const guardian = await guardianOf(child.pid, 2);
      // The list is a file, and may be written no more.
      await Bun.$`prlimit --pid ${child.pid} --fsize=0`;
      await project.write({ go: "" });
      await waitUntil(() => !existsSync(`/proc/${guardian}/cwd`));
      await project.write({ end: "" });
      expect(await child.exited).toBe(0);
    } finally {
      mark.kill();
    }
  },
);

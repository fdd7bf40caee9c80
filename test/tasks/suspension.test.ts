// Job control in a real shell: Ctrl-Z suspends a run as one job, and `fg` resumes it.
import { readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "bun:test";
import { createMark, waitUntil } from "../support/processes.ts";
import { createProject } from "../support/project.ts";
import { cleanEnvironment, RT } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";

/** Shows by a growing file that it runs. (bash without a trap may leave a Ctrl-C to its sleep.) */
const appending = (file: string) => `trap 'exit 130' INT; while :; do echo >> ${file}; sleep 0.05; done`;
const PLAIN = `bash -c "${appending("ticks")}"`;
/** In another session. */
const APART = `setsid --wait bash -c "${appending("apart")}"`;
const SHELL = ["setsid", "--ctty", "--wait", "bash", "--norc", "--noprofile", "-i"];

interface Session {
  type(keys: string): void;
  shows(text: string): Promise<void>;
  /** All output so far. */
  shown(): string;
  readonly path: string;
  /** Whether all processes that the shell started are suspended. */
  isSuspended(): boolean;
  /** rt and its descendants. */
  job(): { pid: number; command: string }[];
}

async function withShell(use: (session: Session) => Promise<void>): Promise<void> {
  await using project = await createProject({
    "package.json": { workspaces: ["packages/*"], scripts: { t: PLAIN, postt: "true", p: PLAIN, u: APART } },
    "packages/a/package.json": { name: "a", scripts: { t: APART, only: PLAIN } },
    "packages/b/package.json": { name: "b", scripts: { t: PLAIN } },
    "plain.ts": "",
  });
  const mark = createMark();
  const shell = startOnTerminal(
    SHELL,
    cleanEnvironment({ ...mark.env, PS1: "READY> ", HISTFILE: "/dev/null" }),
  );
  const job = () => mark.find().filter(({ command }) => !command.includes("--norc"));
  try {
    await shell.awaitOutput("READY> ");
    shell.type(`cd ${project.path}\n`);
    await use({
      type: shell.type,
      shows: shell.awaitOutput,
      shown: () => shell.shown,
      path: project.path,
      job,
      isSuspended: () => job().every(({ pid }) => "TZ".includes(stateOf(pid))),
    });
  } finally {
    mark.kill();
    await shell[Symbol.asyncDispose]();
  }
}

function stateOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)![0]!;
  } catch {
    return "Z"; // the process has ended
  }
}

async function grows(file: string): Promise<void> {
  const size = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const before = size();
  await waitUntil(() => size() > before);
}

const MODES: readonly (readonly [args: string, files: readonly string[]])[] = [
  ["run --filter '*' --concurrency 2 t", ["packages/a/apart", "packages/b/ticks"]],
  ["run --parallel p u", ["ticks", "apart"]],
  ["run --filter '*' --concurrency 2 t | cat", ["packages/a/apart", "packages/b/ticks"]],
  ["run --filter a --report report.json only", ["packages/a/ticks"]],
  ["run --filter a only", ["packages/a/ticks"]],
  ["run p", ["ticks"]],
  ["run t", ["ticks"]],
  ["--watch run p", ["ticks"]],
  ["--watch run --parallel p u", ["ticks", "apart"]],
];

describe.concurrent("Ctrl-Z", () => {
  test.each(MODES)("stops all of rt %s, and fg resumes it", (args, files) =>
    withShell(async ({ type, shows, path, isSuspended, job }) => {
      type(`${RT} ${args}\n`);
      for (const round of [1, 2]) {
        for (const file of files) await grows(`${path}/${file}`);
        type("\x1a");
        await waitUntil(isSuspended);
        type(`echo round $((${round})) over\n`);
        await shows(`round ${round} over`);
        expect(isSuspended()).toBe(true);
        type("fg\n");
      }
      for (const file of files) await grows(`${path}/${file}`);
      type("\x03");
      await waitUntil(() => job().length === 0);
      type("echo status $?\n");
      await shows("status 130");
    }),
  );
});

test("the live view does not overwrite shell output that appeared during a suspension", () =>
  withShell(async ({ type, shows, shown, path, isSuspended }) => {
    type(`${RT} run --filter '*' --concurrency 2 t\n`);
    await grows(`${path}/packages/a/apart`);
    await shows("Running...");
    type("\x1a");
    await waitUntil(isSuspended);
    await shows("Stopped");
    const before = shown().length;
    type("fg\n");
    await waitUntil(() => shown().slice(before).includes("\x1b[?2026l"));
    const [, next] = shown().slice(before).split("\x1b[?2026h");
    expect(next).toStartWith("\r\x1b[1ma t"); // no cursor movement over the lines of an earlier frame
  }));

test("a suspended run ends at TERM and at KILL, and leaves no process behind", () =>
  withShell(async ({ type, path, isSuspended, job }) => {
    for (const signal of ["TERM", "KILL"] as const) {
      type(`${RT} run --parallel p u\n`);
      await grows(`${path}/ticks`);
      type("\x1a");
      await waitUntil(isSuspended);
      type(`kill -${signal} %%\n`);
      await waitUntil(() => job().length === 0);
    }
  }));

test("a stop signal has no effect in a process group without job control", async () => {
  await using project = await createProject({ "package.json": { scripts: { p: PLAIN, u: PLAIN } } });
  const mark = createMark();
  // In another session without a shell the kernel discards SIGTSTP.
  const child = Bun.spawn(["setsid", "--wait", RT, "run", "--parallel", "p", "u"], {
    cwd: project.path,
    env: cleanEnvironment(mark.env),
    stdio: ["ignore", "ignore", "ignore"],
  });
  try {
    await grows(project.join("ticks"));
    const rt = mark.find().find(({ command }) => command.startsWith(RT));
    process.kill(rt!.pid, "SIGTSTP");
    for (const _ of [1, 2, 3]) await grows(project.join("ticks"));
  } finally {
    mark.kill();
    await child.exited;
  }
});

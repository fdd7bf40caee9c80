// A reader that has stopped reading, as a pager does and a terminal after Ctrl-S: scripts wait, and the run can be ended.
import { describe, expect, test } from "bun:test";
import { closeSync, constants, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { createMark, type Mark, waitUntil } from "../support/processes.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { cleanEnvironment, RT, startRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { scripts, workspace } from "../support/workspace.ts";

/** Writes without an end and says how many pieces were taken. */
const NOISY = "while :; do printf '%65536s\\n' ' '; echo . >> ../../taken; done";
/** Of which one may be in the script's own pipe; what rt has taken of the others is more than the reader's pipe holds. */
const ENOUGH = 2;
const FILES = workspace({ a: scripts(NOISY), b: scripts("exec sleep 1014") });

function piecesTaken(file: string): number {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

interface Held {
  readonly child: ReturnType<typeof startRt>;
  readonly project: Project;
  readonly mark: Mark;
  /** When the script has written more than fits into the reader's pipe, or rt has ended. */
  isHeldUp(): Promise<void>;
}

interface Unread {
  readonly files: Files;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
  /** What goes to the reader. */
  readonly stream?: 1 | 2;
  /** Whether nothing fits into its pipe from the start. */
  readonly isFull?: boolean;
}

/** rt with a reader that never reads. */
async function withUnread(
  { files, args, env = {}, stream = 1, isFull = false }: Unread,
  use: (held: Held) => Promise<void>,
): Promise<void> {
  await using project = await createProject(files);
  await Bun.$`mkfifo ${project.join("unread")}`;
  const mark = createMark();
  const reader = openSync(project.join("unread"), constants.O_RDWR | constants.O_NONBLOCK);
  if (isFull) fill(reader);
  const program = ["bash", "-c", `exec "$0" "$@" ${stream}> unread`, RT];
  const child = startRt({ program, args: [...args], env: { ...env, ...mark.env }, cwd: project.path });
  const isHeldUp = () =>
    waitUntil(() => piecesTaken(project.join("taken")) >= ENOUGH || child.exitCode !== null);
  try {
    await use({ child, project, mark, isHeldUp });
  } finally {
    mark.kill();
    await child.exited;
    closeSync(reader);
  }
}

function fill(pipe: number): void {
  const bytes = Buffer.alloc(4096);
  try {
    for (;;) writeSync(pipe, bytes);
  } catch {
    // EAGAIN: nothing more fits.
  }
}

/** Whatever else happens, one that is held up goes on with one process: rt itself. */
describe.each<[string, string[], Record<string, string>]>([
  ["--filter", ["--filter", "*"], {}],
  ["--parallel", ["--parallel", "--workspaces"], {}],
  ["groups", ["--filter", "*"], { GITHUB_ACTIONS: "true" }],
  ["--report", ["--report", "report.json", "--filter", "*"], {}],
])("a reader that has stopped, with %s", (_, options, env) => {
  test.each([
    ["SIGTERM", "SIGTERM"],
    ["SIGINT", "SIGTERM"],
    ["SIGHUP", "SIGINT"],
  ] as const)("%s ends the scripts, and %s the run, which dies of the first", async (first, second) => {
    const args = ["run", ...options, "--concurrency", "2", "t"];
    await withUnread({ files: FILES, args, env }, async ({ child, mark, isHeldUp }) => {
      await isHeldUp();
      child.kill(first);
      await waitUntil(() => mark.find().every(({ pid }) => pid === child.pid));
      expect(child.exitCode).toBeNull(); // it waits for the reader
      child.kill(second);
      await child.exited;
      expect(child.signalCode).toBe(first);
    });
  });
});

test.skipIf(process.platform !== "linux")("a script whose output nobody reads is held up", async () => {
  const files = workspace({
    a: scripts("head -c 20000000 /dev/zero; echo > ../../written"),
    b: scripts("exec sleep 1014"),
  });
  const args = ["run", "--filter", "*", "--concurrency", "2", "t"];
  await withUnread({ files, args }, async ({ project, mark }) => {
    /** Bytes; 0 where it does not run. */
    const written = () => {
      const head = mark.find().find(({ command }) => command.startsWith("head"));
      return head ? Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${head.pid}/io`, "utf8"))![1]) : 0;
    };
    // It has written for the last time when that does not change any more.
    let before = 0;
    let same = 0;
    await waitUntil(() => {
      const now = written();
      same = now > 0 && now === before ? same + 1 : 0;
      before = now;
      return same === 20 || existsSync(project.join("written"));
    });
    expect(existsSync(project.join("written"))).toBe(false);
  });
});

test("a run that is over and waits for its reader ends at the first signal", async () => {
  const files = { "package.json": { scripts: { t: "echo x" } } };
  const args = ["run", "--parallel", "--report", "report", "t"];
  await withUnread({ files, args, isFull: true }, async ({ child, project }) => {
    await waitUntil(() => existsSync(project.join("report")));
    expect(await Bun.file(project.join("report")).text()).toContain('"outcome": "success"');
    child.kill("SIGTERM");
    await child.exited;
    expect(child.signalCode).toBe("SIGTERM");
  });
});

test("rt --watch that has to say how a script ended, and cannot, ends at a signal", async () => {
  const files = { "package.json": { scripts: { t: "echo > ended; exit 3" } } };
  const args = ["--watch", "--silent", "run", "t"];
  await withUnread({ files, args, stream: 2, isFull: true }, async ({ child, project, mark }) => {
    await waitUntil(() => existsSync(project.join("ended")) && mark.find().length === 1);
    child.kill("SIGTERM");
    await child.exited;
    expect(child.signalCode).toBe("SIGTERM");
  });
});

test("a report that no reader comes for does not keep rt from ending", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "true" } } });
  await Bun.$`mkfifo ${project.join("pipe")}`;
  const args = ["run", "--parallel", "--report", "pipe", "t"];
  const child = startRt({ args, cwd: project.path });
  const told = child.stderr.getReader();
  let text = "";
  while (!text.includes("Done in")) text += Buffer.from((await told.read()).value!).toString();
  child.kill("SIGTERM");
  child.kill("SIGHUP");
  await child.exited;
  expect(child.signalCode).toMatch(/^SIG(TERM|HUP)$/);
});

test("the live view on a terminal that was stopped ends at the second signal", async () => {
  await using project = await createProject(
    workspace({
      a: scripts("while :; do echo line; echo . >> ../../taken; sleep 0.01; done"),
      b: scripts("exec sleep 1015"),
    }),
  );
  const mark = createMark();
  const command = ["sh", "-c", `cd '${project.path}' && exec '${RT}' run --concurrency 2 --filter '*' t`];
  await using terminal = startOnTerminal(command, cleanEnvironment(mark.env));
  await terminal.shows("Running...");
  terminal.type("\x13"); // Ctrl-S
  const before = piecesTaken(project.join("taken"));
  await waitUntil(() => piecesTaken(project.join("taken")) > before + 100); // scripts are not held up by the view
  terminal.kill("SIGTERM");
  await waitUntil(() => mark.find().every(({ pid }) => pid === terminal.pid));
  terminal.kill("SIGTERM");
  expect(await terminal.ends()).toBe("SIGTERM");
});

test.each([
  ["scripts", ["--watch", "run", "--concurrency", "2", "--filter", "*", "t"], "sleep"],
  ["a file", ["--watch", "noisy.ts"], ""],
])("rt --watch, with %s whose reader has stopped, ends at the second signal", async (_, args, last) => {
  const files = {
    ...FILES,
    "noisy.ts": `import { appendFileSync, writeSync } from "node:fs";
      for (;;) { writeSync(1, " ".repeat(16384)); appendFileSync("taken", ".\\n"); }`,
  };
  await withUnread({ files, args }, async ({ child, mark, isHeldUp }) => {
    await isHeldUp();
    // What starts last runs as well: where there is nothing to wait for below, the two signals would count as one.
    const isBegun = () => mark.find().some(({ command }) => command.startsWith(last));
    await waitUntil(() => isBegun() || child.exitCode !== null);
    child.kill("SIGTERM");
    await waitUntil(() => mark.find().every(({ pid }) => pid === child.pid));
    child.kill("SIGTERM");
    await child.exited;
    expect([child.signalCode, child.exitCode]).toEqual(["SIGTERM", null]);
    await waitUntil(() => mark.find().length === 0);
  });
});

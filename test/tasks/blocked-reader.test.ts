// Tests a reader that stops reading, like a pager or a terminal after Ctrl-S: scripts block, and signals still
// end the run.
import { describe, expect, test } from "bun:test";
import { closeSync, constants, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { createMark, type Mark, waitUntil } from "../support/processes.ts";
import { createProject, type Files, type Project } from "../support/project.ts";
import { cleanEnvironment, RT, startRt } from "../support/rt.ts";
import { startOnTerminal } from "../support/programs/terminal.ts";
import { scripts, workspace } from "../support/workspace.ts";

/** Writes without end and counts the chunks that its standard output accepted. */
const NOISY = "while :; do printf '%65536s\\n' ' '; echo . >> ../../taken; done";
/** One chunk fits into the script's own pipe. The other chunk that rt reads is larger than the reader's pipe. */
const ENOUGH = 2;
const FILES = workspace({ a: scripts(NOISY), b: scripts("exec sleep 1014") });

function piecesTaken(file: string): number {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

interface BlockedRun {
  readonly child: ReturnType<typeof startRt>;
  readonly project: Project;
  readonly mark: Mark;
  /** Resolves when the script has written more than the reader's pipe holds, or when rt has ended. */
  waitUntilBlocked(): Promise<void>;
}

interface RunSettings {
  readonly files: Files;
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
  /** The stream that the reader gets. */
  readonly stream?: 1 | 2;
  /** Whether the reader's pipe is full from the start. */
  readonly isFull?: boolean;
}

/** Starts rt with a reader that never reads. */
async function withBlockedReader(
  { files, args, env = {}, stream = 1, isFull = false }: RunSettings,
  use: (run: BlockedRun) => Promise<void>,
): Promise<void> {
  await using project = await createProject(files);
  await Bun.$`mkfifo ${project.join("unread")}`;
  const mark = createMark();
  const reader = openSync(project.join("unread"), constants.O_RDWR | constants.O_NONBLOCK);
  if (isFull) fill(reader);
  const program = ["bash", "-c", `exec "$0" "$@" ${stream}> unread`, RT];
  const child = startRt({ program, args: [...args], env: { ...env, ...mark.env }, cwd: project.path });
  const waitUntilBlocked = () =>
    waitUntil(() => piecesTaken(project.join("taken")) >= ENOUGH || child.exitCode !== null);
  try {
    await use({ child, project, mark, waitUntilBlocked });
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
    // EAGAIN: the pipe is full.
  }
}

/** Between the two signals, rt itself is the only process that is left. */
describe.each<[string, string[], Record<string, string>]>([
  ["--filter", ["--filter", "*"], {}],
  ["--parallel", ["--parallel", "--workspaces"], {}],
  ["groups", ["--filter", "*"], { GITHUB_ACTIONS: "true" }],
  ["--report", ["--report", "report.json", "--filter", "*"], {}],
])("rt run with %s and a stopped reader", (_, options, env) => {
  test.each([
    ["SIGTERM", "SIGTERM"],
    ["SIGINT", "SIGTERM"],
    ["SIGHUP", "SIGINT"],
  ] as const)(
    "ends its scripts at %s and itself at a following %s, with the first signal as its status",
    async (first, second) => {
      const args = ["run", ...options, "--concurrency", "2", "t"];
      await withBlockedReader({ files: FILES, args, env }, async ({ child, mark, waitUntilBlocked }) => {
        await waitUntilBlocked();
        child.kill(first);
        await waitUntil(() => mark.find().every(({ pid }) => pid === child.pid));
        expect(child.exitCode).toBeNull(); // rt waits for the reader
        child.kill(second);
        await child.exited;
        expect(child.signalCode).toBe(first);
      });
    },
  );
});

test.skipIf(process.platform !== "linux")(
  "a script blocks when the reader of its output has stopped",
  async () => {
    const files = workspace({
      a: scripts("head -c 20000000 /dev/zero; echo > ../../written"),
      b: scripts("exec sleep 1014"),
    });
    const args = ["run", "--filter", "*", "--concurrency", "2", "t"];
    await withBlockedReader({ files, args }, async ({ project, mark }) => {
      /** Bytes, or 0 if the script is not running. */
      const written = () => {
        const head = mark.find().find(({ command }) => command.startsWith("head"));
        return head ? Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${head.pid}/io`, "utf8"))![1]) : 0;
      };
      // The script is blocked when the number no longer changes.
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
  },
);

test("a finished run that waits for its reader ends at the first signal", async () => {
  const files = { "package.json": { scripts: { t: "echo x" } } };
  const args = ["run", "--parallel", "--report", "report", "t"];
  await withBlockedReader({ files, args, isFull: true }, async ({ child, project }) => {
    await waitUntil(() => existsSync(project.join("report")));
    expect(await Bun.file(project.join("report")).text()).toContain('"outcome": "success"');
    child.kill("SIGTERM");
    await child.exited;
    expect(child.signalCode).toBe("SIGTERM");
  });
});

test("rt --watch ends at a signal while it cannot write the exit status of a script", async () => {
  const files = { "package.json": { scripts: { t: "echo > ended; exit 3" } } };
  const args = ["--watch", "--silent", "run", "t"];
  await withBlockedReader({ files, args, stream: 2, isFull: true }, async ({ child, project, mark }) => {
    await waitUntil(() => existsSync(project.join("ended")) && mark.find().length === 1);
    child.kill("SIGTERM");
    await child.exited;
    expect(child.signalCode).toBe("SIGTERM");
  });
});

test("rt ends at a signal while a report has no reader", async () => {
  await using project = await createProject({ "package.json": { scripts: { t: "true" } } });
  await Bun.$`mkfifo ${project.join("pipe")}`;
  const args = ["run", "--parallel", "--report", "pipe", "t"];
  const child = startRt({ args, cwd: project.path });
  const stderr = child.stderr.getReader();
  let text = "";
  while (!text.includes("Done in")) text += Buffer.from((await stderr.read()).value!).toString();
  child.kill("SIGTERM");
  child.kill("SIGHUP");
  await child.exited;
  expect(child.signalCode).toMatch(/^SIG(TERM|HUP)$/);
});

test("the live view on a stopped terminal ends at the second signal", async () => {
  await using project = await createProject(
    workspace({
      a: scripts("while :; do echo line; echo . >> ../../taken; sleep 0.01; done"),
      b: scripts("exec sleep 1015"),
    }),
  );
  const mark = createMark();
  const command = ["sh", "-c", `cd '${project.path}' && exec '${RT}' run --concurrency 2 --filter '*' t`];
  await using terminal = startOnTerminal(command, cleanEnvironment(mark.env));
  await terminal.awaitOutput("Running...");
  terminal.type("\x13"); // Ctrl-S
  const before = piecesTaken(project.join("taken"));
  await waitUntil(() => piecesTaken(project.join("taken")) > before + 100); // the view does not block scripts
  terminal.kill("SIGTERM");
  await waitUntil(() => mark.find().every(({ pid }) => pid === terminal.pid));
  terminal.kill("SIGTERM");
  expect(await terminal.awaitExit()).toBe("SIGTERM");
});

test.each([
  ["scripts", ["--watch", "run", "--concurrency", "2", "--filter", "*", "t"], "sleep"],
  ["a file", ["--watch", "noisy.ts"], ""],
])("rt --watch of %s whose reader has stopped ends at the second signal", async (_, args, lastProgram) => {
  const files = {
    ...FILES,
    "noisy.ts": `import { appendFileSync, writeSync } from "node:fs";
      for (;;) { writeSync(1, " ".repeat(16384)); appendFileSync("taken", ".\\n"); }`,
  };
  await withBlockedReader({ files, args }, async ({ child, mark, waitUntilBlocked }) => {
    await waitUntilBlocked();
    // Without a process to wait for below, the two signals could arrive as one.
    const hasStarted = () => mark.find().some(({ command }) => command.startsWith(lastProgram));
    await waitUntil(() => hasStarted() || child.exitCode !== null);
    child.kill("SIGTERM");
    await waitUntil(() => mark.find().every(({ pid }) => pid === child.pid));
    child.kill("SIGTERM");
    await child.exited;
    expect([child.signalCode, child.exitCode]).toEqual(["SIGTERM", null]);
    await waitUntil(() => mark.find().length === 0);
  });
});

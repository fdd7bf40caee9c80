// Children whose whole family can be ended, on Windows: `taskkill /T` walks the tree by parent process.
//
// Surprising: there is no signal to pass on. A console's Ctrl-C reaches every process attached to it by
// itself, so only ending is left to us, and what has lost its parent is not found.
import {
  type Child,
  type ChildExit,
  describeExit,
  type ProcessTreeOperations,
} from "../process-tree-operations.ts";

interface WindowsChild extends Child {
  isAlive(): boolean;
}

export const startChild: ProcessTreeOperations["startChild"] = (request): WindowsChild => {
  const mode = request.output === "inherit" ? "inherit" : "pipe";
  const subprocess = Bun.spawn([request.program ?? request.argv[0]!, ...request.argv.slice(1)], {
    argv0: request.argv[0],
    cwd: request.cwd,
    env: request.env as Record<string, string>,
    stdin: request.inheritStdin ? "inherit" : "ignore",
    stdout: mode,
    stderr: mode,
    windowsHide: true,
  });
  const follow = async (): Promise<ChildExit> => {
    await Promise.all([pump(subprocess.stdout, false), pump(subprocess.stderr, true)]);
    await subprocess.exited;
    return describeExit(subprocess);
  };
  const pump = async (stream: unknown, isError: boolean): Promise<void> => {
    if (!(stream instanceof ReadableStream)) return;
    for await (const bytes of stream as ReadableStream<Uint8Array>) await request.onOutput(bytes, isError);
  };
  return { pid: subprocess.pid, done: follow(), isAlive: () => subprocess.exitCode === null };
};

export const signalTrees: ProcessTreeOperations["signalTrees"] = (children, signal) => {
  if (signal === "SIGINT") return; // the console has told everyone
  for (const { pid } of children) {
    Bun.spawnSync(["taskkill", "/T", "/F", "/PID", String(pid)], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
  }
};

export const hasSurvivors: ProcessTreeOperations["hasSurvivors"] = (children) =>
  (children as readonly WindowsChild[]).some((child) => child.isAlive());

/** Handles are not scarce. */
export const childLimit: ProcessTreeOperations["childLimit"] = () => 1024;

export const terminalSignalsInherited = true;

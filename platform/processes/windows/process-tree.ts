// Process trees on Windows: each child has a job object, which contains its descendants, including orphans, and ends as one. If rt
// ends, Windows ends its jobs.
//
// Non-obvious:
// - Windows has no signals to forward. A console's Ctrl-C reaches every attached process, so rt only ends trees.
// - A background process may hold a pipe open. After the script's exit it is read for `LINGER` more. The process may live until rt
//   ends, because the engine's own job contains it.
import {
  type Child,
  type ChildExit,
  describeExit,
  type ProcessTreeOperations,
} from "../contract/process-tree.ts";
import { countProcesses, createJob, endJob, freeJob, putIntoJob } from "./job-object.ts";

const LINGER = 100; // ms

interface WindowsChild extends Child {
  readonly job: bigint;
  /** The job is closed when the child has exited. */
  isFollowed: boolean;
}

const startChild: ProcessTreeOperations["startChild"] = (request): WindowsChild => {
  if (request.permissions) throw new Error("permissions are not enforced on this system");
  const mode = request.output === "inherit" ? "inherit" : "pipe";
  const subprocess = Bun.spawn([request.program ?? request.argv[0]!, ...request.argv.slice(1)], {
    argv0: request.argv[0],
    cwd: request.cwd,
    env: request.env,
    stdin: request.input ?? (request.inheritStdin ? "inherit" : "ignore"),
    stdout: mode,
    stderr: mode,
    windowsHide: true,
  });
  const job = createJob();
  putIntoJob(job, subprocess.pid);
  const readers: ReadableStreamDefaultReader<Uint8Array>[] = [];
  const pump = async (stream: unknown, isError: boolean): Promise<void> => {
    if (!(stream instanceof ReadableStream)) return;
    const reader = stream.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    readers.push(reader);
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      await request.onOutput(value, isError);
    }
  };
  const follow = async (): Promise<ChildExit> => {
    const pumps = Promise.all([pump(subprocess.stdout, false), pump(subprocess.stderr, true)]);
    await subprocess.exited;
    const lingering = setTimeout(() => {
      for (const reader of readers) void reader.cancel().catch(() => {});
    }, LINGER);
    await pumps;
    clearTimeout(lingering);
    child.isFollowed = false;
    freeJob(job);
    return describeExit(subprocess);
  };
  const child = { pid: subprocess.pid, job, isFollowed: true } as WindowsChild;
  return Object.assign(child, { done: follow() });
};

const signalTrees: ProcessTreeOperations["signalTrees"] = (children, signal) => {
  if (signal === "SIGINT") return; // every process has received the console's event
  const code = 128 + process.getBuiltinModule("node:os").constants.signals[signal];
  for (const { job, isFollowed } of children as readonly WindowsChild[]) if (isFollowed) endJob(job, code);
};

/** Windows consoles have no job control. */
const shareSuspension: ProcessTreeOperations["shareSuspension"] = () => () => {};

const hasSurvivors: ProcessTreeOperations["hasSurvivors"] = (children) =>
  (children as readonly WindowsChild[]).some(({ job, isFollowed }) => isFollowed && countProcesses(job) > 0);

/** Processes left in the job of an exited child are unreachable, and end with rt at the latest. */
const findSurvivingChildren: ProcessTreeOperations["findSurvivingChildren"] = () => [];

/** The job contains orphans. */
const adoptOrphans: ProcessTreeOperations["adoptOrphans"] = () => {};

/** Jobs end with their last handle, so there is no watchdog. */
const prepareExec: ProcessTreeOperations["prepareExec"] = async () => {};

/** Windows has no low limit of handles. */
const childLimit: ProcessTreeOperations["childLimit"] = () => 1024;

/** A parent's process id may have been reused. */
const hasAncestor: ProcessTreeOperations["hasAncestor"] = () => false;

const listMembers: ProcessTreeOperations["listMembers"] = () => [];

/** A job ends with rt. */
const guardOrphans: ProcessTreeOperations["guardOrphans"] = () => {};

export const operations: ProcessTreeOperations = {
  startChild,
  signalTrees,
  shareSuspension,
  adoptOrphans,
  findSurvivingChildren,
  listMembers,
  guardOrphans,
  hasAncestor,
  hasSurvivors,
  childLimit,
  prepareExec,
  terminalSignalsInherited: true,
};

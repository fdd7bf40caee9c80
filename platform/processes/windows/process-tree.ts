// Children whose whole family can be ended, on Windows: each gets a job, which everything that it starts is put into, and
// a job is ended as one, with those who have lost their parents. When rt dies without a word, Windows ends its jobs.
//
// Surprising: there is no signal to pass on. A console's Ctrl-C reaches every process attached to it by itself, so only
// ending is left to us. A process that a script left in the background may hold a pipe open for ever: after the
// script's exit it is heard for `LINGER` more, then not any longer; it may live on until rt ends: the engine has a job of
// its own for what it starts, in which ours are.
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
  /** Once it has exited its job is gone. */
  isFollowed: boolean;
}

const startChild: ProcessTreeOperations["startChild"] = (request): WindowsChild => {
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
  if (signal === "SIGINT") return; // the console has told everyone
  const code = 128 + process.getBuiltinModule("node:os").constants.signals[signal];
  for (const { job, isFollowed } of children as readonly WindowsChild[]) if (isFollowed) endJob(job, code);
};

/** Consoles have no job control. */
const shareSuspension: ProcessTreeOperations["shareSuspension"] = () => () => {};

const hasSurvivors: ProcessTreeOperations["hasSurvivors"] = (children) =>
  (children as readonly WindowsChild[]).some(({ job, isFollowed }) => isFollowed && countProcesses(job) > 0);

/** What a job has when its child has ended is out of reach, and ends with rt at the latest. */
const findLeft: ProcessTreeOperations["findLeft"] = () => [];

/** A job has them anyway. */
const adoptOrphans: ProcessTreeOperations["adoptOrphans"] = () => {};

/** Jobs end with their last handle; nobody watches over them. */
const leaveNothing: ProcessTreeOperations["leaveNothing"] = async () => {};

/** Handles are not scarce. */
const childLimit: ProcessTreeOperations["childLimit"] = () => 1024;

/** A parent's id may be that of another process by now. */
const hasAncestor: ProcessTreeOperations["hasAncestor"] = () => false;

export const operations: ProcessTreeOperations = {
  startChild,
  signalTrees,
  shareSuspension,
  adoptOrphans,
  findLeft,
  hasAncestor,
  hasSurvivors,
  childLimit,
  leaveNothing,
  terminalSignalsInherited: true,
};

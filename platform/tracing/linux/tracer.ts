// The tracer: starts a launcher (../../native/linux/tracee-launcher.c) that becomes the script, a supervisor thread
// (recorder-thread.ts), and builds the trace from the thread's journal while the script runs.
//
// Non-obvious: background processes keep the filter, and their calls would fail without a supervisor. After a grace period the
// listener moves to a background supervisor, which continues every call until the last process has exited.
import type {
  Trace,
  TracedConnection,
  Tracer,
  TracingOperations,
  TracingOptions,
} from "../contract/tracing.ts";
import type { ChildPermissions } from "../../permissions/contract/permissions.ts";
import { type GuardedChild, GuardSession } from "../../permissions/linux/guard-session.ts";
import { TRACED_NAME } from "../contract/tracing.ts";
import { closeDescriptor } from "../../native/posix/pipe.ts";
import { operations as host } from "../../processes/posix/process.ts";
import { operations as trees } from "../../processes/posix/process-tree.ts";
import { openProgram } from "../../native/linux/memory-program.ts";
import { statPath } from "../../files/path-state.ts";
import { openSocketPair, sendDescriptor, writeBytes } from "./fd-passing.ts";
import { BACKGROUND_SWITCH } from "./background-supervisor.ts";
import { Journal } from "./journal-reader.ts";
import { TraceBuilder } from "./trace-builder.ts";
import { startRecorder, type RecorderResult, type RecorderHandle } from "./recorder-thread.ts";
import { TABLES } from "./syscall-tables.ts";

/** Grace period in milliseconds for processes that outlive the script. */
const GRACE_PERIOD = 200;

const NO_RULES: GuardedChild["rules"] = { files: [], sockets: [], network: "open", hosts: [] };

let filter: Uint8Array | undefined;

function openTracer({ program, keepsCalls = false, namesProcesses = false }: TracingOptions): Tracer {
  const launcher = openProgram("launcher");
  filter ??= Uint8Array.fromBase64(TABLES.filter);
  const filterProgram = filter;
  const builder = new TraceBuilder(namesProcesses);
  const journal = new Journal(builder);
  let session: GuardSession | undefined;
  let steps = 0;
  let hasSurvivor = false;

  /** Returns whether the script was traced. */
  async function waitForEnd(done: Promise<unknown>, recording: RecorderHandle): Promise<boolean> {
    await done;
    const { launchError, listener, isLost } = await stopAfter(GRACE_PERIOD, recording);
    if (isLost) builder.addIncompleteReason("lost", "");
    if (listener !== undefined) {
      hasSurvivor = true;
      startBackgroundSupervisor(program, listener);
    }
    return launchError === 0;
  }

  const nameHost = (connection: TracedConnection): TracedConnection =>
    connection.kind === "host"
      ? { ...connection, target: session?.nameOf(connection.target) ?? connection.target }
      : connection;

  return {
    start(request) {
      const [ours, theirs] = openSocketPair();
      let recording: RecorderHandle | undefined;
      let child;
      try {
        writeBytes(ours, filterProgram);
        steps += 1;
        journal.begin();
        const { permissions } = request;
        session = openSession(permissions, namesProcesses);
        recording = startRecorder(ours, {
          keepsAll: keepsCalls,
          namesProcesses,
          session,
          onChunk: (chunk) => journal.read(chunk),
        });
        const words = [TRACED_NAME, request.program ?? "", ...request.argv];
        child = trees.startChild({
          ...request,
          ...(permissions && { permissions: { ...permissions, isTraced: true } }),
          program: launcher,
          argv: words,
          inheritStdin: false,
          descriptors: [theirs],
        });
      } catch (error) {
        if (recording) void waitForEnd(Promise.resolve(), recording);
        else closeDescriptor(ours);
        throw error;
      } finally {
        closeDescriptor(theirs);
      }
      const isTraced = waitForEnd(child.done, recording);
      const exit = child.done;
      return { ...child, isTraced, done: isTraced.then(() => exit) };
    },
    async finish(): Promise<Trace> {
      // The thread observes the paths of the last step again when the tree has ended, but not those of earlier steps.
      const trace = builder.finish(steps === 1 ? builder.lastState : statPath);
      return {
        ...trace,
        ...(hasSurvivor && { incompleteReason: { kind: "survivor", detail: "" } }),
        ...(keepsCalls && { calls: journal.calls }),
        ...(trace.connections && { connections: trace.connections.map(nameHost) }),
      };
    },
  };
}

/** Opens what the thread needs to decide calls, or to observe host names; undefined if it only traces. */
function openSession(
  permissions: ChildPermissions | undefined,
  namesHosts: boolean,
): GuardSession | undefined {
  if (permissions) return new GuardSession(permissions);
  return namesHosts ? new GuardSession({ rules: NO_RULES, isObserved: true, onRefusal() {} }) : undefined;
}

async function stopAfter(timeoutMs: number, recording: RecorderHandle): Promise<RecorderResult> {
  const timer = setTimeout(recording.stop, timeoutMs);
  try {
    return await recording.result;
  } finally {
    clearTimeout(timer);
  }
}

/** Passes the listener to a background supervisor, which outlives this process. */
function startBackgroundSupervisor(program: string, listener: number): void {
  const [ours, theirs] = openSocketPair();
  const stdio = Array.from({ length: theirs - 2 }, (_, index) => (index + 3 === theirs ? theirs : "ignore"));
  Bun.spawn([program, BACKGROUND_SWITCH, String(theirs)], {
    argv0: TRACED_NAME,
    cwd: "/",
    env: host.originalEnvironment(),
    stdio: ["ignore", "ignore", "ignore", ...(stdio as "ignore"[])],
    detached: true,
  }).unref();
  sendDescriptor(ours, 0, listener);
  for (const descriptor of [ours, theirs, listener]) closeDescriptor(descriptor);
}

export const operations: TracingOperations = { openTracer };

// Following a script: a thread that answers the kernel (recorder-thread.ts), a launcher (../native/launcher.c) that becomes the script,
// and what is made of the thread's journal (trace-builder.ts) while the script goes on.
//
// Surprising: what a script leaves running in the background still has the filter, and every open of it would fail once
// nobody listens any more. After a moment the listener goes to an rt of its own that only says yes, until the last of
// them has ended.
import type { Trace, Tracer, TracingOperations, TracingOptions } from "../contract/tracing.ts";
import { TRACED_NAME } from "../contract/tracing.ts";
import { closeDescriptor } from "../../native/posix/pipe.ts";
import { operations as host } from "../../processes/posix/process.ts";
import { operations as trees } from "../../processes/posix/process-tree.ts";
import { openProgram } from "../../native/linux/memory-program.ts";
import { statPath } from "../../files/path-state.ts";
import { openSocketPair, sendDescriptor, writeBytes } from "./fd-passing.ts";
import { STAY } from "./background-supervisor.ts";
import { Journal } from "./journal-reader.ts";
import { TraceBuilder } from "./trace-builder.ts";
import { record, type RecorderResult, type RecorderHandle } from "./recorder-thread.ts";
import { TABLES } from "./syscall-tables.ts";

/** Milliseconds that a process of the script may end after it. */
const PATIENCE = 200;

let filter: Uint8Array | undefined;

function openTracer({ program, keepsCalls = false }: TracingOptions): Tracer {
  const launcher = openProgram("launcher");
  filter ??= Uint8Array.fromBase64(TABLES.filter);
  const wanted = filter;
  const observation = new TraceBuilder();
  const journal = new Journal(observation);
  let steps = 0;
  let hasSurvivor = false;

  /** Whether it was followed. */
  async function follow(done: Promise<unknown>, recording: RecorderHandle): Promise<boolean> {
    await done;
    const { launched, left, isLost } = await endWithin(PATIENCE, recording);
    if (isLost) observation.doubt("lost", "");
    if (left !== undefined) {
      hasSurvivor = true;
      leave(program, left);
    }
    return launched === 0;
  }

  return {
    start(request) {
      const [ours, theirs] = openSocketPair();
      let recording: RecorderHandle | undefined;
      let child;
      try {
        writeBytes(ours, wanted);
        steps += 1;
        journal.begin();
        recording = record(ours, { keepsAll: keepsCalls, onSeen: (chunk) => journal.read(chunk) });
        const words = [TRACED_NAME, request.program ?? "", ...request.argv];
        child = trees.startChild({
          ...request,
          program: launcher,
          argv: words,
          inheritStdin: false,
          descriptors: [theirs],
        });
      } catch (error) {
        if (recording) void follow(Promise.resolve(), recording);
        else closeDescriptor(ours);
        throw error;
      } finally {
        closeDescriptor(theirs);
      }
      const isTraced = follow(child.done, recording);
      const exit = child.done;
      return { ...child, isTraced, done: isTraced.then(() => exit) };
    },
    async finish(): Promise<Trace> {
      // The thread looks at all that it has seen once more, which is nothing of an earlier step.
      const trace = observation.finish(steps === 1 ? observation.lookBack : statPath);
      return {
        ...trace,
        ...(hasSurvivor && { doubt: { kind: "survivor", detail: "" } }),
        ...(keepsCalls && { calls: journal.calls }),
      };
    },
  };
}

/** Whoever is left after so many milliseconds is not waited for. */
async function endWithin(patience: number, recording: RecorderHandle): Promise<RecorderResult> {
  const timer = setTimeout(recording.stop, patience);
  try {
    return await recording.over;
  } finally {
    clearTimeout(timer);
  }
}

/** Hands the listener to a process that outlives this one. */
function leave(program: string, listener: number): void {
  const [ours, theirs] = openSocketPair();
  const places = Array.from({ length: theirs - 2 }, (_, index) => (index + 3 === theirs ? theirs : "ignore"));
  Bun.spawn([program, STAY, String(theirs)], {
    argv0: TRACED_NAME,
    cwd: "/",
    env: host.originalEnvironment(),
    stdio: ["ignore", "ignore", "ignore", ...(places as "ignore"[])],
    detached: true,
  }).unref();
  sendDescriptor(ours, 0, listener);
  for (const descriptor of [ours, theirs, listener]) closeDescriptor(descriptor);
}

export const operations: TracingOperations = { openTracer };

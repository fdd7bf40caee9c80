// Following a script: a thread that answers the kernel, and a launcher (../native/launcher.c) that becomes the script.
//
// Surprising: what a script leaves running in the background still has the filter, and every open of it would fail once
// nobody listens any more. After a moment the listener goes to an rt of its own that only says yes, until the last of
// them has ended.
import type { Doubt, Trace, Tracer, TracingOperations, TracingOptions } from "../../contract/tracing.ts";
import { TRACED_NAME } from "../../contract/tracing.ts";
import { closeDescriptor, openPipe } from "../../posix/pipe.ts";
import { operations as host } from "../../posix/process.ts";
import { operations as trees } from "../../posix/process-tree.ts";
import { openProgram } from "../native/memory-program.ts";
import type { Architecture } from "./calls.ts";
import { openSocketPair, sendDescriptor, writeBytes } from "./descriptor-message.ts";
import { filterProgram } from "./filter.ts";
import { STAY } from "./caretaker.ts";
import { giveBack, takeThread } from "./thread.ts";

/** Milliseconds that a process of the script may end after it. */
const PATIENCE = 200;

let filter: Uint8Array | undefined;

function openTracer({ program, keepsCalls = false }: TracingOptions): Tracer {
  const launcher = openProgram("launcher");
  filter ??= new Uint8Array(filterProgram(process.arch as Architecture));
  const wanted = filter;
  const thread = takeThread();
  let doubt: { kind: Doubt; detail: string } | undefined;

  /** Whether it was followed. */
  async function follow(done: Promise<unknown>, stop: { reader: number; writer: number }): Promise<boolean> {
    const first = await thread.receive();
    const isTraced = "launched" in first && first.launched === 0;
    if (isTraced) {
      const over = thread.receive();
      await done;
      const isLate = Symbol();
      const timer = Promise.withResolvers<typeof isLate>();
      const patience = setTimeout(() => timer.resolve(isLate), PATIENCE);
      const ended = await Promise.race([over, timer.promise]);
      clearTimeout(patience);
      closeDescriptor(stop.writer); // the thread sees it, should it still wait
      const report = ended === isLate ? await over : ended;
      if ("over" in report && report.over.listener !== null) {
        doubt ??= { kind: "survivor", detail: "" };
        leave(program, report.over.listener);
      }
    } else closeDescriptor(stop.writer);
    closeDescriptor(stop.reader);
    return isTraced;
  }

  return {
    start(request) {
      const [ours, theirs] = openSocketPair();
      const stop = openPipe({ isPolled: false });
      thread.send({ serve: { socket: ours, stop: stop.reader }, keepsCalls });
      let child;
      try {
        writeBytes(ours, wanted);
        const words = [TRACED_NAME, request.program ?? "", ...request.argv];
        child = trees.startChild({
          ...request,
          program: launcher,
          argv: words,
          inheritStdin: false,
          descriptors: [theirs],
        });
      } catch (error) {
        closeDescriptor(theirs);
        void follow(Promise.resolve(), stop);
        throw error;
      }
      closeDescriptor(theirs);
      const isTraced = follow(child.done, stop);
      const exit = child.done;
      return { ...child, isTraced, done: isTraced.then(() => exit) };
    },
    async finish(): Promise<Trace> {
      thread.send({ finish: true });
      const report = await thread.receive();
      giveBack(thread);
      const trace: Trace = "trace" in report ? (JSON.parse(report.trace) as Trace) : { paths: [] };
      const isFaulty = thread.failure !== undefined || !("trace" in report);
      const found = doubt ?? (isFaulty ? { kind: "supervisor", detail: thread.failure ?? "" } : trace.doubt);
      return { ...trace, ...(found && { doubt: found as NonNullable<Trace["doubt"]> }) };
    },
  };
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

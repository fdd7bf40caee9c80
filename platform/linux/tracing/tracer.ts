// Following a script: a thread that answers the kernel, and a launcher that becomes the script.
//
// Surprising: what a script leaves running in the background still has the filter, and every open of it would fail once
// nobody listens any more. After a moment the listener goes to an rt of its own that only says yes, until the last of
// them has ended.
import script from "rt:supervisor";
import type { Doubt, Trace, Tracer, TracingOperations, TracingOptions } from "../../contract/tracing.ts";
import { TRACED_NAME } from "../../contract/tracing.ts";
import { closeDescriptor, openPipe } from "../../posix/pipe.ts";
import { operations as host } from "../../posix/process.ts";
import { operations as trees } from "../../posix/process-tree.ts";
import { openSocketPair, sendDescriptor } from "./descriptor-message.ts";
import { LAUNCH, STAY } from "./launcher.ts";
import type { Order, Report } from "./supervisor.ts";

/** Milliseconds that a process of the script may end after it. */
const PATIENCE = 200;

function openTracer({ program, keepsCalls = false }: TracingOptions): Tracer {
  const EngineWorker = Worker.prototype.constructor as typeof Worker;
  const source = `(${script})({}, undefined, { exports: {} }, "", "")`;
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new EngineWorker(url, { smol: true } as WorkerOptions);
  let doubt: { kind: Doubt; detail: string } | undefined;
  const waiting: ((report: Report) => void)[] = [];
  const reports: Report[] = [];
  const deliver = (report: Report) => {
    const next = waiting.shift();
    if (next) next(report);
    else reports.push(report);
  };
  worker.onmessage = ({ data }: MessageEvent<Report>) => deliver(data);
  worker.onerror = ({ message }) => {
    doubt ??= { kind: "supervisor", detail: message };
    deliver({ launched: -1 });
    deliver({ trace: { paths: [] } });
  };
  const send = (order: Order) => worker.postMessage(order);
  const receive = () =>
    new Promise<Report>((resolve) => {
      const report = reports.shift();
      if (report) resolve(report);
      else waiting.push(resolve);
    });

  /** Whether it was followed. */
  async function follow(done: Promise<unknown>, stop: { reader: number; writer: number }): Promise<boolean> {
    const first = await receive();
    const isTraced = "launched" in first && first.launched === 0;
    if (isTraced) {
      const over = receive();
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
      send({ serve: { socket: ours, stop: stop.reader }, keepsCalls });
      let child;
      try {
        const words = [TRACED_NAME, LAUNCH, String(theirs), request.program ?? "", ...request.argv];
        child = trees.startChild({
          ...request,
          program,
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
      send({ finish: true });
      const report = await receive();
      worker.terminate();
      URL.revokeObjectURL(url);
      const trace: Trace = "trace" in report ? report.trace : { paths: [] };
      const found =
        doubt ?? trace.doubt ?? ("trace" in report ? undefined : { kind: "supervisor", detail: "" });
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

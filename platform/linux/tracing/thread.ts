// The threads that answer the kernel: one for each script that runs, and the next script has one that is done with another.
// To start one takes longer than many a script, and what it has compiled is lost with it.
//
// Contract: what is given back has said all that it was asked, and knows nothing of it any more. One that has failed is
// given to nobody again.
import script from "rt:supervisor";
import type { Trace } from "../../contract/tracing.ts";
import type { Order, Report } from "./supervisor.ts";

export interface Thread {
  send(order: Order): void;
  /** What it says next. */
  receive(): Promise<Report>;
  /** Why it does not work; undefined as long as it does. */
  readonly failure: string | undefined;
  end(): void;
}

/** Each takes some megabytes. */
const MOST_IDLE = 8;
const idle: Thread[] = [];

let url: string | undefined;

export function takeThread(): Thread {
  return idle.pop() ?? startThread();
}

export function giveBack(thread: Thread): void {
  if (thread.failure !== undefined || idle.length === MOST_IDLE) thread.end();
  else idle.push(thread);
}

function startThread(): Thread {
  const EngineWorker = Worker.prototype.constructor as typeof Worker;
  url ??= URL.createObjectURL(
    new Blob([`(${script})({}, undefined, { exports: {} }, "", "")`], { type: "text/javascript" }),
  );
  const worker = new EngineWorker(url, { smol: true } as WorkerOptions);
  let failure: string | undefined;
  const waiting: ((report: Report) => void)[] = [];
  const reports: Report[] = [];
  const deliver = (report: Report) => {
    const next = waiting.shift();
    if (next) next(report);
    else reports.push(report);
  };
  worker.onmessage = ({ data }: MessageEvent<Report>) => deliver(data);
  worker.onerror = ({ message }) => {
    failure ??= message;
    deliver({ launched: -1 });
    deliver({ trace: JSON.stringify({ paths: [] } satisfies Trace) });
  };
  return {
    get failure() {
      return failure;
    },
    send: (order) => worker.postMessage(order),
    receive() {
      const report = reports.shift();
      return report ? Promise.resolve(report) : new Promise((resolve) => waiting.push(resolve));
    },
    end: () => worker.terminate(),
  };
}

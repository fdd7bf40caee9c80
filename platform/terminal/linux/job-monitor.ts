// Starts the job monitor (../../native/linux/job-monitor.c) and sends it the program to start.
//
// Invariants:
// - The monitor receives rt's original variables only. The program's other variables reach only the process that becomes the program,
//   through a pipe, and are zeroized here.
import { encodeCString } from "../../native/posix/libc.ts";
import type { Monitor, StartMonitor } from "../posix/terminal.ts";
import {
  closeDescriptor,
  openPipe,
  type Pipe,
  readAvailable,
  writeAvailable,
} from "../../native/posix/pipe.ts";
import { environmentChanges, startProgram, waitForEnd } from "../../processes/posix/spawn.ts";
import { openProgram } from "../../native/linux/memory-program.ts";

const NAME = "rt-monitor";
/** Number of counts before the texts: `struct start_request`. */
const COUNTS = 5;

/** Returns undefined if the system has no monitor. @throws at the limit of open files */
export const startMonitor: StartMonitor = (standard, terminal, descriptors) => {
  const program = openMonitor();
  if (program === undefined) return undefined;
  const order = openPipe({ isPolled: false });
  const report = openBeside(order);
  const started = startProgram({
    program,
    argv: [NAME, String(order.reader), String(report.writer)],
    environment: {},
    standard,
    terminal,
    descriptors: [...descriptors, order.reader, report.writer],
  });
  closeDescriptor(order.reader);
  closeDescriptor(report.writer);
  if (!("error" in started)) return lead(started.pid, order.writer, report.reader);
  closeDescriptor(order.writer);
  closeDescriptor(report.reader);
  return undefined;
};

/** Opens another pipe; closes the given one on failure. @throws at the limit of open files */
function openBeside({ reader, writer }: Pipe): Pipe {
  try {
    return openPipe({ isPolled: false });
  } catch (error) {
    closeDescriptor(reader);
    closeDescriptor(writer);
    throw error;
  }
}

function openMonitor(): string | undefined {
  try {
    return openProgram("monitor");
  } catch {
    return undefined;
  }
}

function lead(pid: number, order: number, report: number): Monitor {
  const from = directory();
  return {
    pid,
    begin(request) {
      const here = directory();
      const bytes = encodeOrder(request, here === from ? "" : here);
      for (let start = 0; start < bytes.length;) {
        const count = writeAvailable(order, bytes.subarray(start));
        if (count === null) break; // the monitor has been killed, which is handled as its exit
        start += count;
      }
      bytes.fill(0);
      closeDescriptor(order);
    },
    settle() {
      const [program = 0, error] = readNumbers(report);
      closeDescriptor(report);
      if (error === undefined) return { program };
      waitForEnd(pid);
      return { error };
    },
    close() {
      closeDescriptor(order);
      closeDescriptor(report);
      waitForEnd(pid);
    },
  };
}

/** Returns "" if the working directory was removed. */
function directory(): string {
  try {
    return process.cwd();
  } catch {
    return "";
  }
}

function encodeOrder(
  { program, argv, environment, engine }: Parameters<Monitor["begin"]>[0],
  directory: string,
): Uint8Array {
  const { first, without, last } = environmentChanges(environment, engine);
  const texts = [directory, program, ...argv, ...first, ...without, ...last].map(encodeCString);
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  const order = new Uint8Array(COUNTS * 4 + length);
  new Uint32Array(order.buffer, 0, COUNTS).set([
    length,
    argv.length,
    first.length,
    without.length,
    last.length,
  ]);
  let at = COUNTS * 4;
  for (const text of texts) {
    order.set(text, at);
    at += text.length;
    text.fill(0);
  }
  return order;
}

/** Reads numbers until the writer closes the pipe. */
function readNumbers(descriptor: number): number[] {
  const numbers: number[] = [];
  for (let bytes; (bytes = readAvailable(descriptor));)
    for (let at = 0; at < bytes.length; at += 4) numbers.push(new DataView(bytes.buffer).getInt32(at, true));
  return numbers;
}

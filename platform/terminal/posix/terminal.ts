// Redacted programs on Linux and macOS: rt receives their output through a pseudo-terminal (terminal-session.ts) or pipes.
//
// Invariants:
// - With a pseudo-terminal the program has its own session. With pipes it stays in rt's session and group, and the caller forwards
//   signals.
import type {
  RedactedChild,
  RedactedSpawnRequest,
  StdioTarget,
  StdioTargets,
  PreparedTerminal,
  TerminalOperations,
} from "../contract/terminal.ts";
import type { ChildExit } from "../../processes/contract/process-tree.ts";
import { addChild, unwatchChild } from "../../processes/posix/kill-watchdog.ts";
import { errorCode } from "../../native/posix/libc.ts";
import { OutputReader } from "../../processes/posix/output-reader.ts";
import { closeDescriptor, openPipe, type Pipe } from "../../native/posix/pipe.ts";
import { exitOf } from "../../processes/posix/byte-exact-spawn.ts";
import { type ProgramRequest, startProgram, waitFor, waitForEnd } from "../../processes/posix/spawn.ts";
import { TerminalSession } from "./terminal-session.ts";
import { openPair } from "./terminal-modes.ts";

const EMFILE = 24;
/** Most short programs exit within this time. */
const MOMENT = 5; // ms
const POLL_INTERVAL = 1; // ms

type Standard = readonly (number | "terminal")[];

/** A job monitor that waits for its request (../linux/job-monitor.ts). */
export interface Monitor {
  readonly pid: number;
  begin(program: Pick<ProgramRequest, "program" | "argv" | "environment" | "engine">): void;
  /** Waits for the start of the program. Returns its process id, or the error number. May be called once. */
  settle(): { program: number } | { error: number };
  /** Ends the monitor without a program. */
  close(): void;
}

/** Returns undefined if the system has no monitor. */
export type StartMonitor = (
  standard: Standard,
  terminal: string,
  descriptors: readonly number[],
) => Monitor | undefined;

export function prepareTerminal(
  places: StdioTargets,
  descriptors: readonly number[],
  startMonitor: StartMonitor,
): PreparedTerminal | string {
  const isOnTerminal = places.includes("terminal");
  const pair = isOnTerminal ? openPair() : undefined;
  if (isOnTerminal && !pair) return errorCode(EMFILE);
  const pipes = new Map<1 | 2, Pipe>();
  const closeAll = () => {
    for (const { reader } of pipes.values()) closeDescriptor(reader);
    if (pair) for (const descriptor of [pair.master, pair.slave]) closeDescriptor(descriptor);
  };
  const closeWriters = () => {
    for (const { writer } of pipes.values()) closeDescriptor(writer);
  };
  try {
    for (const descriptor of [1, 2] as const)
      if (places[descriptor] === "pipe") pipes.set(descriptor, openPipe({ isPolled: true }));
    const standard = places.map((place, descriptor) => standardFor(place, descriptor, pipes));
    const monitor = pair && startMonitor(standard, pair.path, descriptors);
    return {
      attend(request) {
        let session: TerminalSession | undefined;
        let attended: RedactedChild | string;
        try {
          session = pair && new TerminalSession(request, places, pair);
          const program = { ...request, standard, terminal: pair?.path, descriptors };
          attended = attend(request, program, { pipes, session, monitor });
        } catch (error) {
          attended = codeOf(error);
        }
        closeWriters();
        if (typeof attended !== "string") return attended;
        session?.close();
        closeAll();
        return attended;
      },
      close() {
        closeWriters();
        closeAll();
        monitor?.close();
      },
    };
  } catch (error) {
    closeWriters();
    closeAll();
    return codeOf(error);
  }
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? String(error);
}

interface Stand {
  readonly pipes: ReadonlyMap<1 | 2, Pipe>;
  readonly session: TerminalSession | undefined;
  readonly monitor: Monitor | undefined;
}

function attend(
  request: RedactedSpawnRequest,
  program: ProgramRequest,
  stand: Stand,
): RedactedChild | string {
  const { session, monitor } = stand;
  const changes = listenForChanges();
  const started = start(program, monitor);
  if (!("error" in started)) {
    session?.lead(started.pid, monitor !== undefined, () => changes.onChange());
    request.onStarting();
  }
  const settled = "error" in started || !monitor ? started : monitor.settle();
  if ("error" in started || "error" in settled) {
    changes.close();
    return errorCode((settled as { error: number }).error);
  }
  const number = "program" in settled ? settled.program : started.pid;
  session?.know(number);
  return follow(request, { pid: started.pid, program: number }, stand, changes);
}

/** Returns the process id of the monitor, or of the program without one. */
function start(program: ProgramRequest, monitor: Monitor | undefined): { pid: number } | { error: number } {
  if (!monitor) return startGuarded(program);
  monitor.begin(program); // the kernel ends the monitor with rt, and the program with the monitor
  return monitor;
}

function startGuarded(request: ProgramRequest): { pid: number } | { error: number } {
  const pending = addChild();
  const { program, argv, standard, descriptors } = request;
  const firstPlace = Math.max(standard.length, ...descriptors.map((each) => each + 1));
  const registration = pending.registration(firstPlace);
  let started: { pid: number } | { error: number } | undefined;
  if (registration) {
    const places: ProgramRequest["standard"][number][] = [...standard];
    places[firstPlace] = registration.list;
    places[firstPlace + 1] = registration.alive;
    places[firstPlace + 2] = registration.report;
    const words = [...registration.argv, program, ...argv];
    started = startProgram({ ...request, program: registration.program, argv: words, standard: places });
    if ("error" in started) started = pending.skipRegistration();
  }
  started ??= startProgram(request);
  if ("error" in started) {
    pending.cancel();
    return started;
  }
  const error = pending.openReport()();
  if (error === 0) {
    pending.confirm(started.pid);
    return started;
  }
  waitForEnd(started.pid);
  pending.cancel();
  return { error };
}

function standardFor(
  place: StdioTarget,
  descriptor: number,
  pipes: ReadonlyMap<1 | 2, Pipe>,
): number | "terminal" {
  if (place === "pipe") return pipes.get(descriptor as 1 | 2)!.writer;
  if (place === "joined") return pipes.get(1)!.writer;
  return place === "own" ? descriptor : place;
}

interface Changes {
  /** Called when any child has exited or stopped. */
  onChange: () => void;
  close(): void;
}

/** Must be called before the start: the program may exit at once. */
function listenForChanges(): Changes {
  const hear = () => changes.onChange();
  const changes: Changes = { onChange() {}, close: () => void process.off("SIGCHLD", hear) };
  process.on("SIGCHLD", hear);
  return changes;
}

function follow(
  { onOutput, show, onExit, flush }: RedactedSpawnRequest,
  started: { readonly pid: number; readonly program: number },
  { pipes, session }: Stand,
  changes: Changes,
): RedactedChild {
  const piped = new Map(
    [...pipes].map(([descriptor, { reader }]) => [
      descriptor,
      new OutputReader(reader, (bytes) => onOutput(descriptor, bytes)),
    ]),
  );
  const outlets = session ? [...piped.values(), session.outlet] : [...piped.values()];
  const ended = new Promise<ChildExit>((resolve) => {
    let isOver = false;
    const ask = () => {
      for (let change; !isOver && (change = waitFor(started.pid));) {
        if (change.kind === "stopped") session?.onStopped();
        else {
          isOver = true;
          resolve(exitOf(change));
        }
      }
    };
    changes.onChange = ask;
    const begin = () => {
      ask();
      if (!isOver) for (const outlet of outlets) outlet.attach();
    };
    // Setting up output and keys takes as long as a short program runs: it may have exited by the next turn.
    if (!session) return void setImmediate(begin);
    // A microtask: all output of a short program may be available already.
    queueMicrotask(() => {
      const end = performance.now() + MOMENT;
      for (ask(); !isOver && performance.now() < end; ask())
        if (session.outlet.awaitBytes(POLL_INTERVAL)) show();
      if (!isOver) setImmediate(begin);
    });
  });
  return {
    pid: started.program,
    done: ended.then(async (exit) => {
      changes.close();
      unwatchChild(started.pid);
      onExit();
      session?.endInput();
      await Promise.all(outlets.map((outlet) => outlet.finish()));
      await flush();
      session?.close();
      return exit;
    }),
    hangUp(descriptor) {
      const outlet = piped.get(descriptor);
      if (outlet) outlet.abandon();
      else session?.hangUp();
    },
  };
}

export const operations: TerminalOperations = {
  hasTerminals: true,
  prepareTerminal: (places, descriptors) => prepareTerminal(places, descriptors, () => undefined),
};

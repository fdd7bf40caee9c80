// A program whose output comes to rt first, on Linux and macOS: on a terminal of its own that behaves as the one that rt is
// on (terminal-session.ts), or through pipes.
//
// Contract: with a terminal the program has a session of its own there. Through pipes it stays in rt's session and group,
// and signals are the caller's affair.
import type {
  RedactedChild,
  RedactedSpawnRequest,
  StdioTarget,
  StdioTargets,
  PreparedTerminal,
  TerminalOperations,
} from "../contract/terminal.ts";
import type { ChildExit } from "../../processes/contract/process-tree.ts";
import { admit, unwatchChild } from "../../processes/posix/kill-watchdog.ts";
import { errorCode } from "../../native/posix/libc.ts";
import { OutputReader } from "../../processes/posix/output-reader.ts";
import { closeDescriptor, openPipe, type Pipe } from "../../native/posix/pipe.ts";
import { exitOf } from "../../processes/posix/byte-exact-spawn.ts";
import { type ProgramRequest, startProgram, waitFor, waitForEnd } from "../../processes/posix/spawn.ts";
import { TerminalSession } from "./terminal-session.ts";
import { openPair } from "./terminal-modes.ts";

const EMFILE = 24;
/** In which most short programs end. */
const MOMENT = 5; // ms
const LOOK_AGAIN_AFTER = 1; // ms

type Standard = readonly (number | "terminal")[];

/** What stands between, and waits for its order (../linux/monitor.ts). */
export interface Monitor {
  readonly pid: number;
  begin(program: Pick<ProgramRequest, "program" | "argv" | "environment" | "engine">): void;
  /** Waits, once, until the program itself has been started: its number, or that of the system's error. */
  settle(): { program: number } | { error: number };
  /** In place of both. */
  close(): void;
}

/** Undefined where there can be none. */
export type StartMonitor = (
  standard: Standard,
  terminal: string,
  descriptors: readonly number[],
) => Monitor | undefined;

export function openStage(
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

/** Of the process that has been started from here: the program, or its monitor. */
function start(program: ProgramRequest, monitor: Monitor | undefined): { pid: number } | { error: number } {
  if (!monitor) return startGuarded(program);
  monitor.begin(program); // which the kernel ends with rt, and the program with it
  return monitor;
}

function startGuarded(request: ProgramRequest): { pid: number } | { error: number } {
  const admission = admit();
  const { program, argv, standard, descriptors } = request;
  const firstPlace = Math.max(standard.length, ...descriptors.map((each) => each + 1));
  const gate = admission.gate(firstPlace);
  let started: { pid: number } | { error: number } | undefined;
  if (gate) {
    const places: ProgramRequest["standard"][number][] = [...standard];
    places[firstPlace] = gate.list;
    places[firstPlace + 1] = gate.alive;
    places[firstPlace + 2] = gate.report;
    const words = [...gate.argv, program, ...argv];
    started = startProgram({ ...request, program: gate.program, argv: words, standard: places });
    if ("error" in started) started = admission.refuseGate();
  }
  started ??= startProgram(request);
  if ("error" in started) {
    admission.leave();
    return started;
  }
  const error = admission.awaitProgram();
  if (error === 0) {
    admission.enter(started.pid);
    return started;
  }
  waitForEnd(started.pid);
  admission.leave();
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
  /** Told that some child has ended or been stopped. */
  onChange: () => void;
  close(): void;
}

/** From before the start: the end may come at once. */
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
    // To hear of output and keys takes as long to arrange as a short program runs: by the next turn that may have ended.
    if (!session) return void setImmediate(begin);
    // And a turn of the loop as long as its last words: of these it is told here, when all is there that they need.
    queueMicrotask(() => {
      const end = performance.now() + MOMENT;
      for (ask(); !isOver && performance.now() < end; ask())
        if (session.outlet.awaitBytes(LOOK_AGAIN_AFTER)) show();
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
  openStage: (places, descriptors) => openStage(places, descriptors, () => undefined),
};

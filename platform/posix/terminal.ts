// A program whose output comes to rt first, on Linux and macOS: on a terminal of its own that behaves as the one that rt is
// on (terminal-session.ts), or through pipes.
//
// Contract: with a terminal the program has a session of its own there. Through pipes it stays in rt's session and group,
// and signals are the caller's affair.
import type { Attended, AttendedRequest, Place, TerminalOperations } from "../contract/terminal.ts";
import type { ChildExit } from "../contract/process-tree.ts";
import { errorCode } from "./libc.ts";
import { Outlet } from "./outlet.ts";
import { closeDescriptor, openPipe, type Pipe } from "./pipe.ts";
import { exitOf } from "./exact-child.ts";
import { startProgram, waitFor } from "./program.ts";
import { TerminalSession } from "./terminal-session.ts";
import { openPair } from "./terminal-modes.ts";

const EMFILE = 24;
/** In which most short programs end. */
const MOMENT = 5; // ms
const LOOK_AGAIN_AFTER = 1; // ms

/** @param openMonitor the path of a program that stands between, as program.ts says; undefined where there is none */
export function attend(request: AttendedRequest, openMonitor: () => string | undefined): Attended | string {
  const isOnTerminal = request.places.includes("terminal");
  const pair = isOnTerminal ? openPair() : undefined;
  if (isOnTerminal && !pair) return errorCode(EMFILE);
  const pipes = new Map<1 | 2, Pipe>();
  const closeAll = () => {
    for (const { reader } of pipes.values()) closeDescriptor(reader);
    if (pair) for (const descriptor of [pair.master, pair.slave]) closeDescriptor(descriptor);
  };
  let session: TerminalSession | undefined;
  try {
    for (const descriptor of [1, 2] as const)
      if (request.places[descriptor] === "pipe") pipes.set(descriptor, openPipe({ isPolled: true }));
    session = pair && new TerminalSession(request, pair);
    const changes = listenForChanges();
    const started = startProgram({
      ...request,
      standard: request.places.map((place, descriptor) => standardFor(place, descriptor, pipes)),
      terminal: pair?.path,
      monitor: pair && openMonitor(),
    });
    if (!("error" in started)) {
      session?.lead(started, () => changes.onChange());
      request.onStarting();
    }
    const settled = "error" in started ? started : started.settle();
    if ("error" in started || "error" in settled) {
      changes.close();
      session?.close();
      closeAll();
      return errorCode((settled as { error: number }).error);
    }
    session?.know(settled.program);
    return follow(request, { pid: started.pid, program: settled.program }, pipes, session, changes);
  } catch (error) {
    session?.close();
    closeAll();
    return (error as { code?: string }).code ?? String(error);
  } finally {
    for (const { writer } of pipes.values()) closeDescriptor(writer);
  }
}

function standardFor(place: Place, descriptor: number, pipes: ReadonlyMap<1 | 2, Pipe>): number | "terminal" {
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
  { onOutput, show, onExit, flush }: AttendedRequest,
  started: { readonly pid: number; readonly program: number },
  pipes: ReadonlyMap<1 | 2, Pipe>,
  session: TerminalSession | undefined,
  changes: Changes,
): Attended {
  const piped = new Map(
    [...pipes].map(([descriptor, { reader }]) => [
      descriptor,
      new Outlet(reader, (bytes) => onOutput(descriptor, bytes)),
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
  attend: (request) => attend(request, () => undefined),
};

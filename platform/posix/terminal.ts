// A program whose output comes to rt first, on Linux and macOS: on a terminal of its own that behaves as the one that rt is
// on, or through pipes.
//
// Contract: with a terminal the program leads a session of its own there, has the modes and the size of rt's (also the
// later ones), and reads what is typed, byte for byte. Ctrl-Z stops it and rt's whole job; what continues rt continues it.
// Signals that are sent to rt are passed on. When rt's terminal goes away the program's does. Through pipes it
// stays in rt's session and group, and signals are the caller's affair.
//
// Surprising: the program leads a session without a parent in it, so the kernel lets no Ctrl-Z stop it. rt looks for the
// key itself, where the program leaves it to the terminal, and stops the program by SIGSTOP. A program that takes the key
// for itself and then stops itself by SIGTSTP (vim) goes on instead.
import type { Attended, AttendedRequest, Place, TerminalOperations } from "../contract/terminal.ts";
import type { ChildExit } from "../contract/process-tree.ts";
import { Keyboard } from "./keyboard.ts";
import { errorCode } from "./libc.ts";
import { Outlet } from "./outlet.ts";
import { Terminals } from "./outer-terminal.ts";
import { closeDescriptor, openPipe, type Pipe, writeAvailable } from "./pipe.ts";
import { heeded, stopJob } from "./signals.ts";
import { exitOf } from "./exact-child.ts";
import { startProgram, waitFor } from "./program.ts";
import {
  endingKeys,
  foregroundOf,
  type Modes,
  modesOf,
  openOwn,
  openPair,
  showsKeys,
  suspendKey,
  type TerminalPair,
} from "./terminal-modes.ts";

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const LOOK_AGAIN_AFTER = 5; // ms
const EMFILE = 24;

const attend: TerminalOperations["attend"] = (request) => {
  const isOnTerminal = request.places.includes("terminal");
  const pair = isOnTerminal ? openPair() : undefined;
  if (isOnTerminal && !pair) return errorCode(EMFILE);
  const pipes = new Map<1 | 2, Pipe>();
  const closeAll = () => {
    for (const { reader } of pipes.values()) closeDescriptor(reader);
    if (pair) for (const descriptor of [pair.master, pair.slave]) closeDescriptor(descriptor);
  };
  let session: Session | undefined;
  try {
    for (const descriptor of [1, 2] as const)
      if (request.places[descriptor] === "pipe") pipes.set(descriptor, openPipe({ isPolled: true }));
    session = pair && new Session(request, pair);
    const changes = listenForChanges();
    const started = startProgram({
      ...request,
      standard: request.places.map((place, descriptor) => standardFor(place, descriptor, pipes)),
      terminal: pair?.path,
    });
    if ("error" in started) {
      changes.close();
      session?.close();
      closeAll();
      return errorCode(started.error);
    }
    return follow(request, started.pid, pipes, session, changes);
  } catch (error) {
    session?.close();
    closeAll();
    return (error as { code?: string }).code ?? String(error);
  } finally {
    for (const { writer } of pipes.values()) closeDescriptor(writer);
  }
};

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
  { onOutput, onExit, flush }: AttendedRequest,
  pid: number,
  pipes: ReadonlyMap<1 | 2, Pipe>,
  session: Session | undefined,
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
      for (let change = waitFor(pid); change && !isOver; change = waitFor(pid)) {
        if (change.kind === "stopped") session?.onStopped();
        else {
          isOver = true;
          resolve(exitOf(change));
        }
      }
    };
    changes.onChange = ask;
    // To hear of output and keys takes as long to arrange as a short program runs: by the next turn that may have ended.
    setImmediate(() => {
      ask();
      if (!isOver) for (const outlet of outlets) outlet.attach();
    });
  });
  session?.lead(pid);
  return {
    pid,
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

/** The program's terminal, and what goes on between it and rt's. */
class Session {
  readonly outlet: Outlet;
  readonly #request: AttendedRequest;
  readonly #pair: TerminalPair;
  readonly #outer: number;
  readonly #terminals: Terminals;
  readonly #keyboard: Keyboard;
  readonly #removers: (() => void)[] = [];
  #pid = 0;
  #isOver = false;
  #isSuspended = false;
  /** What rt has sent to its own job, of which the program knows by its own terminal. */
  readonly #told = new Set<NodeJS.Signals>();

  constructor(request: AttendedRequest, pair: TerminalPair) {
    this.#request = request;
    this.#pair = pair;
    const onTerminal = [0, 1, 2].filter((descriptor) => request.places[descriptor] === "terminal");
    this.#outer = openOwn(onTerminal);
    this.outlet = new Outlet(pair.master, (bytes) => request.onOutput(this.#shownOn(), bytes));
    this.#keyboard = new Keyboard({
      open: () => openOwn(onTerminal),
      onKeys: (keys) => this.#type(keys),
      onEnd: () => this.hangUp(),
    });
    this.#terminals = new Terminals({
      outer: this.#outer,
      inner: pair.slave,
      onFront: (isFront) => (isFront ? this.#keyboard.start() : this.#keyboard.stop()),
    });
  }

  #shownOn(): 1 | 2 {
    return this.#request.places[1] === "terminal" ? 1 : 2;
  }

  lead(pid: number): void {
    this.#pid = pid;
    this.#terminals.look();
    for (const signal of heeded(PASSED_ON))
      this.#hear(signal, () => this.#told.delete(signal) || this.#send(pid, signal));
    for (const signal of heeded(["SIGTSTP"])) this.#hear(signal, () => void this.#suspend());
    this.#hear("SIGWINCH", () => this.#isOver || this.#terminals.copySize());
    this.#hear("SIGCONT", () => this.#isOver || this.#isSuspended || this.#terminals.look());
  }

  #hear(signal: NodeJS.Signals, hear: () => void): void {
    process.on(signal, hear);
    this.#removers.push(() => process.off(signal, hear));
  }

  #send(target: number, signal: NodeJS.Signals): void {
    try {
      process.kill(target, signal);
    } catch {
      // It has ended meanwhile.
    }
  }

  /** Bytes for the program, but for the key that stops a job. */
  async #type(keys: Uint8Array): Promise<void> {
    for (let rest = keys; rest.length > 0 && !this.#isOver;) {
      const modes = modesOf(this.#pair.slave);
      const key = modes ? suspendKey(modes) : undefined;
      // A shell on that terminal has jobs of its own, and stops them itself.
      const isOurs = foregroundOf(this.#pair.master) === this.#pid;
      const at = isOurs && key !== undefined ? rest.indexOf(key) : -1;
      const before = at < 0 ? rest : rest.subarray(0, at);
      await this.#write(before);
      if (isOurs && modes) this.#tellJob(before, modes);
      if (at < 0) return;
      if (showsKeys(modes!))
        await this.#request.onOutput(this.#shownOn(), Uint8Array.of(0x5e, (key! & 0x1f) | 0x40));
      await this.#suspend();
      rest = rest.subarray(at + 1);
    }
  }

  /** Ctrl-C is for the whole job: a shell or a watching rt that waits for this one ends as well. */
  #tellJob(keys: Uint8Array, modes: Modes): void {
    for (const [key, signal] of endingKeys(modes)) {
      if (key === undefined || !keys.includes(key) || heeded([signal]).length === 0) continue;
      this.#told.add(signal);
      this.#send(0, signal);
    }
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length && !this.#isOver;) {
      const count = writeAvailable(this.#pair.master, bytes.subarray(start));
      if (count === null) return;
      start += count;
      if (count === 0) await Bun.sleep(LOOK_AGAIN_AFTER);
    }
  }

  /** Stopped by somebody else: then the shell that rt runs in is to have the terminal. */
  onStopped(): void {
    if (!this.#isSuspended) void this.#suspend();
  }

  async #suspend(): Promise<void> {
    if (this.#isSuspended || this.#isOver) return;
    this.#isSuspended = true;
    const group = foregroundOf(this.#pair.master);
    const stopped = group > 0 ? group : this.#pid;
    this.#send(-stopped, "SIGSTOP");
    await turnLoop();
    await this.#request.flush();
    this.#terminals.leave();
    stopJob();
    waitFor(this.#pid); // of the stop nobody needs to be told
    this.#isSuspended = false;
    this.#terminals.look();
    this.#terminals.copySize();
    this.#send(-stopped, "SIGCONT");
  }

  /** The program has ended: what still has its terminal open does so in vain. */
  endInput(): void {
    this.#isOver = true;
    this.#keyboard.stop();
    this.#terminals.stopLooking();
    closeDescriptor(this.#pair.slave);
  }

  hangUp(): void {
    this.outlet.abandon();
    if (!this.#isOver) this.endInput();
  }

  /** The terminal that rt is on is as it was. */
  close(): void {
    this.#terminals.close();
    for (const remove of this.#removers) remove();
    if (this.#outer >= 0) closeDescriptor(this.#outer);
  }
}

/** What the program wrote before it was stopped has been delivered. */
async function turnLoop(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export const operations: TerminalOperations = { hasTerminals: true, attend };

// Connects a program's pseudo-terminal to rt's terminal: keys, modes, size, signals and job control.
//
// Invariants:
// - The program's terminal has the current modes and size of rt's terminal, and receives every typed byte.
// - Ctrl-Z stops the program and rt's job; continuing rt continues the program. Signals to rt are forwarded.
// - If rt's terminal is closed, the program's is closed too.
//
// Non-obvious: with a job monitor the kernel stops the program, and rt sees the monitor stop. Without one the program leads the
// session, and the kernel ignores the key. Then rt detects Ctrl-Z and sends SIGSTOP. A program that handles the key itself (vim)
// does not stop.
import type { RedactedSpawnRequest, StdioTargets } from "../contract/terminal.ts";
import { Keyboard } from "./keyboard.ts";
import { OutputReader } from "../../processes/posix/output-reader.ts";
import { Terminals } from "./terminal-sync.ts";
import { closeDescriptor, hasOutput, writeAvailable } from "../../native/posix/pipe.ts";
import { isRunning } from "../../processes/posix/process-table.ts";
import { isHandledByRt, stopJob } from "../../processes/posix/signals.ts";
import {
  endingKeys,
  foregroundOf,
  type TerminalModes,
  modesOf,
  openOwn,
  showsKeys,
  suspendKey,
  type TerminalPair,
} from "./terminal-modes.ts";

const INHERITABLE_TYPES = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const POLL_INTERVAL = 5; // ms
/** Limit of checks: a process of the job may ignore the signal, which is not visible. */
const MAX_CHECKS = 40;
const MOST_TURNS = 1000;

/** The connection between a program's pseudo-terminal and rt's terminal. */
export class TerminalSession {
  readonly outlet: OutputReader;
  readonly #request: RedactedSpawnRequest;
  readonly #places: StdioTargets;
  readonly #pair: TerminalPair;
  readonly #outer: number;
  readonly #terminals: Terminals;
  readonly #keyboard: Keyboard;
  readonly #removers: (() => void)[] = [];
  /** Process id of the monitor, or of the program without one. */
  #pid = 0;
  #isMonitored = false;
  #program = 0;
  #ask = () => {};
  #isOver = false;
  #isSuspended = false;
  /** Signals that rt has sent to its own job; the program received them from its terminal. */
  readonly #told = new Set<NodeJS.Signals>();

  constructor(request: RedactedSpawnRequest, places: StdioTargets, pair: TerminalPair) {
    this.#request = request;
    this.#places = places;
    this.#pair = pair;
    const onTerminal = [0, 1, 2].filter((descriptor) => places[descriptor] === "terminal");
    this.#outer = openOwn(onTerminal);
    this.outlet = new OutputReader(pair.master, (bytes) => request.onOutput(this.#shownOn(), bytes));
    this.#keyboard = new Keyboard({
      open: () => this.#openKeys(onTerminal),
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
    return this.#places[1] === "terminal" ? 1 : 2;
  }

  /**
   * @param pid of the monitor, or of the program without one
   * @param ask checks the state of that process
   */
  lead(pid: number, isMonitored: boolean, ask: () => void): void {
    this.#pid = pid;
    this.#isMonitored = isMonitored;
    this.#ask = ask;
    this.#terminals.look();
    for (const signal of isHandledByRt(INHERITABLE_TYPES))
      this.#hear(signal, () => this.#told.delete(signal) || this.#send(pid, signal));
    for (const signal of isHandledByRt(["SIGTSTP"]))
      this.#hear(signal, () => (isMonitored ? this.#send(pid, signal) : void this.#suspend()));
    this.#hear("SIGWINCH", () => this.#isOver || this.#terminals.copySize());
    this.#hear("SIGCONT", () => this.#isOver || this.#isSuspended || this.#terminals.look());
  }

  /** Checks also whether rt's terminal is still open. */
  #openKeys(onTerminal: readonly number[]): number {
    const descriptor = openOwn(onTerminal);
    if (descriptor < 0 && !modesOf(this.#outer)) this.hangUp();
    return descriptor;
  }

  /** Sets the process id of the program, which may be known later. */
  know(program: number): void {
    this.#program = program;
  }

  #hear(signal: NodeJS.Signals, hear: () => void): void {
    process.on(signal, hear);
    this.#removers.push(() => process.off(signal, hear));
  }

  #send(target: number, signal: NodeJS.Signals): void {
    try {
      process.kill(target, signal);
    } catch {
      // The process has exited concurrently.
    }
  }

  async #type(keys: Uint8Array): Promise<void> {
    if (!this.#isMonitored) return await this.#typeUntilStopped(keys);
    const modes = modesOf(this.#pair.slave);
    const isOurs = this.#isInFront();
    await this.#write(keys);
    if (isOurs && modes) this.#tellJob(keys, modes);
  }

  /** A shell on the pseudo-terminal has its own jobs, which rt must not stop. */
  #isInFront(): boolean {
    return foregroundOf(this.#pair.master) === this.#program;
  }

  /** Without a monitor: forwards keys up to the key that stops a job. */
  async #typeUntilStopped(keys: Uint8Array): Promise<void> {
    for (let rest = keys; rest.length > 0 && !this.#isOver;) {
      const modes = modesOf(this.#pair.slave);
      const key = modes ? suspendKey(modes) : undefined;
      const isOurs = this.#isInFront();
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

  /** Ctrl-C is for the whole job: a shell or a watching rt that waits for this one also ends. */
  #tellJob(keys: Uint8Array, modes: TerminalModes): void {
    for (const [key, signal] of endingKeys(modes)) {
      if (key === undefined || !keys.includes(key) || isHandledByRt([signal]).length === 0) continue;
      this.#told.add(signal);
      this.#send(0, signal);
    }
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length && !this.#isOver;) {
      const count = writeAvailable(this.#pair.master, bytes.subarray(start));
      if (count === null) return;
      start += count;
      if (count === 0) await Bun.sleep(POLL_INTERVAL);
    }
  }

  /** Returns the terminal to the shell that rt runs in. */
  onStopped(): void {
    if (!this.#isSuspended) void this.#suspend();
  }

  async #suspend(): Promise<void> {
    if (this.#isSuspended || this.#isOver) return;
    this.#isSuspended = true;
    const group = foregroundOf(this.#pair.master);
    const stopped = this.#isMonitored ? this.#pid : -(group > 0 ? group : this.#pid);
    if (this.#isMonitored) await this.#awaitRest(group);
    else this.#send(stopped, "SIGSTOP");
    await turnLoop();
    await this.#request.flush();
    this.#terminals.leave();
    stopJob();
    this.#ask(); // reports an exit; the stop needs no report
    this.#isSuspended = false;
    this.#terminals.look();
    this.#terminals.copySize();
    this.#send(stopped, "SIGCONT");
  }

  /** A handler of SIGTSTP restores the terminal first; the group's leader may stop before that. */
  async #awaitRest(group: number): Promise<void> {
    for (let look = 0; look < MAX_CHECKS && isRunning(group); look += 1) await Bun.sleep(POLL_INTERVAL);
    for (let turn = 0; turn < MOST_TURNS && hasOutput(this.#pair.master, 0); turn += 1) await turnLoop();
  }

  /** Ends the input after the program has exited: descendants that still read the terminal get none. */
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

  /** Restores rt's terminal. */
  close(): void {
    this.#terminals.close();
    for (const remove of this.#removers) remove();
    if (this.#outer >= 0) closeDescriptor(this.#outer);
  }
}

/** Waits until output from before the stop has been delivered. */
async function turnLoop(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

// A program's terminal, and what goes on between it and the one that rt is on.
//
// Contract: the program has the modes and the size of rt's terminal (also the later ones), and reads what is typed, byte for
// byte. Ctrl-Z stops it and rt's whole job; what continues rt continues it. Signals that are sent to rt are passed on. When
// rt's terminal goes away the program's does.
//
// How it is stopped depends on how it was started (spawn.ts):
//
//   monitored   its group has a parent in the session: the kernel stops it, by the key or as it pleases, and the monitor with it,
//               which rt sees. Signals go to the monitor, which has them for the program
//   otherwise   it leads the session without a parent in it, so the kernel lets no Ctrl-Z stop it: rt looks for the key, where
//               the program leaves it to the terminal, and stops it by SIGSTOP. A program that takes the key for itself and then
//               stops itself by SIGTSTP (vim) goes on instead
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

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
const LOOK_AGAIN_AFTER = 5; // ms
/** Of a member of the job that does not heed the signal nobody can know that it will not. */
const MOST_LOOKS = 40;
const MOST_TURNS = 1000;

/** The program's terminal, and what goes on between it and rt's. */
export class TerminalSession {
  readonly outlet: OutputReader;
  readonly #request: RedactedSpawnRequest;
  readonly #places: StdioTargets;
  readonly #pair: TerminalPair;
  readonly #outer: number;
  readonly #terminals: Terminals;
  readonly #keyboard: Keyboard;
  readonly #removers: (() => void)[] = [];
  /** Of what was started: the program, or its monitor. */
  #pid = 0;
  #isMonitored = false;
  #program = 0;
  #ask = () => {};
  #isOver = false;
  #isSuspended = false;
  /** What rt has sent to its own job, of which the program knows by its own terminal. */
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
   * @param pid of the program, or of its monitor
   * @param ask looks what has become of it
   */
  lead(pid: number, isMonitored: boolean, ask: () => void): void {
    this.#pid = pid;
    this.#isMonitored = isMonitored;
    this.#ask = ask;
    this.#terminals.look();
    for (const signal of isHandledByRt(PASSED_ON))
      this.#hear(signal, () => this.#told.delete(signal) || this.#send(pid, signal));
    for (const signal of isHandledByRt(["SIGTSTP"]))
      this.#hear(signal, () => (isMonitored ? this.#send(pid, signal) : void this.#suspend()));
    this.#hear("SIGWINCH", () => this.#isOver || this.#terminals.copySize());
    this.#hear("SIGCONT", () => this.#isOver || this.#isSuspended || this.#terminals.look());
  }

  /** Until now nobody has looked whether the terminal is still there. */
  #openKeys(onTerminal: readonly number[]): number {
    const descriptor = openOwn(onTerminal);
    if (descriptor < 0 && !modesOf(this.#outer)) this.hangUp();
    return descriptor;
  }

  /** The number of the program itself, which may be known later. */
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
      // It has ended meanwhile.
    }
  }

  async #type(keys: Uint8Array): Promise<void> {
    if (!this.#isMonitored) return await this.#typeUntilStopped(keys);
    const modes = modesOf(this.#pair.slave);
    const isOurs = this.#isInFront();
    await this.#write(keys);
    if (isOurs && modes) this.#tellJob(keys, modes);
  }

  /** A shell on that terminal has jobs of its own, which are no affair of rt's. */
  #isInFront(): boolean {
    return foregroundOf(this.#pair.master) === this.#program;
  }

  /** Where there is no monitor: but for the key that stops a job. */
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

  /** Ctrl-C is for the whole job: a shell or a watching rt that waits for this one ends as well. */
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
      if (count === 0) await Bun.sleep(LOOK_AGAIN_AFTER);
    }
  }

  /** Then the shell that rt runs in is to have the terminal. */
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
    this.#ask(); // of the stop nobody needs to be told; of an end, yes
    this.#isSuspended = false;
    this.#terminals.look();
    this.#terminals.copySize();
    this.#send(stopped, "SIGCONT");
  }

  /** What catches the signal puts the terminal right first; whoever leads the group may stand still before that. */
  async #awaitRest(group: number): Promise<void> {
    for (let look = 0; look < MOST_LOOKS && isRunning(group); look += 1) await Bun.sleep(LOOK_AGAIN_AFTER);
    for (let turn = 0; turn < MOST_TURNS && hasOutput(this.#pair.master, 0); turn += 1) await turnLoop();
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

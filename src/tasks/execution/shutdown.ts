// How a run ends before its time: by a signal that reaches rt, or because something has failed.
//
// Contract: INT, TERM and HUP that reach rt are passed at once to everything its children have started; what is still there
// after a grace, or at a second INT, is killed. Nothing of the run is left running, nor what scripts that had ended before
// have left in the background; where the run ends for another reason that stays, as where it ends by itself: it may be a
// daemon. Ctrl-Z stops all that runs, and `fg` resumes it.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child, StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import { GRACE } from "./watched-process-trees.ts";

const LOOK_AGAIN_AFTER = 10; // ms
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface ShutdownOptions {
  /** Those that run, and of a watched run those that have left something running. */
  children(): readonly Child[];
  /** Those that have ended and had left something by then, unless `children` has them. */
  left(): readonly Child[];
  readonly isWatched: boolean;
  /** Whether they write to rt's own output, in its group. */
  readonly isInherited: boolean;
  onSignal(signal: NodeJS.Signals): void;
  /** Nothing more is to be started; called again at each further signal. */
  onBegin(): void;
  /** Everything is about to stand still, rt included. */
  onSuspend(): void;
  onResume(): void;
}

export class Shutdown {
  readonly #options: ShutdownOptions;
  readonly #removers: (() => void)[] = [];
  #stopped: Child[] = [];
  #killTimer: ReturnType<typeof setTimeout> | undefined;
  #interrupts = 0;
  #hasBegun = false;

  constructor(options: ShutdownOptions) {
    this.#options = options;
    for (const signal of host.heeded(FORWARDED)) {
      const listener = () => this.#interrupt(signal);
      process.on(signal, listener);
      this.#removers.push(() => process.off(signal, listener));
    }
    // The terminal stops rt's own group as a whole.
    if (options.isInherited) return;
    const stopSharing = trees.shareSuspension({
      children: () => [...new Set([...options.children(), ...this.#stopped])],
      onSuspend: () => options.onSuspend(),
      onResume: () => options.onResume(),
    });
    this.#removers.push(stopSharing);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  #interrupt(signal: StopSignal & NodeJS.Signals): void {
    this.#interrupts++;
    this.#options.onSignal(signal);
    const isImpatient = this.#interrupts > 1 && signal === "SIGINT";
    // The terminal has told a child that shares it; telling it again would look like a second Ctrl-C.
    const isToldAlready =
      signal === "SIGINT" &&
      this.#options.isInherited &&
      trees.terminalSignalsInherited &&
      host.isTerminal(0);
    this.begin(isImpatient ? "SIGKILL" : signal, isToldAlready && !isImpatient);
    this.#endLeft(isImpatient ? "SIGKILL" : signal);
  }

  /** What a shell has put into the background does not listen to Ctrl-C, and here the shell has ended. */
  #endLeft(signal: StopSignal): void {
    const left = trees.findLeft(this.#options.left().filter((child) => !this.#stopped.includes(child)));
    if (left.length === 0) return;
    this.#stopped.push(...left);
    trees.signalTrees(left, signal === "SIGINT" ? "SIGTERM" : signal);
  }

  /** Returns at once. */
  begin(signal: StopSignal, isToldAlready = false): void {
    this.#hasBegun = true;
    this.#options.onBegin();
    for (const child of this.#options.children())
      if (!this.#stopped.includes(child)) this.#stopped.push(child);
    if (!isToldAlready && this.#hasStopped) trees.signalTrees(this.#stopped, signal);
    this.#killTimer ??= setTimeout(() => trees.signalTrees(this.#stopped, "SIGKILL"), GRACE);
  }

  /** Waits until nothing is left of what had to be stopped. */
  async finish(): Promise<void> {
    // What a shell has put into the background does not listen to Ctrl-C.
    if (this.#options.isWatched) trees.signalTrees(this.#stopped, "SIGTERM");
    while (this.#hasStopped && trees.hasSurvivors(this.#stopped)) await Bun.sleep(LOOK_AGAIN_AFTER);
    clearTimeout(this.#killTimer);
  }

  /** A watched run may have left what nobody knows the script of. */
  get #hasStopped(): boolean {
    return this.#stopped.length > 0 || this.#options.isWatched;
  }

  /** From now on a signal is the system's affair again. */
  close(): void {
    for (const remove of this.#removers) remove();
  }
}

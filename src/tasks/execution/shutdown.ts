// Ends a run early: forwards signals to process trees, kills them after a grace period, and handles Ctrl-Z.
//
// Invariants:
// - INT, TERM and HUP are forwarded at once to the whole process tree of every child.
// - Survivors are killed after the grace period. An INT that follows any earlier signal kills them at once.
// - A signal also ends background processes of scripts that had ended before. Other ends of a run leave them: they
//   may be daemons.
// - Ctrl-Z stops all process trees, `fg` continues them.
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import type { Child, StopSignal } from "../../../platform/processes/contract/process-tree.ts";
import type { TaskOutcome } from "../task.ts";
import { GRACE_PERIOD } from "./watched-process-trees.ts";

const POLL_INTERVAL = 10; // ms
/** Time between two kills, in ms. Each reads the process table, so a held Ctrl-C would leave no time to see the processes end. */
const KILL_INTERVAL = 100;
/** The exit code of shells after SIGINT. */
const INTERRUPTED_CODE = 130;
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface ShutdownOptions {
  /** Running children; in watch mode also ended ones that left background processes. */
  children(): readonly Child[];
  /** Children of services that are ready, which end after the tasks that need them. A repeated interrupt kills them. */
  services(): readonly Child[];
  /** Ended children that left background processes and are not in `children`. */
  survivors(): readonly Child[];
  readonly isWatched: boolean;
  /** Whether the children inherit rt's stdio and process group. */
  readonly isInherited: boolean;
  onSignal(signal: NodeJS.Signals): void;
  /** No task may start any more. Called again at each further signal. */
  onBegin(): void;
  /** Called before all processes including rt are stopped. */
  onSuspend(): void;
  onResume(): void;
}

export class Shutdown {
  readonly #options: ShutdownOptions;
  readonly #removers: (() => void)[] = [];
  #stopped: Child[] = [];
  #killTimer: ReturnType<typeof setTimeout> | undefined;
  #interrupts = 0;
  #lastKill = -KILL_INTERVAL;
  /** The first signal that ended the run. */
  #signal: StopSignal | undefined;
  /** Set while a task has the terminal, which decides itself what Ctrl-C does. */
  #interaction: { isInterrupted: boolean } | undefined;
  #hasBegun = false;

  constructor(options: ShutdownOptions) {
    this.#options = options;
    for (const signal of host.handledSignals(FORWARDED)) {
      const listener = () => this.#interrupt(signal);
      process.on(signal, listener);
      this.#removers.push(() => process.off(signal, listener));
    }
    // The terminal stops rt's process group as a whole.
    if (options.isInherited) return;
    const stopSharing = trees.shareSuspension({
      children: () => [...new Set([...options.children(), ...options.services(), ...this.#stopped])],
      onSuspend: () => options.onSuspend(),
      onResume: () => options.onResume(),
    });
    this.#removers.push(stopSharing);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get signal(): StopSignal | undefined {
    return this.#signal;
  }

  /** An interactive task gets the terminal. */
  beginInteraction(): void {
    this.#interaction ??= { isInterrupted: false };
  }

  /** The interactive task has ended. If Ctrl-C has ended it, that ends the run as well. */
  endInteraction(outcome: TaskOutcome): void {
    const hadInterrupt = this.#interaction?.isInterrupted;
    this.#interaction = undefined;
    const hasEndedTask =
      (outcome.kind === "signal" && outcome.signal === "SIGINT") ||
      (outcome.kind === "failure" && outcome.code === INTERRUPTED_CODE);
    if (hadInterrupt && hasEndedTask) this.#interrupt("SIGINT");
  }

  #interrupt(signal: StopSignal & NodeJS.Signals): void {
    if (signal === "SIGINT" && !this.#hasBegun && this.#interaction && host.isTerminal(0)) {
      this.#interaction.isInterrupted = true;
      return;
    }
    this.#interrupts++;
    this.#signal ??= signal;
    this.#options.onSignal(signal);
    const isRepeatedInterrupt = this.#interrupts > 1 && signal === "SIGINT";
    if (isRepeatedInterrupt) {
      if (performance.now() - this.#lastKill < KILL_INTERVAL) return;
      this.#lastKill = performance.now();
    }
    // The terminal has sent the signal to a child in rt's process group already. A second one would look like a
    // second Ctrl-C.
    const isDelivered =
      signal === "SIGINT" &&
      this.#options.isInherited &&
      trees.terminalSignalsInherited &&
      host.isTerminal(0);
    this.begin(isRepeatedInterrupt ? "SIGKILL" : signal, isDelivered && !isRepeatedInterrupt);
    this.#endBackgroundProcesses(isRepeatedInterrupt ? "SIGKILL" : signal);
  }

  /**
   * Ends background processes of ended shells. Shells start background processes with SIGINT ignored, so they get
   * TERM.
   */
  #endBackgroundProcesses(signal: StopSignal): void {
    const survivors = trees.findSurvivingChildren(
      this.#options.survivors().filter((child) => !this.#stopped.includes(child)),
    );
    if (survivors.length === 0) return;
    this.#stopped.push(...survivors);
    trees.signalTrees(survivors, signal === "SIGINT" ? "SIGTERM" : signal);
  }

  /** Sends the signal and starts the grace period. Returns at once. */
  begin(signal: StopSignal, isDelivered = false): void {
    this.#hasBegun = true;
    this.#signal ??= signal;
    this.#options.onBegin();
    const services = signal === "SIGKILL" ? this.#options.services() : [];
    for (const child of [...this.#options.children(), ...services])
      if (!this.#stopped.includes(child)) this.#stopped.push(child);
    if (!isDelivered && this.#hasStopped) trees.signalTrees(this.#stopped, signal, this.#families);
    this.#killTimer ??= setTimeout(
      () => trees.signalTrees(this.#stopped, "SIGKILL", this.#families),
      GRACE_PERIOD,
    );
  }

  /** Waits until all process trees that had to end have ended. */
  async finish(): Promise<void> {
    // Background processes of a shell ignore SIGINT.
    if (this.#options.isWatched) trees.signalTrees(this.#stopped, "SIGTERM");
    while (this.#hasStopped && trees.hasSurvivors(this.#stopped, this.#families))
      await Bun.sleep(POLL_INTERVAL);
    clearTimeout(this.#killTimer);
  }

  /** The marker variables of the stopped children. In watch mode all orphans end. */
  get #families(): string[] | undefined {
    return this.#options.isWatched ? undefined : this.#stopped.flatMap(({ family }) => family ?? []);
  }

  /** In watch mode, processes may survive whose task is no longer recorded. */
  get #hasStopped(): boolean {
    return this.#stopped.length > 0 || this.#options.isWatched;
  }

  /** Restores the default handling of signals. */
  close(): void {
    for (const remove of this.#removers) remove();
  }
}

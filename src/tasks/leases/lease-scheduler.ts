// Decides which machine of a shared run executes a task, by leases with fencing tokens
// (src/distributed/coordinator.ts).
//
//   take --> cache lookup --hit--------------------------------------------------> restore
//                 | miss                       result of another machine -------> restore
//                 +--> waiting --a slot is free and the lease is acquired-------> run locally
//                         ^  |
//                         |  +--another machine has the lease: an event or its expiry wakes the queue
//                         +---------+
//
// Invariants:
// - While the coordinator is reachable, only the holder of the lease starts a shared task.
// - A task that is not shared, or whose result cannot be restored locally, runs on this machine too.
// - If another machine acquired the lease during the run, the local result is discarded and `take` is called again.
import { oneLine } from "../../printable.ts";
import type { RunCoordinator, Lease, PublishedResult } from "../../distributed/coordinator.ts";
import { ConcurrencyLimiter } from "../execution/concurrency-limiter.ts";
import type { CacheHit, CachedRun, LeasedPublication } from "../../cache/cached-script.ts";
import type { TaskOutcome, ScriptTask } from "../task.ts";

export interface LeaseSchedulerOptions {
  readonly coordinator: RunCoordinator;
  /** Concurrency limit of this machine. */
  readonly slots: number;
  /** By position; greater ranks start first. */
  readonly ranks: readonly number[];
  /** By position: whether other machines can restore the outputs. */
  readonly isShared: readonly boolean[];
  /** Prints a line for people. */
  printLine(line: string): void;
}

export interface LeaseOutcome {
  readonly cached: CachedRun | undefined;
  /** The machine that runs or ran the task; `other` is the same if it is another machine. */
  readonly machine: string;
  readonly other?: string;
  /** The run is being ended. */
  readonly isStopped?: boolean;
  /** The task failed on another machine. */
  readonly failure?: Pick<PublishedResult, "code" | "step"> & { readonly pieces: CacheHit["pieces"] };
  /** Frees the slot. Returns how to publish the outcome. */
  end(outcome: TaskOutcome): LeasedPublication | undefined;
  /** Ends the lease. Returns false if another machine has acquired it since. */
  finish(outcome: TaskOutcome, duration: number): Promise<boolean>;
}

type LocalStart =
  | { readonly kind: "run"; readonly claim?: Lease }
  | { readonly kind: "result"; readonly result: PublishedResult }
  | { readonly kind: "stopped" };

interface WaitingTask {
  readonly task: ScriptTask;
  /** The task is not shared, or the published result cannot be restored locally. */
  readonly isLocal: boolean;
  start(start: LocalStart): void;
  fail(error: unknown): void;
}

/** Concurrency limit of lookups and restores. */
const MAX_LOOKUPS = 4;
/** Milliseconds added to a lease's remaining time, so that it has expired when the timer fires. */
const EXPIRY_MARGIN = 20;

export class LeaseScheduler {
  readonly #options: LeaseSchedulerOptions;
  readonly #lookups = new ConcurrencyLimiter(MAX_LOOKUPS);
  readonly #counts = new Map<string, number>();
  readonly #durations = new Map<number, number>();
  #free: number;
  #waiting: WaitingTask[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isServing = false;
  #isRequested = false;
  #isStopped = false;
  #isLossReported = false;

  constructor(options: LeaseSchedulerOptions) {
    this.#options = options;
    this.#free = options.slots;
    options.coordinator.listen(() => this.#requestServe());
  }

  /**
   * Waits until the task may start locally or its result is available. @param open looks the task up in the cache
   */
  async take(task: ScriptTask, open: () => Promise<CachedRun | undefined>): Promise<LeaseOutcome> {
    const { coordinator, isShared, ranks } = this.#options;
    const { machine } = coordinator;
    const { index } = task;
    if (!isShared[index]) {
      const start = await this.#wait(task, true);
      return this.#begin(task, start.kind === "stopped" ? undefined : await open(), start);
    }
    const cached = await this.#lookups.run(ranks[index]!, open);
    if (cached?.hit)
      return this.#fromOtherMachine(cached, coordinator.results.get(index)?.machine ?? machine);
    for (let isLocal = !cached?.isShared; ; isLocal = true) {
      const start = await this.#wait(task, isLocal);
      if (start.kind !== "result" || !cached) return this.#begin(task, cached, start);
      const { claim, machine: other, kind, code, step } = start.result;
      if (kind === "failure") {
        const pieces = await this.#lookups.run(ranks[index]!, () => cached.readFailure(claim));
        if (!pieces) this.#printLine(`The output of ${task.label} on ${other} is unavailable`);
        return { ...this.#fromOtherMachine(cached, other), failure: { code, step, pieces: pieces ?? [] } };
      }
      if (kind === "success" && (await this.#lookups.run(ranks[index]!, () => cached.take(claim))))
        return this.#fromOtherMachine(cached, other);
      const why = kind === "success" ? cached.why : "that machine could not share its outputs";
      this.#printLine(`${task.label} ran on ${other} but runs again locally: ${why}`);
    }
  }

  #fromOtherMachine(cached: CachedRun, machine: string): LeaseOutcome {
    this.#count(machine);
    const other = machine !== this.#options.coordinator.machine && { other: machine };
    return { cached, machine, ...other, end: () => undefined, finish: async () => true };
  }

  #begin(task: ScriptTask, cached: CachedRun | undefined, start: LocalStart): LeaseOutcome {
    const { coordinator } = this.#options;
    const { machine } = coordinator;
    const claim = start.kind === "run" ? start.claim : undefined;
    const isStopped = start.kind === "stopped";
    let hasSlot = !isStopped;
    let counts: boolean | undefined;
    const freeSlot = () => {
      if (hasSlot) this.#free += 1;
      hasSlot = false;
      this.#requestServe();
    };
    const publish = async (outcome: TaskOutcome, isRestorable: boolean) => {
      const result = resultOf(outcome, task, isRestorable);
      // A machine that is being ended releases a task whose outputs it cannot share, so that another machine runs
      // it.
      const isReleased = this.#isStopped && result.kind === "unshared";
      if (isReleased) coordinator.release(claim!);
      return (counts = isReleased || (await coordinator.publish(claim!, result)));
    };
    return {
      cached,
      machine,
      isStopped,
      end: (outcome) => {
        freeSlot();
        return claim && { claim: claim.id, publish: (isRestorable) => publish(outcome, isRestorable) };
      },
      finish: async (outcome, duration) => {
        freeSlot();
        if (claim && outcome.kind === "stopped") coordinator.release(claim);
        else if (claim && counts === undefined) await publish(outcome, false);
        if (counts === false) return false;
        if (outcome.kind !== "stopped") this.#count(machine);
        if (outcome.kind === "success" && outcome.saved === undefined)
          this.#durations.set(task.index, duration);
        return true;
      },
    };
  }

  /** Durations of the tasks that ran locally, in milliseconds, by position. */
  get durations(): ReadonlyMap<number, number> {
    return this.#durations;
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  #count(machine: string): void {
    this.#counts.set(machine, (this.#counts.get(machine) ?? 0) + 1);
  }

  #printLine(line: string): void {
    this.#options.printLine(oneLine(line));
  }

  async #wait(task: ScriptTask, isLocal: boolean): Promise<LocalStart> {
    if (this.#isStopped) return { kind: "stopped" };
    const { promise, resolve, reject } = Promise.withResolvers<LocalStart>();
    this.#waiting.push({ task, isLocal, start: resolve, fail: reject });
    this.#requestServe();
    return await promise;
  }

  /** Deferred, so that the rank decides among tasks that arrive in the same turn. */
  #requestServe(): void {
    this.#isRequested = true;
    if (this.#isServing) return;
    this.#isServing = true;
    // oxlint-disable-next-line typescript/no-misused-promises -- it catches every error
    queueMicrotask(async () => {
      try {
        while (this.#isRequested) {
          this.#isRequested = false;
          await this.#assignSlots();
        }
      } catch (error) {
        for (const { fail } of this.#waiting.splice(0)) fail(error);
      } finally {
        this.#isServing = false;
      }
    });
  }

  async #assignSlots(): Promise<void> {
    const { coordinator, ranks } = this.#options;
    clearTimeout(this.#timer);
    for (;;) {
      this.#deliverResults();
      if (this.#isStopped || this.#free <= 0 || this.#waiting.length === 0) return;
      const queue = this.#waiting.toSorted((a, b) => ranks[b.task.index]! - ranks[a.task.index]!);
      const isLocal = (each: WaitingTask) => each.isLocal || coordinator.lost !== undefined;
      const local = queue.findIndex(isLocal);
      const claimable = local < 0 ? queue : queue.slice(0, local);
      if (claimable.length > 0) {
        const response = await coordinator
          .claim(claimable.map(({ task }) => task.index))
          .catch((error: unknown) => {
            if (coordinator.lost === undefined && !this.#isStopped) throw error;
          });
        if (this.#isStopped) return;
        if (!response || response.kind === "known") continue;
        if (response.kind === "claimed") {
          const { claim } = response;
          this.#start(
            claimable.find(({ task }) => task.index === claim.taskIndex)!,
            { kind: "run", claim },
          );
          continue;
        }
        if (local < 0) {
          this.#timer = setTimeout(() => this.#requestServe(), response.left + EXPIRY_MARGIN);
          return;
        }
      }
      this.#start(queue[local]!, { kind: "run" });
    }
  }

  /** Delivers published results, which need no slot. */
  #deliverResults(): void {
    const { coordinator } = this.#options;
    if (coordinator.lost !== undefined && !this.#isLossReported && !this.#isStopped) {
      this.#isLossReported = true;
      this.#printLine(
        `Lost the connection to the coordinator: ${coordinator.lost}; running the remaining scripts locally`,
      );
    }
    for (const each of this.#waiting.slice()) {
      const result = each.isLocal ? undefined : coordinator.results.get(each.task.index);
      if (result) this.#resolveWaiting(each, { kind: "result", result });
    }
  }

  #start(waiting: WaitingTask, start: LocalStart): void {
    this.#free -= 1;
    this.#resolveWaiting(waiting, start);
  }

  #resolveWaiting(waiting: WaitingTask, start: LocalStart): void {
    this.#waiting = this.#waiting.filter((each) => each !== waiting);
    waiting.start(start);
  }

  /** Starts nothing more on this machine. */
  stop(): void {
    this.#isStopped = true;
    this.#options.coordinator.hurry();
    clearTimeout(this.#timer);
    for (const { start } of this.#waiting.splice(0)) start({ kind: "stopped" });
  }
}

function resultOf(
  outcome: TaskOutcome,
  { steps }: ScriptTask,
  isRestorable: boolean,
): Omit<PublishedResult, "claim" | "machine"> {
  if (outcome.kind === "success") return { kind: isRestorable ? "success" : "unshared", code: 0, step: 0 };
  const step = "step" in outcome ? Math.max(0, steps.indexOf(outcome.step)) : 0;
  return { kind: "failure", code: codeOf(outcome), step };
}

/** Exit code as in a shell: another machine cannot be ended by this machine's signal. */
function codeOf(outcome: TaskOutcome): number {
  if (outcome.kind === "signal")
    return 128 + (process.getBuiltinModule("node:os").constants.signals[outcome.signal] ?? 0);
  return outcome.kind === "failure" || outcome.kind === "unstartable" ? outcome.code : 1;
}

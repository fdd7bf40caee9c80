// Whose turn a script is, where several machines carry out one plan: this machine's, another's, or each one's.
//
//   take --> looked up in the cache --hit--------------------------------------------------> put back
//                 | miss                                  another's result -----------------> put back
//                 +--> waiting --a place is free, and the script is claimed----------------> runs here
//                         ^  |
//                         |  +--another has claimed it: news, or the end of its lock, wakes
//                         +-----------------------------+
//
// Contract: what is shared is started by who has claimed it and by nobody else, as long as the others are heard of; what is
// not, or cannot be taken from others, runs on this machine too. A script that was claimed by somebody else while it ran
// here has not run: its turn is taken again. Nothing is asked in a loop: who waits is woken.
import { oneLine } from "../../printable.ts";
import type { RunCoordinator, Lease, PublishedResult } from "../../distributed/coordinator.ts";
import { ConcurrencyLimiter } from "../execution/concurrency-limiter.ts";
import type { CachedHit, CachedTask, TaskOutcome, Publication, ScriptTask } from "../task.ts";

export interface TurnsOptions {
  readonly board: RunCoordinator;
  /** How many scripts may run here at a time. */
  readonly places: number;
  /** By position: the greater, the sooner. */
  readonly ranks: readonly number[];
  /** By position: whether others can have what it makes. */
  readonly isShared: readonly boolean[];
  /** A line for people. */
  tell(line: string): void;
}

export interface LeaseOutcome {
  readonly cached: CachedTask | undefined;
  /** Who has run it, or runs it; and the same where that is another machine. */
  readonly machine: string;
  readonly other?: string;
  /** The run is being ended. */
  readonly isStopped?: boolean;
  /** It has failed elsewhere. */
  readonly failure?: Pick<PublishedResult, "code" | "step"> & { readonly pieces: CachedHit["pieces"] };
  /** It has ended here, and its place is free. What to tell the others. */
  end(outcome: TaskOutcome): Publication | undefined;
  /** Nothing more comes of it. False where another machine has claimed it meanwhile. */
  finish(outcome: TaskOutcome, duration: number): Promise<boolean>;
}

type LocalStart =
  | { readonly kind: "run"; readonly claim?: Lease }
  | { readonly kind: "result"; readonly result: PublishedResult }
  | { readonly kind: "stopped" };

interface WaitingTask {
  readonly task: ScriptTask;
  /** It is not for others, or their result is not for this machine. */
  readonly isLocal: boolean;
  start(start: LocalStart): void;
  fail(error: unknown): void;
}

/** Of looking up and putting back. */
const AT_A_TIME = 4;
/** Milliseconds: a lock that is about to end has not ended. */
const MARGIN = 20;

export class LeaseScheduler {
  readonly #options: TurnsOptions;
  readonly #lane = new ConcurrencyLimiter(AT_A_TIME);
  readonly #counts = new Map<string, number>();
  readonly #durations = new Map<number, number>();
  #free: number;
  #waiting: WaitingTask[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLooking = false;
  #isAsked = false;
  #isStopped = false;
  #isTold = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#free = options.places;
    options.board.listen(() => this.#look());
  }

  /** When a script may start here, or need not. @param open looks it up */
  async take(task: ScriptTask, open: () => Promise<CachedTask | undefined>): Promise<LeaseOutcome> {
    const { board, isShared, ranks } = this.#options;
    const { machine } = board;
    const { index } = task;
    if (!isShared[index]) {
      const start = await this.#wait(task, true);
      return this.#begin(task, start.kind === "stopped" ? undefined : await open(), start);
    }
    const cached = await this.#lane.run(ranks[index]!, open);
    if (cached?.hit) return this.#given(cached, board.results.get(index)?.machine ?? machine);
    for (let isLocal = !cached?.isShared; ; isLocal = true) {
      const start = await this.#wait(task, isLocal);
      if (start.kind !== "result" || !cached) return this.#begin(task, cached, start);
      const { claim, machine: other, kind, code, step } = start.result;
      if (kind === "failure") {
        const pieces = await this.#lane.run(ranks[index]!, () => cached.readFailure(claim));
        if (!pieces) this.#tell(`What ${task.label} wrote on ${other} is not to be had`);
        return { ...this.#given(cached, other), failure: { code, step, pieces: pieces ?? [] } };
      }
      if (kind === "success" && (await this.#lane.run(ranks[index]!, () => cached.take(claim))))
        return this.#given(cached, other);
      const why = kind === "success" ? cached.why : "that machine could not share what it made";
      this.#tell(`${task.label} ran on ${other}, and runs here as well: ${why}`);
    }
  }

  #given(cached: CachedTask, machine: string): LeaseOutcome {
    this.#count(machine);
    const other = machine !== this.#options.board.machine && { other: machine };
    return { cached, machine, ...other, end: () => undefined, finish: async () => true };
  }

  #begin(task: ScriptTask, cached: CachedTask | undefined, start: LocalStart): LeaseOutcome {
    const { board } = this.#options;
    const { machine } = board;
    const claim = start.kind === "run" ? start.claim : undefined;
    const isStopped = start.kind === "stopped";
    let isPlaced = !isStopped;
    let counts: boolean | undefined;
    const leave = () => {
      if (isPlaced) this.#free += 1;
      isPlaced = false;
      this.#look();
    };
    const publish = async (outcome: TaskOutcome, isThere: boolean) => {
      const result = resultOf(outcome, task, isThere);
      // Who is being ended leaves to the others what he cannot give them.
      const isLeft = this.#isStopped && result.kind === "unshared";
      if (isLeft) board.release(claim!);
      return (counts = isLeft || (await board.publish(claim!, result)));
    };
    return {
      cached,
      machine,
      isStopped,
      end: (outcome) => {
        leave();
        return claim && { claim: claim.id, publish: (isThere) => publish(outcome, isThere) };
      },
      finish: async (outcome, duration) => {
        leave();
        if (claim && outcome.kind === "stopped") board.release(claim);
        else if (claim && counts === undefined) await publish(outcome, false);
        if (counts === false) return false;
        if (outcome.kind !== "stopped") this.#count(machine);
        if (outcome.kind === "success" && outcome.saved === undefined)
          this.#durations.set(task.index, duration);
        return true;
      },
    };
  }

  /** Milliseconds of what has run here, by position. */
  get durations(): ReadonlyMap<number, number> {
    return this.#durations;
  }

  /** How many scripts were whose. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  #count(machine: string): void {
    this.#counts.set(machine, (this.#counts.get(machine) ?? 0) + 1);
  }

  #tell(line: string): void {
    this.#options.tell(oneLine(line));
  }

  async #wait(task: ScriptTask, isLocal: boolean): Promise<LocalStart> {
    if (this.#isStopped) return { kind: "stopped" };
    const { promise, resolve, reject } = Promise.withResolvers<LocalStart>();
    this.#waiting.push({ task, isLocal, start: resolve, fail: reject });
    this.#look();
    return await promise;
  }

  /** Not now: of several that come at once the first is no better than the others. */
  #look(): void {
    this.#isAsked = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    queueMicrotask(async () => {
      try {
        while (this.#isAsked) {
          this.#isAsked = false;
          await this.#serve();
        }
      } catch (error) {
        for (const { fail } of this.#waiting.splice(0)) fail(error);
      } finally {
        this.#isLooking = false;
      }
    });
  }

  async #serve(): Promise<void> {
    const { board, ranks } = this.#options;
    clearTimeout(this.#timer);
    for (;;) {
      this.#settle();
      if (this.#isStopped || this.#free <= 0 || this.#waiting.length === 0) return;
      const queue = this.#waiting.toSorted((a, b) => ranks[b.task.index]! - ranks[a.task.index]!);
      const isLocal = (each: WaitingTask) => each.isLocal || board.lost !== undefined;
      const local = queue.findIndex(isLocal);
      const claimable = local < 0 ? queue : queue.slice(0, local);
      if (claimable.length > 0) {
        const answer = await board.claim(claimable.map(({ task }) => task.index)).catch((error: unknown) => {
          if (board.lost === undefined && !this.#isStopped) throw error;
        });
        if (this.#isStopped) return;
        if (!answer || answer.kind === "known") continue;
        if (answer.kind === "claimed") {
          const { claim } = answer;
          this.#start(
            claimable.find(({ task }) => task.index === claim.taskIndex)!,
            { kind: "run", claim },
          );
          continue;
        }
        if (local < 0) {
          this.#timer = setTimeout(() => this.#look(), answer.left + MARGIN);
          return;
        }
      }
      this.#start(queue[local]!, { kind: "run" });
    }
  }

  /** What others have done need not wait for a place. */
  #settle(): void {
    const { board } = this.#options;
    if (board.lost !== undefined && !this.#isTold && !this.#isStopped) {
      this.#isTold = true;
      this.#tell(`The other machines are lost: ${board.lost}; this one runs what is left by itself`);
    }
    for (const each of this.#waiting.slice()) {
      const result = each.isLocal ? undefined : board.results.get(each.task.index);
      if (result) this.#leave(each, { kind: "result", result });
    }
  }

  #start(waiting: WaitingTask, start: LocalStart): void {
    this.#free -= 1;
    this.#leave(waiting, start);
  }

  #leave(waiting: WaitingTask, start: LocalStart): void {
    this.#waiting = this.#waiting.filter((each) => each !== waiting);
    waiting.start(start);
  }

  /** Nothing more is to begin here. */
  stop(): void {
    this.#isStopped = true;
    this.#options.board.hurry();
    clearTimeout(this.#timer);
    for (const { start } of this.#waiting.splice(0)) start({ kind: "stopped" });
  }
}

function resultOf(
  outcome: TaskOutcome,
  { steps }: ScriptTask,
  isThere: boolean,
): Omit<PublishedResult, "claim" | "machine"> {
  if (outcome.kind === "success") return { kind: isThere ? "success" : "unshared", code: 0, step: 0 };
  const step = "step" in outcome ? Math.max(0, steps.indexOf(outcome.step)) : 0;
  return { kind: "failure", code: codeOf(outcome), step };
}

/** As a shell has it: another machine cannot die of this one's signal. */
function codeOf(outcome: TaskOutcome): number {
  if (outcome.kind === "signal")
    return 128 + (process.getBuiltinModule("node:os").constants.signals[outcome.signal] ?? 0);
  return outcome.kind === "failure" || outcome.kind === "unstartable" ? outcome.code : 1;
}

// A cached script that runs: its steps are started, one after the other, and followed where that is possible; what they write is
// kept for later.
//
// Contract: what cannot be followed runs all the same, and `refusal` tells why. From the first step on others are told that the
// script runs, until `leave`.
import { errorCode } from "../../../platform/caught-error.ts";
import {
  NoThreadError,
  type Trace,
  type Tracer,
  type TracingOperations,
} from "../../../platform/tracing/contract/tracing.ts";
import type { Child } from "../../../platform/processes/contract/process-tree.ts";
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import { OutputLog } from "../entry/output-log.ts";
import type { ConcurrentRunDetector } from "../restore/concurrent-run-detector.ts";
import type { CachedScript, StepRequest } from "../cached-script.ts";

const FORBIDDEN: readonly unknown[] = ["EACCES", "EPERM", "ENOENT"];

export class TracedScript {
  readonly log = new OutputLog();
  /** Of each step, what it gets. */
  readonly environments: readonly Readonly<Record<string, string>>[];
  /** Undefined as long as all of it is followed. */
  refusal: "refused" | "unlaunched" | undefined;
  readonly #steps: CachedScript["steps"];
  /** Absent where inputs are declared. */
  readonly #tracing: TracingOperations | undefined;
  readonly #announce: () => ConcurrentRunDetector;
  #tracer: Tracer | undefined;
  #detector: ConcurrentRunDetector | undefined;
  /** When its first step did. */
  #started: number | undefined;

  constructor(
    steps: CachedScript["steps"],
    environments: readonly Readonly<Record<string, string>>[],
    tracing: TracingOperations | undefined,
    announce: () => ConcurrentRunDetector,
  ) {
    this.#steps = steps;
    this.environments = environments;
    this.#tracing = tracing;
    this.#announce = announce;
  }

  /** Milliseconds; 0 where nothing has started. */
  get elapsed(): number {
    return this.#started === undefined ? 0 : performance.now() - this.#started;
  }

  start(step: number, request: StepRequest): Child & { readonly isTraced: Promise<boolean> } {
    this.#detector ??= this.#announce();
    this.#started ??= performance.now();
    try {
      return this.#startStep(step, request);
    } catch (error) {
      this.#detector.release();
      throw error;
    }
  }

  #startStep(step: number, request: StepRequest): Child & { readonly isTraced: Promise<boolean> } {
    const { program, argv } = this.#steps[step]!;
    const wanted = { ...request, program, argv, env: this.environments[step]! };
    const plain = () => ({
      ...trees.startChild({ ...wanted, inheritStdin: false }),
      isTraced: Promise.resolve(true),
    });
    if (!this.#tracing) return plain();
    try {
      this.#tracer ??= this.#tracing.openTracer({
        program: process.execPath,
        keepsCalls: host.originalVariable("RT_DEBUG") === "trace",
      });
      const child = this.#tracer.start(wanted);
      void child.isTraced.then((isTraced) => (this.refusal ??= isTraced ? undefined : "refused"));
      return child;
    } catch (error) {
      const isForbidden = FORBIDDEN.includes(errorCode(error));
      if (this.#tracer && !isForbidden && !(error instanceof NoThreadError)) throw error;
      // No thread is to be had, or no launcher: it starts as any other.
      this.refusal ??= isForbidden ? "unlaunched" : "refused";
      return plain();
    }
  }

  /** All that was seen; undefined where nothing was followed. */
  async finish(): Promise<Trace | undefined> {
    return await this.#tracer?.finish();
  }

  /** Throws Unkept where another run of the script came between. */
  requireNoConcurrentRun(): void {
    this.#detector?.requireNoConcurrentRun();
  }

  release(): void {
    this.#detector?.release();
  }
}

// Starts the steps of a cached script under the tracer, and records their output.
//
// Invariants:
// - A script that cannot be traced runs untraced; `refusal` has the reason.
// - From the first step until `release`, other processes can detect the run.
import { errorCode } from "../../../platform/caught-error.ts";
import { NoThreadError, type Trace, type Tracer } from "../../../platform/tracing/contract/tracing.ts";
import { loadTracing } from "../../../platform/tracing/tracing.ts";
import type { Child } from "../../../platform/processes/contract/process-tree.ts";
import { host } from "../../../platform/processes/process.ts";
import { trees } from "../../../platform/processes/process-tree.ts";
import { OutputLog } from "../entry/output-log.ts";
import type { ConcurrentRunDetector } from "../restore/concurrent-run-detector.ts";
import type { CachedScript, StepRequest } from "../cached-script.ts";

const FORBIDDEN: readonly unknown[] = ["EACCES", "EPERM", "ENOENT"];

export class TracedScript {
  readonly log = new OutputLog();
  /** The variables of each step. */
  readonly environments: readonly Readonly<Record<string, string>>[];
  /** Undefined if every step was traced. */
  refusal: "refused" | "unlaunched" | undefined;
  readonly #script: Pick<CachedScript, "steps" | "review">;
  /** False if inputs are declared. */
  readonly #isTraced: boolean;
  readonly #announce: () => ConcurrentRunDetector;
  #tracer: Tracer | undefined;
  #detector: ConcurrentRunDetector | undefined;
  /** Start time of the first step. */
  #started: number | undefined;

  /** The permissions of the last step that has some. */
  #permissions: StepRequest["permissions"];

  constructor(
    script: Pick<CachedScript, "steps" | "review">,
    environments: readonly Readonly<Record<string, string>>[],
    isTraced: boolean,
    announce: () => ConcurrentRunDetector,
  ) {
    this.#script = script;
    this.environments = environments;
    this.#isTraced = isTraced;
    this.#announce = announce;
  }

  /** Milliseconds; 0 before the first step. */
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
    const { steps, review } = this.#script;
    const { program, argv } = steps[step]!;
    this.#permissions = request.permissions;
    const wanted = { ...request, program, argv, env: this.environments[step]! };
    const plain = () => ({
      ...trees.startChild({ ...wanted, inheritStdin: false }),
      isTraced: Promise.resolve(true),
    });
    if (!this.#isTraced) return plain();
    try {
      this.#tracer ??= loadTracing().openTracer({
        program: process.execPath,
        keepsCalls: host.originalVariable("RT_DEBUG") === "trace",
        namesProcesses: review !== undefined,
      });
      const child = this.#tracer.start(wanted);
      void child.isTraced.then((isTraced) => (this.refusal ??= isTraced ? undefined : "refused"));
      return child;
    } catch (error) {
      const isForbidden = FORBIDDEN.includes(errorCode(error));
      if (review || (this.#tracer && !isForbidden && !(error instanceof NoThreadError))) throw error;
      // The tracer has no thread or cannot start its launcher: the step starts untraced.
      this.refusal ??= isForbidden ? "unlaunched" : "refused";
      return plain();
    }
  }

  /** Returns the trace; undefined if no step was traced. Passes refused files on if the run is reviewed. */
  async finish(): Promise<Trace | undefined> {
    const trace = await this.#tracer?.finish();
    const { rules, onRefusal } = this.#permissions ?? {};
    if (trace && rules)
      for (const need of this.#script.review?.findNeeds(trace, rules) ?? []) onRefusal!(need);
    return trace;
  }

  /** @throws NotCacheableError if another process ran or restored the script */
  requireNoConcurrentRun(): void {
    this.#detector?.requireNoConcurrentRun();
  }

  release(): void {
    this.#detector?.release();
  }
}

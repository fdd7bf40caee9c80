// Looks tasks up in the cache, and decides where a cache miss runs.
import type { CachedRun } from "../../cache/cached-script.ts";
import { describeCacheReason, labelOf } from "../labels.ts";
import type { LeaseOutcome } from "../leases/lease-scheduler.ts";
import type { ScriptTask } from "../task.ts";
import type { ExecutorOptions } from "./executor.ts";
import { choosePlacement, type Placement } from "./placement.ts";
import type { RunControl } from "./schedule.ts";

export interface CacheLookup {
  /** Absent for a task that is not cached. */
  readonly cached: CachedRun | undefined;
  /** Absent without a remote server. */
  readonly where?: Placement | undefined;
}

type LookupOptions = Pick<ExecutorOptions, "request" | "remote" | "extraEnvironment" | "emit">;

export class CacheLookups {
  readonly #options: LookupOptions;

  constructor(options: LookupOptions) {
    this.#options = options;
  }

  /** Returns "needs services" for a cache miss whose services do not run yet. */
  async lookUp(
    task: ScriptTask,
    lease: LeaseOutcome | undefined,
    { hasServices }: RunControl,
  ): Promise<CacheLookup | "needs services"> {
    const { emit, remote, request } = this.#options;
    const eligibility = remote && request.remote!.eligibilityOf(task);
    if (eligibility && (eligibility.isCached || choosePlacement(eligibility).place === "here"))
      await remote.downloadOutputs(task);
    const cached = lease ? lease.cached : await this.open(task);
    const isHit = cached?.hit !== undefined;
    if (!isHit && !hasServices) {
      await this.close(cached, "stopped");
      return "needs services";
    }
    if (cached && request.cache?.isExplained)
      void emit({ type: "remark", line: `${labelOf(task)}: ${describeCacheReason(isHit, cached.why)}` });
    return {
      cached,
      where: eligibility && choosePlacement(eligibility, cached && { isHit, why: cached.why }),
    };
  }

  /** Looks the task up, and prepares the recording of its run. */
  async open(task: ScriptTask): Promise<CachedRun | undefined> {
    const { request, extraEnvironment, emit } = this.#options;
    const opened = await request.cache?.open(task, extraEnvironment);
    if (!opened || !("notice" in opened)) return opened;
    void emit({ type: "notice", message: opened.notice });
    return undefined;
  }

  /** Stores the result after the outcome "success", or drops the recording. */
  async close(cached: CachedRun | undefined, ...how: Parameters<CachedRun["close"]>): Promise<void> {
    for (const message of (await cached?.close(...how)) ?? [])
      void this.#options.emit({ type: "notice", message });
  }
}

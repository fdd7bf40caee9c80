// Why a run that ended well is not kept, thrown by whoever finds out.
import type { UncacheableReason } from "./uncacheable-reasons.ts";
import type { CacheEntry } from "./entry.ts";

/** Not kept, because of this. */
export class NotCacheableError extends Error {
  readonly why: UncacheableReason;
  readonly detail: string;

  constructor(why: UncacheableReason, detail: string) {
    super(detail);
    this.why = why;
    this.detail = detail;
  }
}

/** It has changed what it had read. */
export class ModifiedInputError extends NotCacheableError {
  /** Absolute; at least one. */
  readonly paths: readonly string[];
  /** What else it did. */
  readonly draft: Pick<CacheEntry, "conditions" | "outputs">;

  constructor(paths: readonly string[], draft: ModifiedInputError["draft"]) {
    const [first] = paths;
    super("rewritten", paths.length > 1 ? `${first}, and ${paths.length - 1} more` : first!);
    this.paths = paths;
    this.draft = draft;
  }
}

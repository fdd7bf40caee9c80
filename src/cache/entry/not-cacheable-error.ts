// Errors that prevent the storing of a successful run.
import type { UncacheableReason } from "./uncacheable-reasons.ts";
import type { CacheEntry } from "./entry.ts";

export class NotCacheableError extends Error {
  readonly why: UncacheableReason;
  readonly detail: string;

  constructor(why: UncacheableReason, detail: string) {
    super(detail);
    this.why = why;
    this.detail = detail;
  }
}

/** The script changed a file that it had read. */
export class ModifiedInputError extends NotCacheableError {
  /** Absolute; at least one. */
  readonly paths: readonly string[];
  /** The other dependencies and outputs of the run. */
  readonly draft: Pick<CacheEntry, "conditions" | "outputs">;

  constructor(paths: readonly string[], draft: ModifiedInputError["draft"]) {
    const [first] = paths;
    super("rewritten", paths.length > 1 ? `${first}, and ${paths.length - 1} more` : first!);
    this.paths = paths;
    this.draft = draft;
  }
}

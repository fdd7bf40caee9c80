// Why a run that ended well is not kept, thrown by whoever finds out.
import type { Cause } from "./doubts.ts";
import type { Entry } from "./entry.ts";

/** Not kept, because of this. */
export class Unkept extends Error {
  readonly why: Cause;
  readonly detail: string;

  constructor(why: Cause, detail: string) {
    super(detail);
    this.why = why;
    this.detail = detail;
  }
}

/** It has changed what it had read. */
export class Rewritten extends Unkept {
  /** Absolute; at least one. */
  readonly paths: readonly string[];
  /** What else it did. */
  readonly recorded: Pick<Entry, "conditions" | "outputs">;

  constructor(paths: readonly string[], recorded: Rewritten["recorded"]) {
    const [first] = paths;
    super("rewritten", paths.length > 1 ? `${first}, and ${paths.length - 1} more` : first!);
    this.paths = paths;
    this.recorded = recorded;
  }
}

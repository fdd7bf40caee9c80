// Declares the restrictions of a step, which src/tasks passes on to the process that it starts.
import type { ChildPermissions, RefusedCall } from "../../platform/permissions/contract/permissions.ts";

export interface StepPermissions extends Pick<ChildPermissions, "rules" | "variables"> {
  /** Returns a sentence for people; undefined if it was explained before. */
  explain(refusal: RefusedCall): string | undefined;
  /** A sentence for people after the step has failed. */
  readonly failure: string;
  /** Equal for equal permissions on every machine; part of the cache key. */
  readonly digest: string;
}

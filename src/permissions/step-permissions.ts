// Declares the restrictions of a step, which src/tasks passes on to the process that it starts.
import type {
  ChildPermissions,
  PermissionReview,
  RefusedCall,
} from "../../platform/permissions/contract/permissions.ts";
import type { Child, ChildRequest } from "../../platform/processes/contract/process-tree.ts";

export interface StepPermissions extends Pick<ChildPermissions, "rules" | "variables"> {
  /** Returns undefined if the same refusal was explained before. */
  explain(refusal: RefusedCall): ExplainedRefusal | undefined;
  /** Starts a step that is traced, instead of a plain start. */
  readonly start?: ((request: ChildRequest) => Child) | undefined;
  /** Set if a cached run is reviewed. */
  readonly review?: PermissionReview | undefined;
  /** A sentence for people after the step has failed; undefined for a step without limits. */
  readonly failure: string | undefined;
  /** A sentence if the step fails because of a refusal although its program succeeds. */
  readonly lockedFailure: string | undefined;
  /** Equal for equal permissions on every machine; part of the cache key. */
  readonly digest: string;
}

export interface ExplainedRefusal extends RefusedCall {
  readonly message: string;
  /** The line of rtfig.toml that allows it, without its section; undefined if none does. */
  readonly allow?: string | undefined;
}

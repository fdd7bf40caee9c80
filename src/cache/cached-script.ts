// Declares the interface between the cache and the code that runs scripts.
import type { PermissionReview } from "../../platform/permissions/contract/permissions.ts";
import type { Child, ChildRequest } from "../../platform/processes/contract/process-tree.ts";
import type { OutputChunk } from "./entry/output-log.ts";
import type { HitEvidence } from "./memo/path-observations.ts";

export interface CachedScript {
  /** For messages. */
  readonly label: string;
  readonly packageName: string;
  readonly packageDirectory: string;
  readonly scriptName: string;
  readonly steps: readonly {
    readonly event: string;
    readonly program: string;
    readonly argv: readonly string[];
    readonly env: Readonly<Record<string, string | undefined>>;
  }[];
  /** Variables that the user passed explicitly. */
  readonly named: readonly string[];
  /** Identifies its permissions; undefined without. */
  readonly permissions?: string | undefined;
  /** Set if a run with refusals must not be stored. Such a script runs under the tracer only. */
  readonly review?: PermissionReview | undefined;
}

export interface CacheHit {
  readonly pieces: readonly OutputChunk[];
  /** Milliseconds of the recorded run. */
  readonly saved: number;
  readonly restored: number;
}

/** Recorded inputs of a script's last run. Paths are absolute. */
export interface RecordedInputs {
  /** Directories in which a change may matter, without their subdirectories. */
  readonly directories: Iterable<string>;
  /** Whether a change of the path may cause a cache miss. */
  has(path: string): boolean;
  /** Whether the script depends on the path itself, and did not only list its directory. */
  hasRead(path: string): boolean;
  /** Whether the path is an output, or ignored: it never restarts the script. */
  isOwn(path: string): boolean;
  differs(path: string): Promise<boolean>;
  /** The first path that differs. */
  findChanged(): Promise<string | undefined>;
  /** Equal for two runs with the same dependencies and outputs. */
  readonly print: string;
}

/** The inputs and outputs of a script's last run, from its cache entry. Paths are absolute. */
export interface InputRecord {
  /** Whether everything that it has read is in the same state now. */
  readonly isValid: boolean;
  /**
   * Whether a change of the path may change the script's result.
   * @param isListed whether the path exists only before or only after the change
   */
  isAffectedBy(path: string, isListed: boolean): boolean;
  /** Existing files and directories of the project that it has read. */
  readonly read: readonly string[];
  readonly outputs: readonly string[];
}

export type StepRequest = Omit<ChildRequest, "inheritStdin" | "descriptors" | "program" | "argv" | "env">;

/** Publishes a result to the machines of a shared run, under a lease. */
export interface LeasedPublication {
  readonly claim: string;
  /**
   * Returns false if another machine holds a newer lease.
   *
   * @param isThere whether the shared cache has the outputs
   */
  publish(isThere: boolean): Promise<boolean>;
}

export interface CachedRun {
  /** Cache miss reason, or description of the hit. */
  readonly why: string;
  readonly hit: CacheHit | undefined;
  /** Evidence of the hit; undefined if paths do not prove it, or no run memo will be written. */
  readonly basis: HitEvidence | undefined;
  start(step: number, request: StepRequest): Child & { readonly isTraced: Promise<boolean> };
  /** Records output after redaction. */
  keepOutput(step: number, bytes: Uint8Array, isError: boolean): void;
  /** Returns the environment of a step, for an untraced start. */
  environmentOf(step: number): Readonly<Record<string, string>>;
  /** Recorded inputs of the hit; after `close` of the new entry. */
  readonly inputs: RecordedInputs | undefined;
  /** After `close`: an input outside the project that changed during the run. */
  readonly outdatedBy: string | undefined;
  /** After `close`: whether `--verify-inputs` found undeclared accesses. */
  readonly isFaulty: boolean;
  /** Returns lines for the user. The entry is stored only after the outcome "success". */
  close(outcome: string, publication?: LeasedPublication): Promise<readonly string[]>;
  readonly isShared: boolean;
  /**
   * Restores the outputs that another machine published under a lease. Returns false and sets `why` if they are not
   * valid here.
   */
  take(claim: string): Promise<boolean>;
  /** Returns the output of a failed run under a lease; undefined if it is unavailable. */
  readFailure(claim: string): Promise<readonly OutputChunk[] | undefined>;
}

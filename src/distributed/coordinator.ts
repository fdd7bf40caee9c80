// Interface to the coordinator of a shared run, which stores leases and results.
//
// Invariants:
// - A task is leased to one machine at a time. Each lease has an increasing number (fencing token).
// - A task has one result: the first that is published while no newer lease exists. An outdated lease cannot
//   publish.
// - Tasks are identified by their position in the plan. `join` verifies that all machines have the same plan.

export interface Lease {
  readonly taskIndex: number;
  /** `<fencing token>-<owner>`, unique over all machines and runs. */
  readonly id: string;
}

/** A task's result for all machines. */
export interface PublishedResult {
  readonly claim: string;
  /** The machine that ran it. */
  readonly machine: string;
  /** "unshared": it succeeded, but its outputs are available on that machine only. */
  readonly kind: "success" | "failure" | "unshared";
  /** The exit code of a failure, and the position of its step. */
  readonly code: number;
  readonly step: number;
}

export type LeaseResponse =
  | { readonly kind: "claimed"; readonly claim: Lease }
  /** All tasks are leased by others; `left` is the shortest remaining lease time in milliseconds. */
  | { readonly kind: "held"; readonly left: number }
  /** The result of one of them is known. */
  | { readonly kind: "known" };

export interface RunCoordinator {
  readonly machine: string;
  /** Results by position, including this machine's. */
  readonly results: ReadonlyMap<number, PublishedResult>;
  /** Why the coordinator cannot be reached any more: a clause for people. */
  readonly lost: string | undefined;
  /** Acquires a lease of the first free task. Rejects only if `lost` is set. */
  claim(scripts: readonly number[]): Promise<LeaseResponse>;
  /** Whether the lease is still valid, as far as this machine has been notified. */
  isHeld(claim: Lease): boolean;
  /**
   * Publishes a result. Returns false if another machine has acquired a newer lease since (higher fencing token).
   * Returns true without publishing if the coordinator is unreachable.
   */
  publish(claim: Lease, result: Omit<PublishedResult, "claim" | "machine">): Promise<boolean>;
  /** Releases the lease, so that another machine can acquire it at once. Does not wait for the server. */
  release(claim: Lease): void;
  /** Registers a callback for new results, released leases and the loss of the connection. */
  listen(onNews: () => void): void;
  /** Durations of earlier runs in milliseconds, by script name. */
  readonly times: ReadonlyMap<string, number>;
  /** Stores durations for later runs. */
  keepTimes(times: ReadonlyMap<string, number>): void;
  /** Shortens timeouts, because the run is being ended. */
  hurry(): void;
  /** Releases all leases. Ends soon, even if the server does not respond. */
  close(): Promise<void>;
}

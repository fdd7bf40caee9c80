// What the machines of one run tell each other: which script is whose, and how it ended. The rest of rt knows no more of it.
//
// Contract: a script is one machine's at a time, by a claim with a number that grows (its fence). Of a script there is
// one result, the first that somebody publishes while nobody has claimed the script after him; a claim that another has
// followed publishes nothing. Scripts are known by their positions in the plan, which is the same for all: `join` sees to it.

export interface Lease {
  readonly taskIndex: number;
  /** `<fence>-<whose>`: nobody else's, of no other run. */
  readonly id: string;
}

/** How a script ended, for all machines. */
export interface PublishedResult {
  readonly claim: string;
  /** Who ran it. */
  readonly machine: string;
  /** "unshared": well, and what it made is on that machine alone. */
  readonly kind: "success" | "failure" | "unshared";
  /** Of a failure: the exit code, and the position of the step. */
  readonly code: number;
  readonly step: number;
}

export type LeaseResponse =
  | { readonly kind: "claimed"; readonly claim: Lease }
  /** They are all others', for so many milliseconds at least one of them. */
  | { readonly kind: "held"; readonly left: number }
  /** Something was heard of one of them. */
  | { readonly kind: "known" };

export interface RunCoordinator {
  /** What this machine is called. */
  readonly machine: string;
  /** By the positions of scripts: what is known, of this machine's own too. */
  readonly results: ReadonlyMap<number, PublishedResult>;
  /** Why nothing is to be heard from the others any more: a clause, for people. */
  readonly lost: string | undefined;
  /** Takes the first of these that is free. Rejects only when `lost`. */
  claim(scripts: readonly number[]): Promise<LeaseResponse>;
  /** Whether a claim is still the last one, as far as this machine has heard. */
  isHeld(claim: Lease): boolean;
  /**
   * Whether it counts: false when somebody has claimed the script since. Where the others are lost it counts here.
   */
  publish(claim: Lease, result: Omit<PublishedResult, "claim" | "machine">): Promise<boolean>;
  /** Another may have it at once. Nobody has to wait for that. */
  release(claim: Lease): void;
  /** Calls back when there is a result, when something may be free, and when the others are lost. */
  listen(onNews: () => void): void;
  /** Milliseconds that scripts took in earlier runs, by their names. */
  readonly times: ReadonlyMap<string, number>;
  /** For the runs to come. */
  keepTimes(times: ReadonlyMap<string, number>): void;
  /** The run is being ended: what is not answered soon is not waited for. */
  hurry(): void;
  /** Gives back what is still held. Ends soon, however the server is. */
  close(): Promise<void>;
}

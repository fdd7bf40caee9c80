// The words of this folder for who runs scripts: what it is told of one, and what it answers.
import type { Child, ChildRequest } from "../../platform/processes/contract/process-tree.ts";
import type { RecordedInputFiles } from "./tracing/recorded-inputs.ts";
import type { OutputChunk } from "./entry/output-log.ts";
import type { HitEvidence } from "./memo/path-observations.ts";

/** A script with all its steps, as it would be started. */
export interface CachedScript {
  /** For people. */
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
  /** Variables that it is given because whoever started it has named them. */
  readonly named: readonly string[];
}

export interface Hit {
  readonly pieces: readonly OutputChunk[];
  /** Milliseconds that the script took then. */
  readonly saved: number;
  readonly restored: number;
}

export type StepRequest = Omit<ChildRequest, "inheritStdin" | "descriptors" | "program" | "argv" | "env">;

/** The machines of one run share what this makes, under a claim of one of them. */
export interface LeasedPublication {
  readonly claim: string;
  /**
   * Whether it counts: not if another machine has claimed the script since.
   *
   * @param isThere whether the others can have what was made
   */
  publish(isThere: boolean): Promise<boolean>;
}

export interface CachedRun {
  /** Why it has to run, or by what it was found; for people. */
  readonly why: string;
  readonly hit: Hit | undefined;
  /** By what the hit would be one again; undefined where that cannot be told by paths, or nobody wants to know. */
  readonly basis: HitEvidence | undefined;
  /** Starts a step, followed. */
  start(step: number, request: StepRequest): Child & { readonly isTraced: Promise<boolean> };
  /** What it has written, as it is shown: the values of secrets are out of it. */
  keepOutput(step: number, bytes: Uint8Array, isError: boolean): void;
  /** The same where it could not be followed. */
  environmentOf(step: number): Readonly<Record<string, string>>;
  /** What it depended on: of a hit, and after `close` of what is kept. */
  readonly inputs: RecordedInputFiles | undefined;
  /** After `close`: a file that it has read and that was changed while it ran; what it made is of no use. */
  readonly outdatedBy: string | undefined;
  /** After `close`: whether it reads more than is declared, where that was asked. */
  readonly isFaulty: boolean;
  /** Lines for people. What does not count is not kept. */
  close(outcome: string, publication?: LeasedPublication): Promise<readonly string[]>;
  /** Whether other machines can have what it makes. */
  readonly isShared: boolean;
  /** Puts in place what was made under a claim; false, with `why`, where that is not what it would make here. */
  take(claim: string): Promise<boolean>;
  /** What it wrote when it failed under a claim; undefined where that is not to be had. */
  readFailure(claim: string): Promise<readonly OutputChunk[] | undefined>;
}

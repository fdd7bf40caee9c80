// Where a task is carried out (by nobody, since what it did is kept; on another machine; here), and what a run needs of who
// carries out the second kind: src/remote-execution, which this folder knows by these types alone.
//
// Contract: one decision, pure, of which `--dry-run` and the run itself ask the same.
import type { CacheReason, ScriptTask } from "../task.ts";

/** What speaks for another machine, and what against it. */
export interface RemoteEligibility {
  /** Its address. */
  readonly server: string;
  /** Whether the command line asks for it. */
  readonly isAsked: boolean;
  /** What rtfig.toml says of this script; undefined where it says nothing. */
  readonly isDeclared: boolean | undefined;
  /** Whether something may be kept here of earlier runs of it. */
  readonly isCached: boolean;
  /** Why it has to stay here, for people. */
  readonly obstacle?: string | undefined;
}

export interface Placement {
  readonly place: "here" | "cache" | "remote";
  /** For people. */
  readonly why: string;
  /** The address of the other machine's server. */
  readonly server?: string;
  /** What that machine is called, once it is known. */
  readonly machine?: string;
}

/** @param cached what is known of an earlier run of it, where it is cached here */
export function choosePlacement(offer: RemoteEligibility, cached?: CacheReason): Placement {
  if (cached?.isHit) return { place: "cache", why: cached.why };
  const { server, isAsked, isDeclared, obstacle } = offer;
  if (isDeclared === false) return { place: "here", why: "rtfig.toml keeps it here" };
  if (!isAsked && !isDeclared) return { place: "here", why: "nothing sends it elsewhere" };
  if (obstacle !== undefined) return { place: "here", why: obstacle };
  return {
    place: "remote",
    server,
    why: isAsked ? "--remote asks for it" : "rtfig.toml asks for it",
  };
}

/** What would be sent, without asking the server. */
export interface RemotePreview {
  readonly files: number;
  /** Of the files. */
  readonly bytes: number;
  /** Those of which it gets what they make, which is not known before they have run. */
  readonly after: readonly ScriptTask[];
  readonly outputs: readonly string[];
  readonly variables: readonly string[];
  /** As `hash/size`; absent where `after` is not empty. */
  readonly action?: string;
}

/** How a task ended elsewhere. */
export interface RemoteResult {
  readonly code: number;
  /** Of each step that ran, in order. */
  readonly logs: readonly { readonly stdout: Uint8Array; readonly stderr: Uint8Array }[];
  readonly machine: string | undefined;
  /** Where nothing ran, since the server knew: how long it had taken, in milliseconds. */
  readonly saved?: number | undefined;
  /** For people. */
  readonly warnings: readonly string[];
}

/** The server has no room beside what runs there of this run; `refused` is the Failure where nothing does. */
export interface ServerBusy {
  readonly refused: unknown;
}

/** What carries tasks out elsewhere, for as long as a run lasts. */
export interface RemoteRun {
  /** How many at a time. */
  readonly limit: number;
  /**
   * Runs a task to its end; "stopped" where the run was ended before. What it has made may come later: see `bring`.
   * Throws Failure, which is of all tasks alike.
   * @param onStart called once when the server has it, or knew it
   */
  run(task: ScriptTask, onStart: () => void): Promise<RemoteResult | ServerBusy | "stopped">;
  /** What others, which this one waits for, have made elsewhere is in place here from then on. Throws Failure. */
  downloadOutputs(task: ScriptTask): Promise<void>;
  /** Something has run here, and may have changed files. */
  invalidateFiles(): void;
  /** Ends what runs there; what has ended there is still brought. */
  stop(): void;
  /** Ends all of it: nobody waits. */
  abandon(): void;
  /** After the last task: all that was made elsewhere is in place. Throws Failure. */
  finish(): Promise<void>;
}

// Passes the program that replaces rt to the author of start memos (../fast-path/script-start.ts).
//
// Invariants: the script has neither hooks nor secrets, and its line is not printed yet.
import {
  activeLookupRecorder,
  type LookupRecorder,
  stopLookupRecorder,
} from "../../../platform/files/lookup-recorder.ts";
import type { ReplaceRequest } from "../../../platform/processes/contract/process.ts";

export interface Replacement {
  /** The line that shows the command, on a terminal and in other outputs; undefined with --silent. */
  readonly lines: readonly [string, string] | undefined;
  readonly directory: string;
  readonly command: ReplaceRequest;
  /** Set for a script with permissions, which does not replace rt. `command` then has its whole environment. */
  readonly restrictions?: Restrictions;
}

export interface Restrictions {
  readonly version: string;
  readonly network: string;
  readonly rules: readonly string[];
  readonly output: "terminal" | "pipes";
  /** Names of variables, or beginnings before a `*`. */
  readonly inherited: readonly string[];
  /** The private folder of temporary files. */
  readonly temporary: string;
}

interface Observer {
  /** The lookups since the start. */
  readonly lookups: LookupRecorder;
  observe(replacement: Replacement): void;
}

let observer: Observer | undefined;

export function observeReplacement(next: Observer): void {
  observer = next;
}

/** Called if rt does more than to become one program. */
export function forgetReplacement(): void {
  if (observer && activeLookupRecorder() === observer.lookups) stopLookupRecorder();
  observer = undefined;
}

/** Returns undefined if no memo can be written. */
export function replacementObserver(): Observer | undefined {
  return observer && activeLookupRecorder() === observer.lookups ? observer : undefined;
}

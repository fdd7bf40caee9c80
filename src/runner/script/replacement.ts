// Tells the author of start memos (../fast-path/script-start.ts) which program replaces rt.
//
// Invariants: it is told of a script without hooks and secrets only, before the script's line is printed.
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
}

interface Observer {
  /** What was looked up since the start. */
  readonly lookups: LookupRecorder;
  observe(replacement: Replacement): Promise<void>;
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

/** Undefined if nobody wants to know. */
export function replacementObserver(): Observer | undefined {
  return observer && activeLookupRecorder() === observer.lookups ? observer : undefined;
}

// Records what planning looks up, for the memos of runs and of starts: the same results mean the same plan.
//
// Invariants:
// - From `startLookupRecorder` on, every lookup through files.ts, directories.ts and ../processes/program-search.ts is recorded with
//   its result: whether the path existed. A lookup that cannot be recorded clears `isWhole`.
// - Every variable that rt reads by its name is recorded, too.

/** The content of a file; the names in a directory; or the existence and real path. */
export type LookupKind = "content" | "names" | "way";

export class LookupRecorder {
  /** By absolute path. */
  readonly paths = new Map<string, { readonly how: LookupKind; readonly isThere: boolean }>();
  /** Names of variables. */
  readonly variables = new Set<string>();
  isWhole = true;
  /** Whether a program that replaces rt is all that the start does: see `forbidReplay`. */
  mayReplay = true;

  note(path: string, how: LookupKind, isThere: boolean): void {
    if (path[0] !== "/" || path.includes("\0") || !path.isWellFormed()) this.isWhole = false;
    const known = this.paths.get(path);
    // The path has changed between two lookups (race).
    if (known && known.isThere !== isThere) this.isWhole = false;
    // A directory listing includes the existence of the directory.
    if (!known || known.how === "way") this.paths.set(path, { how, isThere });
    else if (known.how !== how && how !== "way") this.isWhole = false;
  }
}

let current: LookupRecorder | undefined;

export function startLookupRecorder(): LookupRecorder {
  return (current = new LookupRecorder());
}

export function stopLookupRecorder(): void {
  current = undefined;
}

/** Called if the start prints, or depends on something that is not recorded. The memo of a run is not affected. */
export function forbidReplay(): void {
  if (current) current.mayReplay = false;
}

/** Returns undefined if no recording was started. */
export function activeLookupRecorder(): LookupRecorder | undefined {
  return current;
}

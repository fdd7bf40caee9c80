// What rt looks at to find out what is to run, for who wants to know whether it would find out the same again.
//
// Contract: from `watchGlances` on, every look through platform/files/files.ts, platform/files/directories.ts and
// platform/processes/program-search.ts is noted, with what it came to: whether something was there. A look that cannot be told in this
// way makes the list useless, and says so. Before that, nothing is noted, and nothing costs anything.

/** The content of a file; the names in a directory; that there is a directory, and which way a link to one leads. */
export type LookupKind = "content" | "names" | "way";

export class LookupRecorder {
  /** By the absolute path. */
  readonly paths = new Map<string, { readonly how: LookupKind; readonly isThere: boolean }>();
  /** Whether it can be told by paths at all. */
  isWhole = true;

  note(path: string, how: LookupKind, isThere: boolean): void {
    if (path[0] !== "/" || path.includes("\0") || !path.isWellFormed()) this.isWhole = false;
    const known = this.paths.get(path);
    // Something has changed between two looks.
    if (known && known.isThere !== isThere) this.isWhole = false;
    // A listing is the whole of what a way is, and the content of a directory is nothing.
    if (!known || known.how === "way") this.paths.set(path, { how, isThere });
    else if (known.how !== how && how !== "way") this.isWhole = false;
  }
}

let current: LookupRecorder | undefined;

export function startLookupRecorder(): LookupRecorder {
  return (current = new LookupRecorder());
}

/** Undefined where nobody wants to know. */
export function activeLookupRecorder(): LookupRecorder | undefined {
  return current;
}

// What is kept of a run: under which conditions its outputs are what it would make again, the outputs, and what it wrote to
// the terminal. Written as JSON, compressed; read again by a program that trusts nothing of it but by its digest. Paths are
// absolute here, but for those of a KeptEntry.

/** Of one path; all of an entry's have to be met. */
export type RecordedDependency =
  | readonly ["absent" | "any" | "other", path: string]
  | readonly ["directory", path: string, mode: number]
  | readonly ["link", path: string, target: string]
  | readonly ["file", path: string, hash: string, mode: number]
  /** Looked at, and then replaced. */
  | readonly ["size", path: string, size: number, mode: number]
  /**
   * The names in a directory without the script's outputs, each with a letter for its kind in front. With stems only the names
   * count that module resolvers look for: parent-folder-names.ts.
   */
  | readonly ["names", path: string, names: readonly string[], stems?: readonly string[]];

/** What is at a path afterwards; inside the project. */
export type RecordedOutput =
  | { readonly path: string; readonly kind: "file"; readonly hash: string; readonly mode: number }
  | { readonly path: string; readonly kind: "directory"; readonly mode: number }
  | { readonly path: string; readonly kind: "link"; readonly target: string }
  | { readonly path: string; readonly kind: "absent" };

export interface CacheEntry {
  readonly label: string;
  /** Milliseconds: when it was made, and how long the script took. */
  readonly created: number;
  readonly duration: number;
  readonly conditions: readonly RecordedDependency[];
  readonly outputs: readonly RecordedOutput[];
  /** What it made and took away again, or what does not matter: a change of it is the script's. */
  readonly own: readonly string[];
  /** The blob of what it wrote. */
  readonly log: string;
}

/** As it is stored: paths below the root are relative to it, with "/" between; "." is the root. src/cache/entry/relocation.ts. */
export interface StoredEntry extends CacheEntry {
  /** Where it was made. */
  readonly root: string;
  /** Words of that path which the script has written somewhere, or the path itself: not every other root may use it. */
  readonly mentioned: readonly string[];
}

/** The digests of what an entry names in the store, sorted, each once. */
export function blobHashesOf({ log, outputs }: CacheEntry): string[] {
  const files = outputs.flatMap((each) => (each.kind === "file" ? [each.hash] : []));
  return [...new Set([log, ...files])].sort();
}

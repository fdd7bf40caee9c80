// Defines a cache entry: recorded dependencies, recorded outputs and the output log of one successful run. It is
// stored as compressed JSON.
//
// Invariants:
// - A stored entry is untrusted until its digest and its schema are checked (stored-entry.ts, entry-schema.ts).
// - Paths of a CacheEntry are absolute. Paths of a StoredEntry are relative where that is possible.
import type { UserFolders } from "../relocation/user-folders.ts";

/** A dependency on the state of one path. An entry is valid if all of its dependencies match. */
export type RecordedDependency =
  | readonly ["absent" | "any" | "other", path: string]
  | readonly ["directory", path: string, mode: number]
  | readonly ["link", path: string, target: string]
  | readonly ["file", path: string, hash: string, mode: number]
  /** The script probed the file and then replaced it. */
  | readonly ["size", path: string, size: number, mode: number]
  /**
   * The names in a directory without the script's outputs. Each name is prefixed with a letter for its type. With
   * stems, only the names that module resolvers look for count (parent-folder-names.ts). A name after OPTIONAL may be
   * missing (recorded-listings.ts).
   */
  | readonly ["names", path: string, names: readonly string[], stems?: readonly string[]];

/** Marks a folder that may be missing. */
export const OPTIONAL = "~";

/** The state that a run left at a path in the project. */
export type RecordedOutput =
  | { readonly path: string; readonly kind: "file"; readonly hash: string; readonly mode: number }
  | { readonly path: string; readonly kind: "directory"; readonly mode: number }
  | { readonly path: string; readonly kind: "link"; readonly target: string }
  | { readonly path: string; readonly kind: "absent" };

export interface CacheEntry {
  readonly label: string;
  /** Milliseconds: the creation time since 1970, and the duration of the script. */
  readonly created: number;
  readonly duration: number;
  readonly conditions: readonly RecordedDependency[];
  readonly outputs: readonly RecordedOutput[];
  /**
   * Paths that the script created and deleted, and paths whose content does not matter. Changes there are
   * self-writes.
   */
  readonly own: readonly string[];
  /** Blob hash of the output log. */
  readonly log: string;
}

/**
 * A value of this checkout or user that occurs in the outputs: its name, the file (or OUTPUT), and its hash. The entry is
 * valid only where the value is the same.
 */
export type Mention = readonly [name: string, file: string, hash: string];

/** The file of a mention in the output of the script. */
export const OUTPUT = "";
/** The name of the mention of the root's path. */
export const ROOT_MENTION = "the project";

export interface SearchedPrograms {
  /** The directories of PATH; stored paths. */
  readonly path: readonly string[];
  /** Each name, and the stored path of the program; null if there was none. */
  readonly found: readonly (readonly [name: string, path: string | null])[];
}

/** An entry with stored paths: relative to the root ("." is the root) or to a folder of the user, with "/". */
export interface StoredEntry extends CacheEntry {
  /** The root of the checkout in which the script ran. */
  readonly root: string;
  readonly mentioned: readonly Mention[];
  /** The folders of the user whose script ran. */
  readonly folders?: UserFolders;
  /** Undefined if the inputs are declared. */
  readonly programs?: SearchedPrograms;
  /** Whether FORCE_COLOR was set for the script. */
  readonly isColored?: boolean;
  /** The number of the user, if the script has read the list of users. */
  readonly user?: number;
}

/** Returns the hashes of all blobs that an entry refers to, sorted and without duplicates. */
export function blobHashesOf({ log, outputs }: CacheEntry): string[] {
  const files = outputs.flatMap((each) => (each.kind === "file" ? [each.hash] : []));
  return [...new Set([log, ...files])].sort();
}

// What tells one state of a path from another, for who has thousands of paths to compare: in one block of memory each, without
// an object or a text for any of them.

/** Words of 32 bits in a stamp. The first is the kind and the permissions, or `ABSENT` and the system's number of the failure. */
export const FINGERPRINT_WORDS = 13;
/** In the first word. */
export const ABSENT = 0x8000_0000;
/** Of the first word: the kind. */
export const KIND = 0o170000;
export const DIRECTORY = 0o040000;
export const LINK = 0o120000;

export interface StatFingerprintReader {
  /**
   * The stamp of a path as it is now: device, inode, size, both times to the nanosecond, kind and permissions. Good until the
   * next call.
   *
   * @param at where among the reader's bytes the path begins; a NUL ends it
   * @param follows whether it is that of what a link leads to
   */
  take(at: number, follows: boolean): Uint32Array;
}

export interface StampOperations {
  /** Undefined where the system has no such call. @param paths over a buffer of its own; absolute, each with a NUL behind it */
  openStamps(paths: Uint8Array): StatFingerprintReader | undefined;
  /** When something last happened to a path, in milliseconds since 1970. */
  changeOf(stamp: Uint32Array): number;
}

// The contract of binary stat fingerprints, for comparing thousands of paths without an object or string for each.

/** 32-bit words of a fingerprint. The first is the mode, or `ABSENT` and the error number. */
export const FINGERPRINT_WORDS = 13;
/** Flag in the first word. */
export const ABSENT = 0x8000_0000;
/** Mask of the file type in the first word. */
export const KIND = 0o170000;
export const DIRECTORY = 0o040000;
export const LINK = 0o120000;

/** Milliseconds: an upper bound of the timestamp granularity of common file systems. */
export const TIMESTAMP_GRANULARITY = 12;

export interface StatFingerprintReader {
  /**
   * Returns the current fingerprint of a path: device, inode, size, mtime and ctime in nanoseconds, and mode. Valid until the next
   * call.
   *
   * @param at offset of the NUL-terminated path in the reader's buffer
   * @param follows whether a symlink is followed
   */
  take(at: number, follows: boolean): Uint32Array;
}

export interface StatFingerprintOperations {
  /** Returns undefined if the system has no such call. @param paths has its own ArrayBuffer; absolute, NUL-terminated paths */
  openFingerprints(paths: Uint8Array): StatFingerprintReader | undefined;
  /** Returns the ctime in milliseconds since 1970. */
  changeTimeOf(stamp: Uint32Array): number;
}

// The contract of package discovery: directory listings and many small files.

export interface Listing {
  /** Names, unsorted, without "." and "..". */
  readonly directories: readonly string[];
  /** Names of symlinks, whatever their targets. */
  readonly links: readonly string[];
}

/** Reads small files below one directory. */
export interface FileReader {
  /**
   * Returns as much of a file as one read returns: all of it up to some kilobytes. Returns null if the file does not exist, and ""
   * on other errors. If the text is invalid, the caller must read the file again with `readFile`.
   *
   * @param path relative to the directory, with forward slashes
   */
  readText(path: string): string | null;
  close(): void;
}

export interface DirectoryOperations {
  readonly separator: "/" | "\\";
  /** Returns null if the directory cannot be listed. */
  listDirectory(path: string): Listing | null;
  /** Returns the real path of a directory; null if it does not exist. */
  resolveDirectory(path: string): string | null;
  /** Returns the path without symlinks; null if it does not exist, or a folder above it cannot be searched. */
  resolvePath(path: string): string | null;
  openReader(directory: string): FileReader;
}

// What finding the packages of a workspace needs of an operating system: directories, and a great many small files.

export interface Listing {
  /** Names, in no order, without "." and "..". */
  readonly directories: readonly string[];
  /** Names of symbolic links, whatever they lead to. */
  readonly links: readonly string[];
}

/** The small files below one directory. */
export interface FileReader {
  /**
   * What a file holds, as far as one read tells it: all of it, for a file of some kilobytes. Null when there is none,
   * "" when it cannot be told like this; so what does not make sense has to be read again, with `readFile`.
   *
   * @param path from the directory, with forward slashes
   */
  readText(path: string): string | null;
  close(): void;
}

export interface DirectoryOperations {
  /** Between the names of a path that the functions here give. */
  readonly separator: "/" | "\\";
  /** Null when it cannot be listed. */
  listDirectory(path: string): Listing | null;
  /** Where a directory is, without symbolic links; null when there is none. */
  resolveDirectory(path: string): string | null;
  openReader(directory: string): FileReader;
}

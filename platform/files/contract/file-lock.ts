// A file that says, for as long as it is held, that whoever made it is alive.

export interface FileLock {
  /** Nobody holds it any more, and its file is gone. */
  release(): void;
}

export interface FileLockOperations {
  /**
   * Makes a file that is held until it is released, or this process ends in whatever way. Nobody sees it at its path
   * before it is held, nor do programs that this process starts hold it on. Throws the system's error.
   *
   * @param draft a path of the same file system at which nothing is, where it may be made
   */
  holdFile(path: string, draft: string): FileLock;
  /** Whether somebody holds it; of what cannot be told, yes. */
  isHeld(path: string): boolean;
}

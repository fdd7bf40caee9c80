// The contract of lock files: a file whose lock shows that its creator is alive.

export interface FileLock {
  /** Removes the file and releases the lock. */
  release(): void;
}

export interface FileLockOperations {
  /**
   * Creates a file that is locked until it is released or this process ends. It appears at its path already locked (atomic rename),
   * and children do not inherit the lock.
   *
   * @param draft an unused path on the same file system
   * @throws the system's error
   */
  lockFile(path: string, draft: string): FileLock;
  /** Returns whether a process holds the lock; true if the check is inconclusive. */
  isLocked(path: string): boolean;
}

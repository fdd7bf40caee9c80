// Checks whether a process ID is in use. File names contain the ID of their owner; a file without a live owner is stale. If the
// system has reused the ID, the file remains until that process exits.

/** Largest pid_t. No system assigns a larger process ID. */
const MAX_PID = 2 ** 31 - 1;

/** Returns true also for another user's process, which this one may not signal. Returns false for an invalid process ID. */
export function isPidInUse(pid: number): boolean {
  // kill() interprets 0 and negative numbers as process groups, so it would succeed.
  if (!Number.isInteger(pid) || pid < 1 || pid > MAX_PID) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

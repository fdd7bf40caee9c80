// A process by its number, as names of files have it: what a process that was killed has left is known by that nobody has
// the number any more. It may have gone to another process meanwhile; then what was left stays until that one has ended.

/** What systems hand out is lower; no call of theirs takes more. */
const MOST = 2 ** 31 - 1;

/** Also for a process of somebody else's, which this one may not signal. What can be no number of a process is free. */
export function isPidInUse(pid: number): boolean {
  // Of 0 and of those below it the system says that they are there: it takes them for groups of processes.
  if (!Number.isInteger(pid) || pid < 1 || pid > MOST) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

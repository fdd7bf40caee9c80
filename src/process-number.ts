// A process by its number, as names of files have it: what a process that was killed has left is known by that nobody has
// the number any more. It may have gone to another process meanwhile; then what was left stays until that one has ended.

/** Also for a process of somebody else's, which this one may not signal. */
export function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

// A free port for a program that needs its number in advance.

/** Below the ephemeral ports of Linux, macOS and Windows, so no other program gets the port by chance. */
const FIRST = 20_000;
const LAST = 32_000;

/** Returns a port that had no listener just before. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (isFree(port)) return port;
  }
}

/** Whether a program can listen on the port of this machine's own address. */
export function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}

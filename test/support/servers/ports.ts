// A port for a program that has to be told one.

/** Below what Linux, macOS and Windows give to those that ask for any: nothing else that is started meanwhile gets it. */
const FIRST = 20_000;
const LAST = 32_000;

/** A port that nobody listened on a moment ago. */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // Somebody has it.
    }
  }
}

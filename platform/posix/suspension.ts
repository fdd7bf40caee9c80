// Being stopped by the terminal's Ctrl-Z, from within a handler that had something to do first.
import { libc } from "./libc.ts";

const SIGTSTP = process.platform === "linux" ? 20 : 18;
const SIG_DFL = null;
const SIG_IGN = 1;

/** Whether whoever started rt wants no stops, as a shell without job control may. */
export function isStopIgnored(): boolean {
  const handler = libc().signal(SIGTSTP, SIG_DFL);
  libc().signal(SIGTSTP, handler);
  return handler === SIG_IGN;
}

/** Returns when something has continued this process, or at once where nothing could. */
export function stopLikeTerminal(): void {
  const handler = libc().signal(SIGTSTP, SIG_DFL);
  libc().raise(SIGTSTP);
  libc().signal(SIGTSTP, handler);
}

// Pauses before the program's first lines, so that breakpoints are set in time. The client does not see these pauses.
import type { ClientSession } from "./server/session.ts";

/** If the main file is not loaded after this many pauses, no script has its name. */
const MAX_PAUSES = 100;

/**
 * Pauses at each microtask until the main file is loaded. The engine runs CommonJS modules (usually packages) while it still
 * loads the file that imports them.
 */
export function pauseBeforeEntry(isAwaited: boolean, session: ClientSession): void {
  if (session.isStarting === isAwaited) return;
  session.isStarting = isAwaited;
  void session.backend.send("Debugger.setPauseOnMicrotasks", { enabled: isAwaited });
}

export function isEntryThere({ program, scripts, starts }: ClientSession): boolean {
  return starts > MAX_PAUSES || !program.title.startsWith("/") || scripts.find(program.title) !== undefined;
}

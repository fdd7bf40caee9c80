// The stops before a program's first lines, which are there to set breakpoints in time and are shown to nobody.
import type { ClientSession } from "./server/session.ts";

/** A program whose main file is not loaded after so many stops has none of this name. */
const MOST_STARTS = 100;

/**
 * The engine runs what is no module (a package, most often) while it still loads the file that imports it. So until that is
 * there each piece of work that begins is stopped at, as at the first line.
 */
export function pauseBeforeEntry(isAwaited: boolean, session: ClientSession): void {
  if (session.isStarting === isAwaited) return;
  session.isStarting = isAwaited;
  void session.backend.send("Debugger.setPauseOnMicrotasks", { enabled: isAwaited });
}

export function isEntryThere({ program, scripts, starts }: ClientSession): boolean {
  return starts > MOST_STARTS || !program.title.startsWith("/") || scripts.find(program.title) !== undefined;
}

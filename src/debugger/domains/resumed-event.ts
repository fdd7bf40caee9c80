// That the program goes on, told to the client once.
import type { ClientSession } from "../server/session.ts";

/** The engine itself says so only of some resumptions. */
export function noteResumed(session: ClientSession): void {
  if (!session.pause) return;
  session.pause = undefined;
  session.emit("Debugger.resumed", {});
}

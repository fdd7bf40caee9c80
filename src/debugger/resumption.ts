// That the program goes on, told to the client once.
import type { Session } from "./session.ts";

/** The engine itself says so only of some resumptions. */
export function noteResumed(session: Session): void {
  if (!session.pause) return;
  session.pause = undefined;
  session.emit("Debugger.resumed", {});
}

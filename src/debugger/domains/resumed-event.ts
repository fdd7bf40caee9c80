// Reports to the client once that the program has resumed.
import type { ClientSession } from "../server/session.ts";

/** Emits Debugger.resumed, because the engine sends it only for some resumptions. */
export function noteResumed(session: ClientSession): void {
  if (!session.pause) return;
  session.pause = undefined;
  session.emit("Debugger.resumed", {});
}

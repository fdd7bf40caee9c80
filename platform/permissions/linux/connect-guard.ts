// Starts the thread that decides the connections of a child with permissions (../../native/linux/recorder/connect-guard.h).
import { ptr } from "../../native/posix/ffi.ts";
import { recorderLibrary } from "../../native/linux/library.ts";
import { closeDescriptor, hasOutput, openPipe } from "../../native/posix/pipe.ts";
import type { ChildPermissions } from "../contract/permissions.ts";
import { GuardSession } from "./guard-session.ts";

/** Most children end before. A stream takes longer than the start of a thread. */
const ATTACH_AFTER = 5; // ms
/** The thread ends with the tree, a moment after rt has seen the exit. */
const END_TIME = 2; // ms

export interface ConnectGuard {
  /** Resolves after the last refusal has been passed on. */
  finish(): Promise<void>;
}

/**
 * Starts the thread.
 *
 * @param socket receives the launcher's listener; owned by the thread
 * @throws an Error with the failed step
 */
export function startConnectGuard(socket: number, permissions: ChildPermissions): ConnectGuard {
  const session = new GuardSession(permissions);
  const stop = openPipe({ isPolled: false });
  const reports = openPipe({ isPolled: true });
  const request = session.encodeRequest({ socket, stop: stop.reader, reports: reports.writer });
  if (recorderLibrary().start_connect_guard(ptr(request)) === 0) {
    for (const each of [stop.reader, stop.writer, reports.reader, reports.writer]) closeDescriptor(each);
    throw new Error("the thread for its connections cannot be created");
  }
  const reader = session.openReports(reports.reader);
  const attaching = setTimeout(() => reader.attach(), ATTACH_AFTER);
  return {
    async finish() {
      clearTimeout(attaching);
      closeDescriptor(stop.writer);
      hasOutput(reports.reader, END_TIME);
      await reader.readToEnd();
      session.close();
      closeDescriptor(stop.reader);
    },
  };
}

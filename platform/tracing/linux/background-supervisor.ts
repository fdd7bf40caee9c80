// The background supervisor: a separate rt process that answers notifications of processes that outlive the script.
//
// Invariants:
// - User arguments cannot start it: it requires the argv[0] of contract/tracing.ts and a socket as the named descriptor.
import { operations } from "../../processes/posix/process.ts";
import { receiveDescriptor, socketCalls } from "./fd-passing.ts";
import { recorderLibrary } from "../../native/linux/library.ts";

export const BACKGROUND_SWITCH = "--stay";

/** Answers notifications until the process tree has ended. Returns an exit code. */
export function superviseBackground(words: readonly string[]): number {
  const [option, descriptor = ""] = words;
  const socket = Number(descriptor);
  if (option !== BACKGROUND_SWITCH || !/^\d+$/.test(descriptor) || socket < 3) return refuse();
  const received = receiveDescriptor(socket);
  if (!received || received.descriptor < 0) return refuse();
  socketCalls().close(socket);
  recorderLibrary().continue_all_calls(received.descriptor);
  return 0;
}

function refuse(): number {
  operations.write(2, new TextEncoder().encode("error: This is a part of rt that only rt starts\n"));
  return 2;
}

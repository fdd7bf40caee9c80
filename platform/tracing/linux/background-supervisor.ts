// What answers for those that a script has left running: rt, started by rt under another name, with the listener.
//
// Contract: nothing of a user's can be mistaken for this: it counts only in a program that was started by the name that
// contract/tracing.ts has, with a socket in the place that it names.
import { operations } from "../../processes/posix/process.ts";
import { receiveDescriptor, socketCalls } from "./fd-passing.ts";
import { recorderLibrary } from "../../native/linux/library.ts";

export const STAY = "--stay";

/** Until nobody is left who could ask. Returns an exit code. */
export function superviseBackground(words: readonly string[]): number {
  const [word, place = ""] = words;
  const socket = Number(place);
  if (word !== STAY || !/^\d+$/.test(place) || socket < 3) return refuse();
  const received = receiveDescriptor(socket);
  if (!received || received.descriptor < 0) return refuse();
  socketCalls().close(socket);
  recorderLibrary().answer_only(received.descriptor);
  return 0;
}

function refuse(): number {
  operations.write(2, new TextEncoder().encode("error: This is a part of rt that only rt starts\n"));
  return 2;
}

// The thread that answers the kernel for a script (../native/recorder), as rt has it: what it is told, where it writes, and when
// it is done.
//
// Surprising: it is none of the engine's. To start one of those takes longer than many a script, and each call that it was woken
// for cost as much again.
import { Outlet } from "../../posix/outlet.ts";
import { openNamelessFile } from "../../posix/nameless-file.ts";
import { closeDescriptor, openPipe } from "../../posix/pipe.ts";
import { placeOf, recorderLibrary } from "../native/library.ts";
import { TABLES } from "./tables.ts";

const fs = process.getBuiltinModule("node:fs");

const NONE = -1;

/** Over a buffer of its own, as its address is given away. */
function own(numbers: readonly number[]): Int32Array {
  const copy = new Int32Array(new ArrayBuffer(numbers.length * 4));
  copy.set(numbers);
  return copy;
}

let rows: Int32Array | undefined;

/** Places in `struct order` where the thread writes. */
const [LAUNCHED, LEFT, IS_LOST] = [7, 8, 9];

export interface Outcome {
  /** 0 where the script was followed; otherwise the kernel's error, or -1 where the launcher has gone. */
  readonly launched: number;
  /** The listener, where somebody is left who may call. */
  readonly left: number | undefined;
  /** There was no memory for all of it. */
  readonly isLost: boolean;
}

export interface Recording {
  /** When nobody is left who could call, or after `stop`; all that was seen has been given then. */
  readonly over: Promise<Outcome>;
  stop(): void;
}

const CHUNK = 1 << 16;

/**
 * @param socket over which the launcher hands its listener; it belongs to the thread from now on
 * @param onSeen gets the journal, piece by piece. Throws an error with `code` EMFILE, EACCES, or EAGAIN where no thread is to be had.
 */
export function record(
  socket: number,
  { keepsAll, onSeen }: { readonly keepsAll: boolean; readonly onSeen: (chunk: Buffer) => void },
): Recording {
  const library = recorderLibrary();
  rows ??= new Int32Array(Uint8Array.fromBase64(TABLES.rows).slice().buffer);
  const journal = openNamelessFile();
  const bell = openPipe({ isPolled: true });
  const stop = openPipe({ isPolled: false });
  const order = own([
    ...[socket, stop.reader, journal, bell.writer, TABLES.audit | 0],
    ...[keepsAll ? 1 : 0, TABLES.rowCount, NONE, NONE, 0],
  ]);
  if (library.start_recorder(placeOf(order), placeOf(rows)) === 0) {
    for (const each of [journal, bell.reader, bell.writer, stop.reader, stop.writer]) closeDescriptor(each);
    throw Object.assign(new Error("No thread is to be had"), { code: "EAGAIN" });
  }
  let isStopped = false;
  const end = () => {
    if (!isStopped) closeDescriptor(stop.writer);
    isStopped = true;
  };
  let place = 0;
  const readOn = () => {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const count = fs.readSync(journal, chunk, 0, CHUNK, place);
      if (count === 0) return;
      place += count;
      onSeen(chunk.subarray(0, count));
    }
  };
  const outlet = new Outlet(bell.reader, readOn);
  const finish = async (): Promise<Outcome> => {
    await outlet.readToEnd();
    readOn();
    end();
    for (const each of [journal, stop.reader]) closeDescriptor(each);
    const left = order[LEFT]!;
    return { launched: order[LAUNCHED]!, left: left < 0 ? undefined : left, isLost: order[IS_LOST] !== 0 };
  };
  return { over: finish(), stop: end };
}

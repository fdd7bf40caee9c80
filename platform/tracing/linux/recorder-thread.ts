// The thread that answers the kernel for a script (../native/recorder), as rt has it: what it is told, where it writes, and when
// it is done.
//
// Surprising: it is none of the engine's. To start one of those takes longer than many a script, and each call that it was woken
// for cost as much again.
import { OutputReader } from "../../processes/posix/output-reader.ts";
import { openNamelessFile } from "../../files/posix/anonymous-file.ts";
import { closeDescriptor, openPipe, type Pipe } from "../../native/posix/pipe.ts";
import { NoThreadError } from "../contract/tracing.ts";
import { placeOf, recorderLibrary } from "../../native/linux/library.ts";
import { TABLES } from "./syscall-tables.ts";

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

export interface RecorderResult {
  /** 0 where the script was followed; otherwise the kernel's error, or -1 where the launcher has gone. */
  readonly launched: number;
  /** The listener, where somebody is left who may call. */
  readonly left: number | undefined;
  /** There was no memory for all of it. */
  readonly isLost: boolean;
}

export interface RecorderHandle {
  /** When nobody is left who could call, or after `stop`; all that was seen has been given then. */
  readonly over: Promise<RecorderResult>;
  stop(): void;
}

const CHUNK = 1 << 16;

/**
 * @param socket over which the launcher hands its listener; it belongs to the thread from now on
 * @param onSeen gets the journal, piece by piece
 *
 * Throws NoThreadError, and an error with `code` EMFILE, or EACCES where the system opens no library from memory.
 */
export function record(
  socket: number,
  { keepsAll, onSeen }: { readonly keepsAll: boolean; readonly onSeen: (chunk: Buffer) => void },
): RecorderHandle {
  const { start_recorder: startRecorder } = recorderLibrary();
  rows ??= new Int32Array(Uint8Array.fromBase64(TABLES.rows).slice().buffer);
  const opened: number[] = [];
  const keep = (descriptor: number) => {
    opened.push(descriptor);
    return descriptor;
  };
  const openKept = (isPolled: boolean) => {
    const { reader, writer } = openPipe({ isPolled });
    return { reader: keep(reader), writer: keep(writer) };
  };
  try {
    const [journal, bell, stop] = [keep(openNamelessFile()), openKept(true), openKept(false)];
    const order = own([
      ...[socket, stop.reader, journal, bell.writer, TABLES.audit | 0],
      ...[keepsAll ? 1 : 0, TABLES.rowCount, NONE, NONE, 0],
    ]);
    if (startRecorder(placeOf(order), placeOf(rows)) === 0) throw new NoThreadError();
    return follow(order, { journal, bell: bell.reader, stop }, onSeen);
  } catch (error) {
    for (const descriptor of opened) closeDescriptor(descriptor);
    throw error;
  }
}

/** Reads what a thread writes, as it comes. */
function follow(
  order: Int32Array,
  { journal, bell, stop }: { readonly journal: number; readonly bell: number; readonly stop: Pipe },
  onSeen: (chunk: Buffer) => void,
): RecorderHandle {
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
  const finish = async (): Promise<RecorderResult> => {
    await new OutputReader(bell, readOn).readToEnd();
    readOn();
    end();
    closeDescriptor(journal);
    closeDescriptor(stop.reader);
    const left = order[LEFT]!;
    return { launched: order[LAUNCHED]!, left: left < 0 ? undefined : left, isLost: order[IS_LOST] !== 0 };
  };
  return { over: finish(), stop: end };
}

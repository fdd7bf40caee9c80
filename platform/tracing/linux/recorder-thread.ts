// Starts the supervisor thread (../../native/linux/recorder) and reads its journal while the script runs.
//
// Non-obvious: it is a native thread. A worker of the engine takes longer to start than many scripts run, and as long again to
// wake for each call.
import { OutputReader } from "../../processes/posix/output-reader.ts";
import { openAnonymousFile } from "../../files/posix/anonymous-file.ts";
import { closeDescriptor, openPipe, type Pipe } from "../../native/posix/pipe.ts";
import { NoThreadError } from "../contract/tracing.ts";
import { addressOf, recorderLibrary } from "../../native/linux/library.ts";
import { ptr } from "../../native/posix/ffi.ts";
import type { GuardSession } from "../../permissions/linux/guard-session.ts";
import { TABLES } from "./syscall-tables.ts";

const fs = process.getBuiltinModule("node:fs");

const NONE = -1;

/** Copies into a separate ArrayBuffer, because native code keeps the address. */
function copyStable(numbers: readonly number[]): Int32Array {
  const copy = new Int32Array(new ArrayBuffer(numbers.length * 4));
  copy.set(numbers);
  return copy;
}

let rows: Int32Array | undefined;

/** Fields of `struct recorder_request` that the thread writes. */
const [LAUNCH_ERROR, LISTENER, IS_LOST] = [7, 8, 9];

export interface RecorderResult {
  /** 0 if the script was traced; otherwise the kernel's error, or -1 if the launcher has exited. */
  readonly launchError: number;
  /** The listener, if processes are left. */
  readonly listener: number | undefined;
  /** The journal is incomplete, because memory or disk space was exhausted. */
  readonly isLost: boolean;
}

export interface RecorderHandle {
  /** Resolves after the process tree has ended, or after `stop`. All records have been passed on then. */
  readonly result: Promise<RecorderResult>;
  stop(): void;
}

/** `enum log_bits` of recorder.c. */
const [LOG_CALLS, LOG_PROCESSES] = [1, 2];

const CHUNK = 1 << 16;

/**
 * Starts the thread.
 *
 * @param socket receives the launcher's listener; owned by the thread
 * @param onChunk receives the journal in chunks
 * @throws NoThreadError, or an error with `code` EMFILE, or EACCES if the system loads no library from a memfd
 */
export function startRecorder(
  socket: number,
  {
    keepsAll,
    namesProcesses,
    session,
    onChunk,
  }: {
    readonly keepsAll: boolean;
    readonly namesProcesses: boolean;
    /** The thread also decides calls of the child. */
    readonly session?: GuardSession | undefined;
    readonly onChunk: (chunk: Buffer) => void;
  },
): RecorderHandle {
  const { start_recorder: startThread } = recorderLibrary();
  rows ??= new Int32Array(Uint8Array.fromBase64(TABLES.rows).slice().buffer);
  const opened: number[] = [];
  const keep = (descriptor: number) => {
    opened.push(descriptor);
    return descriptor;
  };
  const openOwned = (isPolled: boolean) => {
    const { reader, writer } = openPipe({ isPolled });
    return { reader: keep(reader), writer: keep(writer) };
  };
  try {
    const [journal, wakeup, stop] = [keep(openAnonymousFile()), openOwned(true), openOwned(false)];
    const request = copyStable([
      ...[socket, stop.reader, journal, wakeup.writer, TABLES.audit | 0],
      ...[(keepsAll ? LOG_CALLS : 0) | (namesProcesses ? LOG_PROCESSES : 0), TABLES.rowCount, NONE, NONE, 0],
    ]);
    const reports = session && openOwned(true);
    const guard = session?.encodeRequest({ reports: reports!.writer });
    if (startThread(addressOf(request), addressOf(rows), guard ? ptr(guard) : null) === 0)
      throw new NoThreadError();
    const refusals = session
      ?.openReports(reports!.reader)
      .readToEnd()
      .then(() => session.close());
    const { result, stop: end } = readJournal(request, { journal, wakeup: wakeup.reader, stop }, onChunk);
    return { result: refusals ? result.then(async (each) => (await refusals, each)) : result, stop: end };
  } catch (error) {
    for (const descriptor of opened) closeDescriptor(descriptor);
    throw error;
  }
}

/** Reads the journal whenever the thread signals new records. */
function readJournal(
  request: Int32Array,
  { journal, wakeup, stop }: { readonly journal: number; readonly wakeup: number; readonly stop: Pipe },
  onChunk: (chunk: Buffer) => void,
): RecorderHandle {
  let isStopped = false;
  const end = () => {
    if (!isStopped) closeDescriptor(stop.writer);
    isStopped = true;
  };
  let offset = 0;
  const readAvailable = () => {
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const count = fs.readSync(journal, chunk, 0, CHUNK, offset);
      if (count === 0) return;
      offset += count;
      onChunk(chunk.subarray(0, count));
    }
  };
  const finish = async (): Promise<RecorderResult> => {
    await new OutputReader(wakeup, readAvailable).readToEnd();
    readAvailable();
    end();
    closeDescriptor(journal);
    closeDescriptor(stop.reader);
    const listener = request[LISTENER]!;
    return {
      launchError: request[LAUNCH_ERROR]!,
      listener: listener < 0 ? undefined : listener,
      isLost: request[IS_LOST] !== 0,
    };
  };
  return { result: finish(), stop: end };
}

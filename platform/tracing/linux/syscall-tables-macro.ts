// Runs in the bundler, for syscall-tables.ts: what is told of calls to the kernel and to the recorder, as base64, and which of them are
// doubts. To make it of the table takes a millisecond, of each start of a script that is followed.
import type { IncompleteReason } from "../contract/tracing.ts";
import { encodeRows } from "./syscall-rows.ts";
import { type Architecture, AUDIT_ARCHITECTURES, CALLS } from "./syscalls.ts";
import { filterProgram } from "./seccomp-filter.ts";

export interface SyscallTables {
  /** What the kernel calls the architecture. */
  readonly audit: number;
  readonly filter: string;
  readonly rows: string;
  /** How many there are. */
  readonly rowCount: number;
  /** By the number of the call, why it is one, and its name. */
  readonly doubts: Readonly<Record<number, readonly [IncompleteReason, string]>>;
}

function encodeTables(architecture: Architecture): SyscallTables {
  const doubtful = CALLS.filter((call) => call.doubt !== undefined && call[architecture] >= 0);
  return {
    audit: AUDIT_ARCHITECTURES[architecture],
    filter: Buffer.from(filterProgram(architecture)).toString("base64"),
    rows: Buffer.from(encodeRows(architecture).buffer).toString("base64"),
    rowCount: CALLS.length,
    doubts: Object.fromEntries(doubtful.map((call) => [call[architecture], [call.doubt!, call.name]])),
  };
}

export function makeTables(): Record<Architecture, SyscallTables> {
  return { x64: encodeTables("x64"), arm64: encodeTables("arm64") };
}

// Encodes the filter and the recorder's rows at build time, for syscall-tables.ts. At run time it would take 1 ms for each
// traced script.
import type { IncompleteReason } from "../contract/tracing.ts";
import { encodeRows } from "./syscall-rows.ts";
import { type Architecture, AUDIT_ARCHITECTURES, CALLS } from "./syscalls.ts";
import { filterProgram } from "./seccomp-filter.ts";

export interface SyscallTables {
  /** AUDIT_ARCH_ of the architecture. */
  readonly audit: number;
  readonly filter: string;
  readonly rows: string;
  readonly rowCount: number;
  /** By syscall number: the reason and the syscall's name. */
  readonly incompleteReasons: Readonly<Record<number, readonly [IncompleteReason, string]>>;
}

function encodeTables(architecture: Architecture): SyscallTables {
  const untraceable = CALLS.filter((call) => call.incompleteReason !== undefined && call[architecture] >= 0);
  return {
    audit: AUDIT_ARCHITECTURES[architecture],
    filter: Buffer.from(filterProgram(architecture)).toString("base64"),
    rows: Buffer.from(encodeRows(architecture).buffer).toString("base64"),
    rowCount: CALLS.length,
    incompleteReasons: Object.fromEntries(
      untraceable.map((call) => [call[architecture], [call.incompleteReason!, call.name]]),
    ),
  };
}

export function makeTables(): Record<Architecture, SyscallTables> {
  return { x64: encodeTables("x64"), arm64: encodeTables("arm64") };
}

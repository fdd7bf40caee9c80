// The filter and the recorder's rows for this architecture, encoded at build time from the syscall table (syscalls.ts).
import type { Architecture } from "./syscalls.ts";
import { makeTables, type SyscallTables } from "./syscall-tables-macro.ts" with { type: "macro" };

const BOTH = makeTables() as unknown as Readonly<Record<Architecture, SyscallTables>>;

export const TABLES = BOTH[process.arch as Architecture];

// What the kernel and the recorder are told of calls on this architecture, made of the table (syscalls.ts) in the bundler.
import type { Architecture } from "./syscalls.ts";
import { makeTables, type SyscallTables } from "./syscall-tables-macro.ts" with { type: "macro" };

const BOTH = makeTables() as unknown as Readonly<Record<Architecture, SyscallTables>>;

export const TABLES = BOTH[process.arch as Architecture];

// What the kernel and the recorder are told of calls on this architecture, made of the table (calls.ts) in the bundler.
import type { Architecture } from "./calls.ts";
import { makeTables, type SyscallTables } from "./tables-macro.ts" with { type: "macro" };

const BOTH = makeTables() as unknown as Readonly<Record<Architecture, SyscallTables>>;

export const TABLES = BOTH[process.arch as Architecture];

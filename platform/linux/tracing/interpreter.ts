// What the kernel opens by itself for a program: the interpreter of its #! line, or the loader that its ELF header names.
import { list } from "../../path-state.ts";

const PT_INTERP = 3;
const MACHINE = process.arch === "arm64" ? 183 : 62;

/** "" where the kernel opens nothing besides; undefined where it does not know the format by itself. */
export function interpreterOf(start: Buffer): string | undefined {
  if (start[0] === 0x23 && start[1] === 0x21) {
    const [line = ""] = start.subarray(2).toString("utf8").split("\n");
    return line.trim().split(/[ \t]/)[0]!;
  }
  if (start.length < 64 || start.readUInt32BE(0) !== 0x7f454c46) return undefined;
  // Of 32 bits its first call is a doubt, unless it is another program's that stands in for the processor.
  if (start[4] !== 2 || start.readUInt16LE(18) !== MACHINE) return undefined;
  const [offset, size, count] = [
    Number(start.readBigUInt64LE(32)),
    start.readUInt16LE(54),
    start.readUInt16LE(56),
  ];
  for (let index = 0; index < count; index += 1) {
    const header = offset + index * size;
    if (header + 56 > start.length) return undefined;
    if (start.readUInt32LE(header) !== PT_INTERP) continue;
    const [from, length] = [
      Number(start.readBigUInt64LE(header + 8)),
      Number(start.readBigUInt64LE(header + 32)),
    ];
    if (from + length > start.length) return undefined;
    return start.subarray(from, from + length - 1).toString("utf8");
  }
  return "";
}

/** Whether the kernel was told of programs for formats that it does not know: it would start those unseen. */
export function hasForeignFormats(): boolean {
  return (list("/proc/sys/fs/binfmt_misc") ?? []).some((name) => !["fregister", "fstatus"].includes(name));
}

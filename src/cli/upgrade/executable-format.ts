// Reads the operating system, CPU and C library of an executable from its first bytes (ELF, Mach-O or PE). Two executables are
// compatible if their descriptions are equal.

export interface ProgramFormat {
  readonly system: "Linux" | "macOS" | "Windows";
  readonly machine: string;
  /** Path of the dynamic loader, on Linux. */
  readonly loader?: string;
}

const ELF_MACHINES: Readonly<Record<number, string>> = { 0x3e: "x64", 0xb7: "arm64" };
const MACHO_MACHINES: Readonly<Record<number, string>> = { 0x01000007: "x64", 0x0100000c: "arm64" };
const PE_MACHINES: Readonly<Record<number, string>> = { 0x8664: "x64", 0xaa64: "arm64" };
const PT_INTERP = 3;
const SEGMENT_SIZE = 56;
const MIN_SIZE = 1024; // bytes
const MAX_PATH = 4096; // bytes

/**
 * Returns undefined for any other content.
 * @param program the executable, or its first megabyte
 */
export function readFormat(program: Uint8Array): ProgramFormat | undefined {
  const bytes = Buffer.from(program.buffer, program.byteOffset, program.length);
  if (bytes.length < MIN_SIZE) return undefined;
  const magic = bytes.readUInt32LE(0);
  if (magic === 0x464c457f) {
    const loader = readLoader(bytes);
    return { system: "Linux", machine: nameOf(ELF_MACHINES, bytes.readUInt16LE(18)), loader };
  }
  if (magic === 0xfeedfacf)
    return { system: "macOS", machine: nameOf(MACHO_MACHINES, bytes.readUInt32LE(4)) };
  const header = bytes.readUInt32LE(0x3c);
  const isPe = bytes.readUInt16LE(0) === 0x5a4d && header + 6 <= bytes.length;
  if (!isPe || bytes.readUInt32LE(header) !== 0x4550) return undefined;
  return { system: "Windows", machine: nameOf(PE_MACHINES, bytes.readUInt16LE(header + 4)) };
}

function nameOf(machines: Readonly<Record<number, string>>, machine: number): string {
  return machines[machine] ?? `machine ${machine}`;
}

function readLoader(elf: Buffer): string | undefined {
  const table = elf.readBigUInt64LE(32);
  const count = elf.readUInt16LE(56);
  for (let index = 0; index < count; index += 1) {
    const at = table + BigInt(index * SEGMENT_SIZE);
    if (at + BigInt(SEGMENT_SIZE) > elf.length) return undefined;
    const segment = Number(at);
    if (elf.readUInt32LE(segment) !== PT_INTERP) continue;
    const start = elf.readBigUInt64LE(segment + 8);
    const size = elf.readBigUInt64LE(segment + 32);
    if (size > MAX_PATH || start + size > elf.length) return undefined;
    return elf.toString("latin1", Number(start), Number(start + size) - 1);
  }
  return undefined;
}

export function describeFormat({ system, machine, loader }: ProgramFormat): string {
  const libc = loader && (loader.includes("musl") ? " with musl" : " with glibc");
  return `${system} on ${machine}${libc ?? ""}`;
}

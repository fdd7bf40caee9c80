// Finds the program that the toolchain embedded in a file, like the engine: by the section of each format and its
// markers. Tests use it to check that later build steps keep the program in place.

export interface EmbeddedProgram {
  /** All data of the section. */
  readonly bytes: Buffer;
  readonly modules: ReadonlyArray<{ readonly name: string; readonly source: string }>;
}

const TRAILER = "\n---- Bun! ----\n";
const MODULE_SIZE = 52; // six pairs of offset and length, and four bytes of flags

interface Section {
  readonly offset: number;
  readonly size: number;
}

function findElfSection(file: Buffer): Section {
  const table = Number(file.readBigUInt64LE(40));
  const at = (index: number) => table + 64 * index;
  const names = Number(file.readBigUInt64LE(at(file.readUInt16LE(62)) + 24));
  for (let index = 0; index < file.readUInt16LE(60); index += 1) {
    const name = names + file.readUInt32LE(at(index));
    if (file.toString("latin1", name, name + 5) !== ".bun\0") continue;
    const [address, offset, size] = [16, 24, 32].map((field) =>
      Number(file.readBigUInt64LE(at(index) + field)),
    ) as [number, number, number];
    if (!isMapped(file, address, offset, size)) throw new Error("The section is not loaded");
    return { offset, size };
  }
  throw new Error("There is no section .bun");
}

/** Returns whether a segment loads exactly this range of the file at this address, without overlap by others. */
function isMapped(file: Buffer, address: number, offset: number, size: number): boolean {
  const table = Number(file.readBigUInt64LE(32));
  const loaded: Array<{ from: number; to: number; inFile: number; end: number; align: number }> = [];
  for (let index = 0; index < file.readUInt16LE(56); index += 1) {
    const at = table + 56 * index;
    if (file.readUInt32LE(at) !== 1) continue;
    const [from, to, inFile, inMemory, align] = [8, 16, 32, 40, 48].map((field) =>
      Number(file.readBigUInt64LE(at + field)),
    ) as [number, number, number, number, number];
    if (from % align !== to % align || inFile > inMemory || from + inFile > file.length) return false;
    loaded.push({ from, to, inFile, end: Math.ceil((to + inMemory) / align) * align, align });
  }
  const isOrdered = loaded.every(
    ({ to, align }, index) => index === 0 || to - (to % align) >= loaded[index - 1]!.end,
  );
  const own = loaded.find(({ to, inFile }) => to <= address && address + size <= to + inFile);
  return isOrdered && own !== undefined && offset - own.from === address - own.to;
}

function findMachoSection(file: Buffer): Section {
  let at = 32;
  for (let left = file.readUInt32LE(16); left > 0; left -= 1) {
    if (file.readUInt32LE(at) === 0x19 && file.toString("latin1", at + 8, at + 14) === "__BUN\0") {
      const section = at + 72;
      return {
        offset: file.readUInt32LE(section + 48),
        size: Number(file.readBigUInt64LE(section + 40)),
      };
    }
    at += file.readUInt32LE(at + 4);
  }
  throw new Error("There is no segment __BUN");
}

function findPeSection(file: Buffer): Section {
  const header = file.readUInt32LE(0x3c);
  const count = file.readUInt16LE(header + 6);
  const table = header + 24 + file.readUInt16LE(header + 20);
  for (let index = 0; index < count; index += 1) {
    const at = table + 40 * index;
    if (file.toString("latin1", at, at + 5) === ".bun\0")
      return { offset: file.readUInt32LE(at + 20), size: file.readUInt32LE(at + 8) };
  }
  throw new Error("There is no section .bun");
}

const FIND: Readonly<Record<string, (file: Buffer) => Section>> = {
  linux: findElfSection,
  darwin: findMachoSection,
  windows: findPeSection,
};

/** @throws Error if the engine would find no program or a damaged one */
export function readEmbeddedProgram(file: Buffer, os: string): EmbeddedProgram {
  const section = FIND[os]!(file);
  const length = Number(file.readBigUInt64LE(section.offset));
  if (length + 8 > section.size) throw new Error("The section is shorter than what it says it holds");
  const bytes = file.subarray(section.offset + 8, section.offset + 8 + length);
  const trailer = bytes.lastIndexOf(TRAILER);
  if (trailer < 0 || bytes.length - trailer > TRAILER.length + 8) throw new Error("The trailer is missing");
  const total = Number(bytes.readBigUInt64LE(trailer - 32));
  const modules = bytes.readUInt32LE(trailer - 24);
  const size = bytes.readUInt32LE(trailer - 20);
  const base = trailer - 32 - total;
  const textAt = (pointer: number) => {
    const start = base + bytes.readUInt32LE(pointer);
    return bytes.toString("latin1", start, start + bytes.readUInt32LE(pointer + 4));
  };
  const entries = Array.from({ length: size / MODULE_SIZE }, (_, index) => {
    const at = base + modules + MODULE_SIZE * index;
    return { name: textAt(at), source: textAt(at + 8) };
  });
  return { bytes, modules: entries };
}

// Taking the engine's zeroed memory out of a file for Linux, on the smallest file that has what matters: a pointer to the
// program, memory to be zeroed, written out, and the program behind it. What is not as expected is left to nobody's luck.
import { expect, test } from "bun:test";
import { compactElf } from "../../build/elf-compaction.ts";

const PAGE = 0x1000;
const BASE = 0x400000;
const DATA = PAGE;
/** Where the memory to be zeroed begins, and ends, in the file. */
const ZEROS = DATA + 0x800;
const PROGRAM = ZEROS + 3 * PAGE;
const CONTENT = Buffer.from("the program");
const NAMES = PROGRAM + 0x100;
const TABLE = NAMES + 0x100;
const SECTIONS = ["", ".bss", ".bun", ".shstrtab"];
const SIZE = { segment: 56, section: 64 };

function segment(type: number, offset: number, inFile: number, inMemory: number): Buffer {
  const bytes = Buffer.alloc(SIZE.segment);
  bytes.writeUInt32LE(type, 0);
  const fields = [offset, BASE + offset, BASE + offset, inFile, inMemory, PAGE];
  for (const [index, field] of fields.entries()) bytes.writeBigUInt64LE(BigInt(field), 8 + 8 * index);
  return bytes;
}

function section(name: string, type: number, offset: number, size: number): Buffer {
  const bytes = Buffer.alloc(SIZE.section);
  bytes.writeUInt32LE(SECTIONS.join("\0").indexOf(name), 0);
  bytes.writeUInt32LE(type, 4);
  for (const [index, field] of [BASE + offset, offset, size].entries())
    bytes.writeBigUInt64LE(BigInt(field), 16 + 8 * index);
  return bytes;
}

function makeElf(): Buffer {
  const file = Buffer.alloc(TABLE + SECTIONS.length * SIZE.section);
  file.writeBigUInt64LE(64n, 32);
  file.writeBigUInt64LE(BigInt(TABLE), 40);
  file.writeUInt16LE(2, 56);
  file.writeUInt16LE(SECTIONS.length, 60);
  file.writeUInt16LE(SECTIONS.length - 1, 62);
  const end = PROGRAM + CONTENT.length;
  segment(1, DATA, end - DATA, end - DATA).copy(file, 64);
  segment(4, 0, 16, 16).copy(file, 64 + SIZE.segment);
  file.writeBigUInt64LE(BigInt(BASE + PROGRAM), DATA + 16);
  CONTENT.copy(file, PROGRAM);
  file.write(SECTIONS.join("\0"), NAMES);
  const sections = [
    section("", 0, 0, 0),
    section(".bss", 8, ZEROS, PAGE),
    section(".bun", 1, PROGRAM, CONTENT.length),
    section(".shstrtab", 3, NAMES, 0x100),
  ];
  Buffer.concat(sections).copy(file, TABLE);
  return file;
}

test("a file gets smaller by what was zeroed, and finds its program where that has moved to", () => {
  const file = makeElf();
  const compact = Buffer.from(compactElf(file));
  const place = compact.indexOf(CONTENT);
  expect(place).toBe(2 * PAGE);
  const table = Number(compact.readBigUInt64LE(40));
  const program = table + 2 * SIZE.section;
  expect(Number(compact.readBigUInt64LE(program + 24))).toBe(place);
  expect(compact.readBigUInt64LE(DATA + 16)).toBe(compact.readBigUInt64LE(program + 16));
});

test("a file in which the program's address stands twice, or nowhere, is refused", () => {
  const twice = makeElf();
  twice.writeBigUInt64LE(BigInt(BASE + PROGRAM), DATA + 64);
  expect(() => compactElf(twice)).toThrow("pointer to the program");
  const nowhere = makeElf();
  nowhere.fill(0, DATA, ZEROS);
  expect(() => compactElf(nowhere)).toThrow("pointer to the program");
});

test.each([
  ["the engine and the program", PROGRAM - 1, "between the engine and the program"],
  ["the program and its tables", PROGRAM + CONTENT.length, "behind the program"],
])("a byte between %s that nobody knows of is refused", (_where, place, message) => {
  const file = makeElf();
  file[place] = 1;
  expect(() => compactElf(file)).toThrow(message);
});

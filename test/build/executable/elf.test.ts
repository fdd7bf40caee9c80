// Tests how compactElf() removes the engine's zeroed memory from a Linux file. The file here is minimal: a pointer to
// the program, zeroed memory in the file, and the program after it.
import { expect, test } from "bun:test";
import { compactElf } from "../../../build/executable/elf-compaction.ts";

const PAGE = 0x1000;
const BASE = 0x400000;
const DATA = PAGE;
/** Start of the zeroed memory in the file. */
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

test("compactElf() removes zeroed memory and updates the program's new address", () => {
  const file = makeElf();
  const compact = Buffer.from(compactElf(file));
  const offset = compact.indexOf(CONTENT);
  expect(offset).toBe(2 * PAGE);
  const table = Number(compact.readBigUInt64LE(40));
  const program = table + 2 * SIZE.section;
  expect(Number(compact.readBigUInt64LE(program + 24))).toBe(offset);
  expect(compact.readBigUInt64LE(DATA + 16)).toBe(compact.readBigUInt64LE(program + 16));
});

test("compactElf() rejects a file that contains the program's address twice or not at all", () => {
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
])("compactElf() rejects an unknown byte between %s", (_where, offset, message) => {
  const file = makeElf();
  file[offset] = 1;
  expect(() => compactElf(file)).toThrow(message);
});

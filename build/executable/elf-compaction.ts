// Compacts rt's program for Linux, and adds the front. It removes 1.8 MB of zeros before rt's code, and up to a page after it.
//
// The bundler appends the program behind the engine's zeroed memory (.bss) in the same segment, so that memory becomes part of the
// file. Here the segment gets its original sizes back, and the program a separate segment at the same address. The front
// (build/executable/front.ts) follows it, in a segment that holds the entry point.
//
// Non-obvious:
// - The segment table has no free entry, so PT_NOTE and PT_PHDR are replaced. Loaders read PT_NOTE in libraries only, and PT_PHDR
//   only to find the address of a program that has no fixed one.
// - The engine cannot replace the program in such a file, as `rt build --compile` does. So the file ends with edits that restore
//   the engine's layout (platform/processes/engine-file.ts). The engine's table of sections stays in the file for it.
// - `strip` drops bytes that are in no section, such as the pointer to the program. So the section in front of it includes it.
import { ENGINE_MARK, type EngineEdits } from "../../platform/processes/engine-file.ts";
import type { Front } from "./front.ts";

const PT_LOAD = 1;
const PT_NOTE = 4;
const PT_PHDR = 6;
const SHT_PROGBITS = 1;
const SHT_NOBITS = 8;
const SHF_ALLOC_EXECINSTR = 6;
const SHF_TLS = 0x400;
const READABLE_EXECUTABLE = 5;
const READABLE_WRITABLE = 6;
const SMALLEST_PAGE = 0x1000; // bytes
/** Largest alignment of the tables behind the program. */
const LARGEST_ALIGNMENT = 16; // bytes
/** Alignment of the same tables in the engine's file. */
const ENGINE_ALIGNMENT = 8; // bytes
const POINTER_SIZE = 8; // bytes
const SIZE = { segment: 56, section: 64, symbol: 24 } as const; // bytes

/** Field offsets of 64-bit headers: of the file, a segment, a section and a symbol. */
const FILE = {
  entry: 24,
  segments: 32,
  sections: 40,
  segmentCount: 56,
  sectionCount: 60,
  nameSection: 62,
} as const;
const SEGMENT = { flags: 4, offset: 8, address: 16, physical: 24, fileSize: 32, memorySize: 40, align: 48 };
const SECTION = { type: 4, flags: 8, address: 16, offset: 24, size: 32, align: 48 } as const;
const SYMBOL = { address: 8 } as const;
const FRONT_NAME = ".front";

interface ElfHeader {
  /** Offset in the file. */
  readonly at: number;
  get(field: number): number;
  set(field: number, value: number): void;
}

function headerAt(view: DataView, at: number): ElfHeader {
  return {
    at,
    get: (field) => Number(view.getBigUint64(at + field, true)),
    set: (field, value) => view.setBigUint64(at + field, BigInt(value), true),
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function alignUp(value: number, alignment: number): number {
  return Math.ceil(value / alignment) * alignment;
}

function textAt(bytes: Uint8Array, start: number): string {
  return Buffer.from(bytes.subarray(start, bytes.indexOf(0, start))).toString("latin1");
}

/** The engine finds the program by an address in its data, which occurs once. Returns its offset. */
function redirect(view: DataView, start: number, end: number, from: number, to: number): number {
  const places = [];
  for (let at = alignUp(start, 8); at + 8 <= end; at += 8)
    if (view.getBigUint64(at, true) === BigInt(from)) places.push(at);
  if (places.length !== 1) throw new Error("The engine's pointer to the program is not as expected");
  view.setBigUint64(places[0]!, BigInt(to), true);
  return places[0]!;
}

interface LoadedRange {
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
  readonly align: number;
}

function writeSegment(
  view: DataView,
  at: number,
  { flags, offset, address, size, align }: LoadedRange,
): void {
  const segment = headerAt(view, at);
  view.setUint32(at, PT_LOAD, true);
  view.setUint32(at + SEGMENT.flags, flags, true);
  segment.set(SEGMENT.offset, offset);
  segment.set(SEGMENT.address, address);
  segment.set(SEGMENT.physical, address);
  segment.set(SEGMENT.fileSize, size);
  segment.set(SEGMENT.memorySize, size);
  segment.set(SEGMENT.align, align);
}

/**
 * @param bytes about 100 MB, changed in place
 * @returns the range to keep
 * @throws Error if the file does not have the bundler's layout
 */
export function compactElf(bytes: Uint8Array, front?: Front): Uint8Array {
  const view = viewOf(bytes);
  const head = headerAt(view, 0);
  const tableOf = (start: number, size: number, count: number) =>
    Array.from({ length: view.getUint16(count, true) }, (_, index) => headerAt(view, start + index * size));
  const segments = tableOf(head.get(FILE.segments), SIZE.segment, FILE.segmentCount);
  const sections = tableOf(head.get(FILE.sections), SIZE.section, FILE.sectionCount);
  const nameIndex = view.getUint16(FILE.nameSection, true);
  const names = sections[nameIndex]!;
  const nameOf = (section: ElfHeader) =>
    textAt(bytes, names.get(SECTION.offset) + view.getUint32(section.at, true));
  const find = (name: string) => sections.find((section) => nameOf(section) === name);
  const typeOf = (header: ElfHeader, field: number) => view.getUint32(header.at + field, true);

  const program = find(".bun");
  if (!program) throw new Error("The program has no section .bun");
  const [offset, address, size] = [SECTION.offset, SECTION.address, SECTION.size].map((field) =>
    program.get(field),
  ) as [number, number, number];
  const data = segments.find(
    (segment) =>
      typeOf(segment, 0) === PT_LOAD &&
      segment.get(SEGMENT.offset) <= offset &&
      offset + size <= segment.get(SEGMENT.offset) + segment.get(SEGMENT.fileSize),
  );
  const note = segments.findLast((segment) => typeOf(segment, 0) === PT_NOTE);
  const zeroed = sections.filter(
    (section) =>
      typeOf(section, SECTION.type) === SHT_NOBITS &&
      (section.get(SECTION.flags) & SHF_TLS) === 0 &&
      section.get(SECTION.address) < address,
  );
  if (!data || !note || note.at < data.at || zeroed.length === 0)
    throw new Error("The program's segments are not as expected");

  const alignment = data.get(SEGMENT.align);
  const zerosAt = Math.min(...zeroed.map((section) => section.get(SECTION.offset)));
  const memoryEnd = Math.max(
    ...zeroed.map((section) => section.get(SECTION.address) + section.get(SECTION.size)),
  );
  if (alignUp(memoryEnd, alignment) > address - (address % alignment))
    throw new Error("The program shares a page with the engine's memory");
  if (bytes.subarray(zerosAt, offset).some((byte) => byte !== 0))
    throw new Error("There is something between the engine and the program");

  // A segment's file offset and address must be congruent modulo the page size, up to 64 KB on arm64. Instead of padding the file, the
  // program moves within its page in memory.
  const newOffset = alignUp(zerosAt, SMALLEST_PAGE);
  const newAddress = address - (address % alignment) + (newOffset % alignment);
  if (offset <= newOffset) return bytes;
  const end = offset + size;
  const followers = sections.map((section) => section.get(SECTION.offset)).filter((start) => start >= end);
  const tail = Math.min(head.get(FILE.sections), ...followers);
  if (bytes.subarray(end, tail).some((byte) => byte !== 0))
    throw new Error("There is something behind the program that no section has");

  // Behind the program: the front, the names of sections, the table of sections, and what followed the program.
  const frontOffset = alignUp(newOffset + size, LARGEST_ALIGNMENT);
  const frontAddress = alignUp(newAddress + size, alignment) + (frontOffset % alignment);
  const namesOffset = frontOffset + (front?.size ?? 0);
  const oldNames = bytes.subarray(
    names.get(SECTION.offset),
    names.get(SECTION.offset) + names.get(SECTION.size),
  );
  const newNames = Buffer.concat([oldNames, Buffer.from(front ? `${FRONT_NAME}\0` : "")]);
  const tableOffset = alignUp(namesOffset + newNames.length, LARGEST_ALIGNMENT);
  const count = sections.length + (front ? 1 : 0);
  const newTail = alignUp(tableOffset + SIZE.section * count, LARGEST_ALIGNMENT);
  if (newTail > tail) throw new Error("The program has no room for the front");
  const from = alignUp(zerosAt, ENGINE_ALIGNMENT);
  const toEngine = (place: number) => place - tail + from;

  const environment = front ? addressOf("environ", bytes, find(".dynsym"), find(".dynstr")) : 0;
  const pointer = redirect(view, data.get(SEGMENT.offset), zerosAt, address, newAddress);
  const entry = head.get(FILE.entry);
  data.set(SEGMENT.fileSize, zerosAt - data.get(SEGMENT.offset));
  data.set(SEGMENT.memorySize, memoryEnd - data.get(SEGMENT.address));
  const segmentsEnd = segments.at(-1)!.at + SIZE.segment;
  const edits: [number, ...number[]][] = [
    [pointer, 0],
    [FILE.sections, toEngine(head.get(FILE.sections))],
    [FILE.entry, entry],
    [segments[0]!.at, ...wordsOf(bytes.subarray(segments[0]!.at, segmentsEnd))],
    [FILE.sectionCount, ...wordsOf(bytes.subarray(FILE.sectionCount, FILE.sectionCount + 8))],
  ];

  const table = Buffer.alloc(SIZE.section * count);
  table.set(bytes.subarray(sections[0]!.at, sections[0]!.at + SIZE.section * sections.length));
  const tableView = viewOf(table);
  for (const [index, section] of sections.entries()) {
    const own = headerAt(tableView, SIZE.section * index);
    const place = section.get(SECTION.offset);
    if (section === program) {
      own.set(SECTION.address, newAddress);
      own.set(SECTION.offset, newOffset);
      section.set(SECTION.address, data.get(SEGMENT.address) + pointer - data.get(SEGMENT.offset));
      section.set(SECTION.offset, pointer);
      section.set(SECTION.size, POINTER_SIZE);
    } else if (place >= tail) {
      own.set(SECTION.offset, place - tail + newTail);
      section.set(SECTION.offset, toEngine(place));
    } else if (place + section.get(SECTION.size) === pointer && typeOf(section, SECTION.type) !== SHT_NOBITS)
      own.set(SECTION.size, own.get(SECTION.size) + POINTER_SIZE);
  }
  const ownNames = headerAt(tableView, SIZE.section * nameIndex);
  ownNames.set(SECTION.offset, namesOffset);
  ownNames.set(SECTION.size, newNames.length);
  head.set(FILE.sections, tableOffset);
  view.setUint16(FILE.sectionCount, count, true);

  writeSegment(view, note.at, {
    flags: READABLE_WRITABLE,
    offset: newOffset,
    address: newAddress,
    size,
    align: alignment,
  });
  let frontBytes: Uint8Array = new Uint8Array();
  if (front) {
    const own = segments.find((segment) => typeOf(segment, 0) === PT_PHDR);
    if (!own) throw new Error("The program has no place for the front's segment");
    frontBytes = front.bytesFor(entry, environment);
    // Loaders expect segments in the order of their addresses.
    bytes.copyWithin(own.at, own.at + SIZE.segment, segmentsEnd);
    writeSegment(view, segmentsEnd - SIZE.segment, {
      flags: READABLE_EXECUTABLE,
      offset: frontOffset,
      address: frontAddress,
      size: front.size,
      align: alignment,
    });
    head.set(FILE.entry, frontAddress);
    const row = headerAt(tableView, SIZE.section * sections.length);
    tableView.setUint32(row.at, oldNames.length, true);
    tableView.setUint32(row.at + SECTION.type, SHT_PROGBITS, true);
    row.set(SECTION.flags, SHF_ALLOC_EXECINSTR);
    row.set(SECTION.address, frontAddress);
    row.set(SECTION.offset, frontOffset);
    row.set(SECTION.size, front.size);
    row.set(SECTION.align, LARGEST_ALIGNMENT);
  }

  const undoing = Buffer.from(
    ENGINE_MARK + JSON.stringify({ from, to: newTail, edits } satisfies EngineEdits),
  );
  bytes.copyWithin(newOffset, offset, end);
  bytes.fill(0, newOffset + size, newTail);
  bytes.copyWithin(newTail, tail);
  bytes.set(frontBytes, frontOffset);
  bytes.set(newNames, namesOffset);
  bytes.set(table, tableOffset);
  const length = bytes.length - tail + newTail;
  if (length + undoing.length > bytes.length) return Buffer.concat([bytes.subarray(0, length), undoing]);
  bytes.set(undoing, length);
  return bytes.subarray(0, length + undoing.length);
}

/** Returns the 8-byte words of a range, for the edits. */
function wordsOf(bytes: Uint8Array): number[] {
  const words = Array.from(new BigUint64Array(Uint8Array.from(bytes).buffer), Number);
  if (!words.every(Number.isSafeInteger)) throw new Error("A header cannot be restored");
  return words;
}

/** Returns the address of a variable that the program shares with libraries. */
function addressOf(name: string, bytes: Uint8Array, symbols?: ElfHeader, names?: ElfHeader): number {
  const view = viewOf(bytes);
  const [start = 0, size = 0] = [symbols?.get(SECTION.offset), symbols?.get(SECTION.size)];
  for (let at = start; names && at < start + size; at += SIZE.symbol)
    if (textAt(bytes, names.get(SECTION.offset) + view.getUint32(at, true)) === name)
      return headerAt(view, at).get(SYMBOL.address);
  throw new Error(`The program has no variable "${name}" for libraries`);
}

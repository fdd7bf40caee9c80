// Removes zeros from a Linux program: 1.8 MB before rt's code, and up to a page (64 KB on arm64) after it.
//
// The bundler appends the program behind the engine's zeroed memory (.bss) in the same segment, so that memory becomes part of the
// file. Here the segment gets its original sizes back, and the program a separate segment at the same address.
//
// The front (platform/native/linux/front) follows the program, in a segment of its own that holds the entry point.
//
// Non-obvious:
// - The segment table has no free entry, so PT_NOTE is replaced: loaders read it in libraries only. The front's segment
//   replaces PT_PHDR: loaders derive the address of a program from it, and this program has a fixed address.
// - `strip` drops what no section has. So the front has a section, in place of .comment, which has no other use, and the section in
//   front of the pointer to the program includes it.
// - The engine cannot replace the program in such a file, which `rt build --compile` needs. So the file ends with edits that restore
//   the engine's layout: see platform/processes/engine-file.ts.
import { ENGINE_MARK, type EngineEdits } from "../platform/processes/engine-file.ts";
import type { Front } from "./front.ts";

const PT_LOAD = 1;
const PT_NOTE = 4;
const PT_PHDR = 6;
const SHT_PROGBITS = 1;
const SHT_NOBITS = 8;
const SHF_TLS = 0x400;
const SHF_ALLOC_EXECINSTR = 6;
const READABLE_WRITABLE = 6;
const READABLE_EXECUTABLE = 5;
const SMALLEST_PAGE = 0x1000; // bytes
/** Largest alignment of the tables behind the program. */
const LARGEST_ALIGNMENT = 16; // bytes
/** Alignment of the same tables in the engine's file. */
const ENGINE_ALIGNMENT = 8; // bytes
const POINTER_SIZE = 8; // bytes

/** Field offsets of 64-bit headers: of the file, a segment (56 bytes each) and a section (64 bytes each). */
const FILE = {
  entry: 24,
  segments: 32,
  sections: 40,
  segmentCount: 56,
  sectionCount: 60,
  nameSection: 62,
} as const;
const SEGMENT = { flags: 4, offset: 8, address: 16, physical: 24, fileSize: 32, memorySize: 40, align: 48 };
const SECTION = {
  type: 4,
  flags: 8,
  address: 16,
  offset: 24,
  size: 32,
  link: 40,
  align: 48,
  entry: 56,
} as const;
const SIZE = { segment: 56, section: 64, symbol: 24 } as const;
const SYMBOL = { value: 8 } as const;
/** The section that becomes the front's, and its new name. */
const [REPLACED, FRONT_NAME] = [".comment", ".front\0\0"];

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

function alignUp(value: number, alignment: number): number {
  return Math.ceil(value / alignment) * alignment;
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

/** Returns the 8-byte words of a range, for the edits. */
function wordsOf(bytes: Uint8Array, start: number, end: number): (number | string)[] {
  const words = new BigUint64Array(Uint8Array.from(bytes.subarray(start, end)).buffer);
  return Array.from(words, (word) => (word <= Number.MAX_SAFE_INTEGER ? Number(word) : `${word}`));
}

/**
 * @param bytes about 100 MB, changed in place
 * @returns the range to keep
 * @throws Error if the file does not have the bundler's layout
 */
export function compactElf(bytes: Uint8Array, front?: Front): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = headerAt(view, 0);
  const tableOf = (start: number, size: number, count: number) =>
    Array.from({ length: view.getUint16(count, true) }, (_, index) => headerAt(view, start + index * size));
  const segments = tableOf(head.get(FILE.segments), SIZE.segment, FILE.segmentCount);
  const sections = tableOf(head.get(FILE.sections), SIZE.section, FILE.sectionCount);
  const names = sections[view.getUint16(FILE.nameSection, true)]!.get(SECTION.offset);
  const textAt = (start: number) =>
    Buffer.from(bytes.subarray(start, bytes.indexOf(0, start))).toString("latin1");
  const nameOf = (section: ElfHeader) => textAt(names + view.getUint32(section.at, true));
  const typeOf = (header: ElfHeader, field: number) => view.getUint32(header.at + field, true);

  /** The address of a variable that the program exports. */
  const addressOf = (name: string) => {
    const [symbols, texts] = [".dynsym", ".dynstr"].map((each) =>
      sections.find((section) => nameOf(section) === each),
    );
    if (!symbols || !texts) throw new Error("The program exports nothing");
    const [start, end] = [
      symbols.get(SECTION.offset),
      symbols.get(SECTION.offset) + symbols.get(SECTION.size),
    ];
    for (let at = start; at < end; at += SIZE.symbol)
      if (textAt(texts.get(SECTION.offset) + view.getUint32(at, true)) === name)
        return headerAt(view, at).get(SYMBOL.value);
    throw new Error(`The program does not export ${name}`);
  };

  const program = sections.find((section) => nameOf(section) === ".bun");
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
  const saved = offset - newOffset;
  if (saved <= 0) return bytes;
  const end = offset + size;
  const followers = sections.map((section) => section.get(SECTION.offset)).filter((start) => start >= end);
  const tail = Math.min(head.get(FILE.sections), ...followers);
  if (bytes.subarray(end, tail).some((byte) => byte !== 0))
    throw new Error("There is something behind the program that no section has");
  const frontOffset = alignUp(newOffset + size, LARGEST_ALIGNMENT);
  const frontAddress = alignUp(newAddress + size, alignment) + (frontOffset % alignment);
  const newTail = alignUp(frontOffset + (front?.size ?? 0), LARGEST_ALIGNMENT);
  if (newTail > tail) throw new Error("There is no room for the front");
  /** Returns by how much an offset moves down. */
  const shift = (place: number) => (place < end ? saved : tail - newTail);
  const segmentsAt = head.get(FILE.segments);
  const segmentsEnd = segmentsAt + SIZE.segment * segments.length;
  const engineEntry = head.get(FILE.entry);
  const environment = front ? addressOf("environ") : 0;
  const pointer = redirect(view, data.get(SEGMENT.offset), zerosAt, address, newAddress);
  program.set(SECTION.address, newAddress);
  data.set(SEGMENT.fileSize, zerosAt - data.get(SEGMENT.offset));
  data.set(SEGMENT.memorySize, memoryEnd - data.get(SEGMENT.address));
  const engineSegments = wordsOf(bytes, segmentsAt, segmentsEnd);
  view.setUint32(note.at, PT_LOAD, true);
  view.setUint32(note.at + SEGMENT.flags, READABLE_WRITABLE, true);
  note.set(SEGMENT.offset, newOffset);
  note.set(SEGMENT.address, newAddress);
  note.set(SEGMENT.physical, newAddress);
  note.set(SEGMENT.fileSize, size);
  note.set(SEGMENT.memorySize, size);
  note.set(SEGMENT.align, alignment);
  for (const section of sections) {
    const place = section.get(SECTION.offset);
    if (place >= offset) section.set(SECTION.offset, place - shift(place));
  }
  head.set(FILE.sections, head.get(FILE.sections) - shift(tail));

  // Computed before the headers change, in offsets of the file without the program.
  const from = alignUp(zerosAt, ENGINE_ALIGNMENT);
  const removed = newTail - from;
  const table = head.get(FILE.sections) - removed;
  const edits: EngineEdits["edits"][number][] = [
    [segmentsAt, ...engineSegments],
    [pointer, 0],
    [FILE.sections, table],
    [FILE.entry, engineEntry],
  ];
  for (const [index, section] of sections.entries()) {
    const at = table + 64 * index;
    const place = section.get(SECTION.offset);
    if (section === program) {
      const pointerAddress = data.get(SEGMENT.address) + pointer - data.get(SEGMENT.offset);
      edits.push([at + SECTION.address, pointerAddress, pointer, POINTER_SIZE]);
    } else if (place >= newTail) edits.push([at + SECTION.offset, place - removed]);
  }
  const inEngine = (section: ElfHeader) => table + section.at - sections[0]!.at;
  const before = sections.find(
    (each) =>
      typeOf(each, SECTION.type) !== SHT_NOBITS &&
      each.get(SECTION.size) > 0 &&
      each.get(SECTION.offset) + each.get(SECTION.size) === pointer,
  );
  if (!before) throw new Error("The engine's pointer to the program follows no section");
  edits.push([inEngine(before) + SECTION.size, before.get(SECTION.size)]);
  before.set(SECTION.size, before.get(SECTION.size) + POINTER_SIZE);
  if (front) {
    const replaced = sections.find((each) => nameOf(each) === REPLACED);
    const own = segments.find((segment) => typeOf(segment, 0) === PT_PHDR);
    if (!replaced || !own) throw new Error("The file has no place for the front");
    const place = names + view.getUint32(replaced.at, true);
    const words = wordsOf(bytes, replaced.at, replaced.at + SIZE.section);
    words[SECTION.offset / 8] = replaced.get(SECTION.offset) - removed;
    edits.push([inEngine(replaced), ...words]);
    edits.push([place - shift(tail) - removed, ...wordsOf(bytes, place, place + FRONT_NAME.length)]);
    Buffer.from(FRONT_NAME).copy(bytes, place);
    view.setUint32(replaced.at + SECTION.type, SHT_PROGBITS, true);
    for (const [field, value] of [
      [SECTION.flags, SHF_ALLOC_EXECINSTR],
      [SECTION.address, frontAddress],
      [SECTION.offset, frontOffset],
      [SECTION.size, front.size],
      [SECTION.link, 0],
      [SECTION.align, LARGEST_ALIGNMENT],
      [SECTION.entry, 0],
    ] as const)
      replaced.set(field, value);
    // Loaders expect segments in the order of their addresses, so the last row is the front's.
    bytes.copyWithin(own.at, own.at + SIZE.segment, segmentsEnd);
    const row = headerAt(view, segmentsEnd - SIZE.segment);
    view.setUint32(row.at, PT_LOAD, true);
    view.setUint32(row.at + SEGMENT.flags, READABLE_EXECUTABLE, true);
    for (const [field, value] of [
      [SEGMENT.offset, frontOffset],
      [SEGMENT.address, frontAddress],
      [SEGMENT.physical, frontAddress],
      [SEGMENT.fileSize, front.size],
      [SEGMENT.memorySize, front.size],
      [SEGMENT.align, alignment],
    ] as const)
      row.set(field, value);
    head.set(FILE.entry, frontAddress);
  }
  const undoing = Buffer.from(
    ENGINE_MARK + JSON.stringify({ from, to: newTail, edits } satisfies EngineEdits),
  );

  bytes.copyWithin(newOffset, offset, end);
  bytes.fill(0, newOffset + size, newTail);
  bytes.copyWithin(newTail, tail);
  if (front) bytes.set(front.bytesFor(BigInt(engineEntry), BigInt(environment)), frontOffset);
  const length = bytes.length - shift(tail);
  if (length + undoing.length > bytes.length) return Buffer.concat([bytes.subarray(0, length), undoing]);
  bytes.set(undoing, length);
  return bytes.subarray(0, length + undoing.length);
}

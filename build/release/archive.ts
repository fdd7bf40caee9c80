// Reproducible archives: tar, zip and ar with the same bytes for the same content. The system's own programs would add times, owners
// and directory order.
//
// Every file belongs to root and has one time: not 1970, which tar warns about, and not before 1980, which zip cannot express.
import { crc32 } from "node:zlib";

export interface ArchiveFile {
  /** With forward slashes, without a leading one. Directories are derived from the paths. */
  readonly path: string;
  readonly content: Uint8Array | string;
  readonly isExecutable?: boolean;
}

/** Seconds since 1970: the start of 2026, unless SOURCE_DATE_EPOCH is set. */
const TIME = Number(process.env.SOURCE_DATE_EPOCH ?? Date.UTC(2026, 0, 1) / 1000);

/** Compression level of libdeflate: 9 for releases, lower for tests. */
export type Effort = 0 | 1 | 9;

export function gzip(bytes: Uint8Array, effort: Effort): Uint8Array {
  const packed = Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>, { library: "libdeflate", level: effort });
  packed.fill(0, 4, 8); // no time
  packed[9] = 255; // no system in particular
  return packed;
}

function bytesOf({ content }: ArchiveFile): Uint8Array {
  return typeof content === "string" ? Buffer.from(content) : content;
}

function inOrder(files: readonly ArchiveFile[]): ArchiveFile[] {
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns each directory once, before its content. */
function foldersOf(files: readonly ArchiveFile[]): string[] {
  const folders = files.flatMap(({ path }) =>
    path.split("/").flatMap((_, index, parts) => (index === 0 ? [] : `${parts.slice(0, index).join("/")}/`)),
  );
  return [...new Set(folders)].toSorted();
}

const TAR_BLOCK = 512;

function tarHeader(path: string, size: number, mode: number): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`The name is too long for a tar archive: ${path}`);
  const header = Buffer.alloc(TAR_BLOCK);
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, "0")}\0`;
  const fields: ReadonlyArray<readonly [number, string]> = [
    [0, path],
    [100, octal(mode, 8)],
    [108, octal(0, 8)],
    [116, octal(0, 8)],
    [124, octal(size, 12)],
    [136, octal(TIME, 12)],
    [148, " ".repeat(8)], // the checksum counts its own field as spaces
    [156, path.endsWith("/") ? "5" : "0"],
    [257, "ustar\x0000"],
    [265, "root"],
    [297, "root"],
  ];
  for (const [at, text] of fields) header.write(text, at);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

function padding(length: number, block: number): Buffer {
  return Buffer.alloc((block - (length % block)) % block);
}

/** @param root prefix ".." that gets a separate entry, as dpkg requires */
export function tar(files: readonly ArchiveFile[], root = ""): Uint8Array {
  const folders = [...(root ? [""] : []), ...foldersOf(files)];
  const parts = folders.map((path) => tarHeader(root + path, 0, 0o755));
  for (const file of inOrder(files)) {
    const content = bytesOf(file);
    parts.push(tarHeader(root + file.path, content.length, file.isExecutable ? 0o755 : 0o644));
    parts.push(Buffer.from(content.buffer, content.byteOffset, content.length));
    parts.push(padding(content.length, TAR_BLOCK));
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * TAR_BLOCK)]);
}

const ZIP = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 } as const;
const DEFLATED = 8;
const UTF8_NAMES = 0x800;
const MADE_BY_UNIX = 3 << 8;

/** Returns date and time in FAT format, in two-second steps. */
function dosTime(): [time: number, date: number] {
  const at = new Date(TIME * 1000);
  return [
    (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
    ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
  ];
}

/** Concatenates `u16` and `u32` values. */
function record(...fields: ReadonlyArray<readonly [2 | 4, number]>): Buffer {
  const bytes = Buffer.alloc(fields.reduce((total, [size]) => total + size, 0));
  let at = 0;
  for (const [size, value] of fields) at = bytes.writeUIntLE(value, at, size);
  return bytes;
}

export function zip(files: readonly ArchiveFile[], effort: Effort): Uint8Array {
  const [time, date] = dosTime();
  const local: Uint8Array[] = [];
  const central: Uint8Array[] = [];
  let offset = 0;
  for (const file of inOrder(files)) {
    const content = bytesOf(file);
    const packed = Bun.deflateSync(content as Uint8Array<ArrayBuffer>, {
      library: "libdeflate",
      level: effort,
    });
    const name = Buffer.from(file.path);
    const common = record(
      [2, 20], // the version needed to extract: 2.0
      [2, UTF8_NAMES],
      [2, DEFLATED],
      [2, time],
      [2, date],
      [4, crc32(content)],
      [4, packed.length],
      [4, content.length],
      [2, name.length],
      [2, 0],
    );
    const mode = (0o100000 | (file.isExecutable ? 0o755 : 0o644)) * 0x10000;
    local.push(record([4, ZIP.local]), common, name, packed);
    central.push(record([4, ZIP.central], [2, MADE_BY_UNIX | 20]), common);
    central.push(record([2, 0], [2, 0], [2, 0], [4, mode], [4, offset]), name);
    offset += 4 + common.length + name.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const count = files.length;
  const end = record(
    [4, ZIP.end],
    [2, 0],
    [2, 0],
    [2, count],
    [2, count],
    [4, directory.length],
    [4, offset],
    [2, 0],
  );
  return Buffer.concat([...local, directory, end]);
}

/** The archive format of Debian packages. */
export function ar(files: readonly ArchiveFile[]): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from("!<arch>\n")];
  for (const file of files) {
    const content = bytesOf(file);
    const fields = [
      file.path.padEnd(16),
      String(TIME).padEnd(12),
      "0".padEnd(6),
      "0".padEnd(6),
      "100644".padEnd(8),
      String(content.length).padEnd(10),
    ];
    parts.push(Buffer.from(`${fields.join("")}\`\n`), content, Buffer.alloc(content.length % 2, "\n"));
  }
  return Buffer.concat(parts);
}

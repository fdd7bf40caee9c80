// Extracts the executable from a release: a .tar.gz or .zip archive, or the executable itself. Streams it in chunks.
//
// Invariants:
// - Only a regular file is extracted, verified by the archive's checksums; a link or device is rejected. Names in the archive are
//   never used as paths (path traversal).
// - No archive is decompressed in memory as a whole, and at most MAX_SIZE bytes are (decompression bomb).
// - Any other input ends with a UserError; the caller then discards the chunks that were already written.
import { crc32, createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from "node:zlib";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";

type ChunkSink = (bytes: Uint8Array) => void;

const NAMES = ["rt", "rt.exe"];
const MAX_SIZE = 512 * 1024 * 1024; // bytes
const TAR_BLOCK = 512;
const ZIP = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50 } as const;
const ZIP_END = 22; // bytes
const STORED = 0;
const DEFLATED = 8;
const UNIX = 3;
const [KIND, LINK] = [0o170000, 0o120000];

/** A defect of an archive. The message continues a sentence that starts with the archive's name. */
class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

const TOO_LARGE = `contains more than ${MAX_SIZE / 1024 / 1024} MB`;
const TRUNCATED = "cannot be unpacked: it is truncated";

function isProgram(path: string): boolean {
  return NAMES.includes(path.split("/").at(-1)!);
}

/**
 * @param name the file's name, for messages
 * @throws UserError if the archive contains no executable or is damaged; also any error of `write`
 */
export async function extractProgram(name: string, bytes: Uint8Array, write: ChunkSink): Promise<void> {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b;
  if (!isGzip && !isZip) return write(archive);
  try {
    if (await (isGzip ? unpackTar(archive, write) : unpackZip(archive, write))) return;
  } catch (error) {
    if (error instanceof UserError) throw error;
    const fault = error instanceof ArchiveError ? error.message : "cannot be unpacked";
    throw new UserError(`${printable(name)} ${fault}`, "nothing was changed; download it again");
  }
  throw new UserError(`${printable(name)} does not contain rt`, "pass a release archive");
}

/** Decompresses up to MAX_SIZE bytes. */
async function* inflate(packed: Buffer, stream: Gunzip | InflateRaw): AsyncGenerator<Buffer> {
  let remaining = MAX_SIZE;
  stream.end(packed);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    remaining -= chunk.length;
    if (remaining < 0) throw new ArchiveError(TOO_LARGE);
    yield chunk;
  }
}

function textAt(bytes: Buffer, start: number, length: number): string {
  return bytes.toString("utf8", start, start + length).replace(/\0.*$/s, "");
}

interface TarEntry {
  readonly name: string;
  readonly size: number;
  readonly isFile: boolean;
}

/** Returns undefined for the zero block at the end. */
function readHeader(block: Buffer): TarEntry | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  // The checksum treats its own field as spaces.
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  const size = /^ *([0-7]+)[ \0]*$/.exec(block.toString("latin1", 124, 136))?.[1];
  if (Number.parseInt(textAt(block, 148, 8), 8) !== sum || size === undefined)
    throw new ArchiveError("cannot be unpacked: its tar archive is damaged");
  const kind = block[156]!;
  return { name: textAt(block, 0, 100), size: Number.parseInt(size, 8), isFile: kind === 0 || kind === 0x30 };
}

/** @returns true if the archive contains the executable */
async function unpackTar(archive: Buffer, write: ChunkSink): Promise<boolean> {
  let isFound = false;
  let isOver = false;
  let header = Buffer.alloc(0);
  let content = 0; // remaining bytes of the entry's content
  let padding = 0;
  let isWanted = false;
  // Reads to the end of the stream, where gzip's checksum is.
  for await (const chunk of inflate(archive, createGunzip())) {
    for (let at = 0; at < chunk.length && !isOver;) {
      const end = Math.min(chunk.length, at + (content || padding || TAR_BLOCK - header.length));
      const piece = chunk.subarray(at, end);
      at = end;
      if (content > 0) {
        content -= piece.length;
        if (isWanted) write(piece);
      } else if (padding > 0) padding -= piece.length;
      else {
        header = Buffer.concat([header, piece]);
        if (header.length < TAR_BLOCK) continue;
        const entry = readHeader(header);
        header = Buffer.alloc(0);
        isOver = entry === undefined;
        if (!entry) continue;
        isWanted = isProgram(entry.name) && !isFound;
        if (isWanted && !entry.isFile) throw new ArchiveError("contains a link or device named rt");
        isFound ||= isWanted;
        content = entry.size;
        padding = (TAR_BLOCK - (entry.size % TAR_BLOCK)) % TAR_BLOCK;
      }
    }
  }
  if (header.length > 0 || content > 0 || padding > 0) throw new ArchiveError(TRUNCATED);
  return isFound;
}

async function unpackZip(zip: Buffer, write: ChunkSink): Promise<boolean> {
  const end = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  if (end < 0 || end + ZIP_END + zip.readUInt16LE(end + 20) !== zip.length) throw new ArchiveError(TRUNCATED);
  let at = zip.readUInt32LE(end + 16);
  for (let remaining = zip.readUInt16LE(end + 10); remaining > 0; remaining -= 1) {
    if (zip.readUInt32LE(at) !== ZIP.central) throw new RangeError("no entry");
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) =>
      zip.readUInt16LE(at + field),
    ) as [number, number, number];
    const name = textAt(zip, at + 46, nameLength);
    if (isProgram(name)) {
      await unpackEntry(zip, at, name, write);
      return true;
    }
    at += 46 + nameLength + extraLength + commentLength;
  }
  return false;
}

async function unpackEntry(zip: Buffer, entry: number, name: string, write: ChunkSink): Promise<void> {
  const [method, sum, packedSize, size, attributes, local] = [
    zip.readUInt16LE(entry + 10),
    ...[16, 20, 24, 38, 42].map((field) => zip.readUInt32LE(entry + field)),
  ] as [number, number, number, number, number, number];
  if (zip[entry + 5] === UNIX && ((attributes >>> 16) & KIND) === LINK)
    throw new ArchiveError("contains a link or device named rt");
  if (size > MAX_SIZE) throw new ArchiveError(TOO_LARGE);
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const isNamed = textAt(zip, local + 30, zip.readUInt16LE(local + 26)) === name;
  if (zip.readUInt32LE(local) !== ZIP.local || !isNamed) throw new RangeError("another entry");
  if (start + packedSize > zip.length) throw new ArchiveError(TRUNCATED);
  const packed = zip.subarray(start, start + packedSize);
  let actual = 0;
  let length = 0;
  for await (const chunk of chunksOf(packed, method)) {
    length += chunk.length;
    if (length > size) break;
    actual = crc32(chunk, actual);
    write(chunk);
  }
  if (length !== size || actual !== sum)
    throw new ArchiveError("cannot be unpacked: its zip archive is damaged");
}

function chunksOf(packed: Buffer, method: number): AsyncIterable<Buffer> | Iterable<Buffer> {
  if (method === STORED) return [packed];
  if (method === DEFLATED) return inflate(packed, createInflateRaw());
  throw new RangeError("another method");
}

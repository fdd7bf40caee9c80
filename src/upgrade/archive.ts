// Finds the program in what was downloaded: a .tar.gz or .zip as releases have them, or the program itself.
import { gunzipSync, inflateRawSync } from "node:zlib";
import { Failure } from "../failure.ts";

const NAMES = ["rt", "rt.exe"];
const TAR_BLOCK = 512;
const ZIP = { central: 0x02014b50, end: 0x06054b50 } as const;
const STORED = 0;
const DEFLATED = 8;

function isProgram(path: string): boolean {
  return NAMES.includes(path.split("/").at(-1)!);
}

/** @param name what it was called: for messages */
export function extractProgram(name: string, bytes: Uint8Array): Uint8Array {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b;
  if (!isGzip && !isZip) return bytes;
  let program;
  try {
    const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    program = isGzip ? findInTar(gunzipSync(archive)) : findInZip(archive);
  } catch {
    throw new Failure(`${name} cannot be unpacked`, "nothing was changed; download it again");
  }
  if (!program) throw new Failure(`There is no rt in ${name}`, "name the archive of a release");
  return program;
}

function textAt(bytes: Buffer, start: number, length: number): string {
  return bytes.toString("utf8", start, start + length).replace(/\0.*$/s, "");
}

function findInTar(tar: Buffer): Uint8Array | undefined {
  for (let at = 0; at + TAR_BLOCK <= tar.length;) {
    const name = textAt(tar, at, 100);
    if (name === "") return undefined;
    const size = Number.parseInt(textAt(tar, at + 124, 12), 8);
    const kind = textAt(tar, at + 156, 1);
    const start = at + TAR_BLOCK;
    if (start + size > tar.length) throw new RangeError("cut off");
    if ((kind === "0" || kind === "") && isProgram(name)) return tar.subarray(start, start + size);
    at = start + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
  return undefined;
}

function findInZip(zip: Buffer): Uint8Array | undefined {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(ZIP.end);
  const end = zip.lastIndexOf(signature);
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (zip.readUInt32LE(at) !== ZIP.central) throw new RangeError("no entry");
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) =>
      zip.readUInt16LE(at + field),
    ) as [number, number, number];
    if (isProgram(textAt(zip, at + 46, nameLength))) return readEntry(zip, at);
    at += 46 + nameLength + extraLength + commentLength;
  }
  return undefined;
}

function readEntry(zip: Buffer, entry: number): Uint8Array {
  const method = zip.readUInt16LE(entry + 10);
  const packedSize = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const packed = zip.subarray(start, start + packedSize);
  if (method === STORED) return packed;
  if (method === DEFLATED) return inflateRawSync(packed);
  throw new RangeError("another method");
}

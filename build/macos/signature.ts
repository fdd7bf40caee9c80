// Signs a Mach-O program ad hoc, on any system, as `codesign --sign -` does.
//
// Non-obvious: an ad-hoc signature has no identity. It consists of page hashes, which Apple Silicon requires for every
// program. The bundler's signature is not sufficient: its x64 program has the engine's stale signature, and its arm64 program
// is named "a.out". With either, the keychain would show its dialog again after each update. Here the program has a fixed
// identifier, which is its designated requirement.
//
// Layout (big-endian): a super blob with an index of blobs. These are the code directory (hashes), the requirements, and an empty
// CMS signature. The signature is the end of the file, in the segment __LINKEDIT.
import { createHash } from "node:crypto";

const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const HEADER_SIZE = 32;
const CPU_ARM64 = 0x0100000c;

const MAGIC = {
  superBlob: 0xfade0cc0,
  codeDirectory: 0xfade0c02,
  requirements: 0xfade0c01,
  requirement: 0xfade0c00,
  cms: 0xfade0b01,
} as const;

const SLOT = { codeDirectory: 0, requirements: 2, cms: 0x10000 } as const;

/** Code directory version with an executable segment, which the kernel requires for a JIT. */
const VERSION = 0x20400;
const CODE_DIRECTORY_SIZE = 88;
const CS_ADHOC = 2;
const SHA256 = { type: 2, size: 32 } as const;
const MAIN_BINARY = 1;
const DESIGNATED = 3;
const EXPRESSION = 1;
const OP_IDENTIFIER = 2;

/** Special slots count down from -1: the Info.plist (absent) and the requirements. */
const SPECIAL_SLOTS = 2;

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value, 4 * index));
  return bytes;
}

function blob(magic: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(magic, content.length + 8), content]);
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** `designated => identifier "<identifier>"` */
function requirementsOf(identifier: string): Buffer {
  const padded = Buffer.alloc(Math.ceil(identifier.length / 4) * 4);
  padded.write(identifier, "ascii");
  const requirement = blob(MAGIC.requirement, u32(EXPRESSION, OP_IDENTIFIER, identifier.length), padded);
  return blob(MAGIC.requirements, u32(1, DESIGNATED, 20), requirement);
}

interface MachOImage {
  readonly linkedit: { readonly command: number; readonly offset: number };
  readonly text: { readonly offset: number; readonly size: number };
  readonly signature: { readonly command: number; readonly offset: number };
  readonly pageSize: number;
}

function readProgram(file: Buffer): MachOImage {
  const count = file.readUInt32LE(16);
  const found: {
    linkedit?: MachOImage["linkedit"];
    text?: MachOImage["text"];
    signature?: MachOImage["signature"];
  } = {};
  for (let at = HEADER_SIZE, index = 0; index < count; index += 1, at += file.readUInt32LE(at + 4)) {
    const kind = file.readUInt32LE(at);
    if (kind === LC_CODE_SIGNATURE) found.signature = { command: at, offset: file.readUInt32LE(at + 8) };
    if (kind !== LC_SEGMENT_64) continue;
    const name = file.toString("latin1", at + 8, at + 24).replace(/\0+$/, "");
    const offset = Number(file.readBigUInt64LE(at + 40));
    if (name === "__LINKEDIT") found.linkedit = { command: at, offset };
    if (name === "__TEXT") found.text = { offset, size: Number(file.readBigUInt64LE(at + 48)) };
  }
  const { linkedit, text, signature } = found;
  if (!linkedit || !text || !signature)
    throw new Error("This is no Mach-O program that has a place for a signature");
  return { linkedit, text, signature, pageSize: file.readUInt32LE(4) === CPU_ARM64 ? 0x4000 : 0x1000 };
}

function codeDirectory(
  code: Buffer,
  identifier: string,
  requirements: Buffer,
  { text, pageSize }: MachOImage,
): Buffer {
  const name = Buffer.from(`${identifier}\0`, "ascii");
  const pages = Math.ceil(code.length / pageSize);
  const hashesAt = CODE_DIRECTORY_SIZE + name.length + SPECIAL_SLOTS * SHA256.size;
  const header = Buffer.concat([
    u32(VERSION, CS_ADHOC, hashesAt, CODE_DIRECTORY_SIZE, SPECIAL_SLOTS, pages, code.length),
    Buffer.from([SHA256.size, SHA256.type, 0, Math.log2(pageSize)]),
    u32(0, 0, 0, 0), // spare, scatter, team, spare
    u32(0, 0), // the code's limit where it exceeds 32 bits
    u32(0, text.offset, 0, text.size, 0, MAIN_BINARY), // 64 bits each
  ]);
  const hashes = Array.from({ length: pages }, (_, page) =>
    sha256(code.subarray(page * pageSize, (page + 1) * pageSize)),
  );
  const special = [sha256(requirements), Buffer.alloc(SHA256.size)];
  return blob(MAGIC.codeDirectory, header, name, ...special, ...hashes);
}

function superBlob(entries: readonly (readonly [slot: number, blob: Buffer])[]): Buffer {
  let offset = 12 + 8 * entries.length;
  const index = entries.map(([slot, { length }]) => {
    const entry = u32(slot, offset);
    offset += length;
    return entry;
  });
  return blob(MAGIC.superBlob, u32(entries.length), ...index, ...entries.map(([, each]) => each));
}

/**
 * @param file a thin 64-bit program that ends with a signature, valid or stale, which is replaced
 * @param identifier the program's identifier, such as `org.example.tool`
 * @throws Error for any other file
 */
export function signAdHoc(file: Uint8Array, identifier: string): Uint8Array {
  if (file.length < HEADER_SIZE || Buffer.from(file.buffer, file.byteOffset).readUInt32LE(0) !== 0xfeedfacf)
    throw new Error("This is no 64-bit Mach-O program");
  const program = readProgram(Buffer.from(file.buffer, file.byteOffset, file.length));
  const { signature, linkedit, pageSize } = program;
  const code = Buffer.from(file.subarray(0, signature.offset));
  const requirements = requirementsOf(identifier);
  // The commands are themselves on a signed page: the sizes have to be in them before anything is hashed.
  const size = superBlob(blobsOf(code, identifier, requirements, program)).length;
  const end = signature.offset + size;
  code.writeUInt32LE(size, signature.command + 12);
  code.writeBigUInt64LE(BigInt(end - linkedit.offset), linkedit.command + 48);
  const inMemory = Math.ceil((end - linkedit.offset) / pageSize) * pageSize;
  code.writeBigUInt64LE(BigInt(inMemory), linkedit.command + 32);
  return Buffer.concat([code, superBlob(blobsOf(code, identifier, requirements, program))]);
}

function blobsOf(code: Buffer, identifier: string, requirements: Buffer, program: MachOImage) {
  return [
    [SLOT.codeDirectory, codeDirectory(code, identifier, requirements, program)],
    [SLOT.requirements, requirements],
    [SLOT.cms, blob(MAGIC.cms)],
  ] as const;
}

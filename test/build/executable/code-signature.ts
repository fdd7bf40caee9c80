// Reads the signature of a Mach-O program like macOS, and returns all problems. Written from the format (cs_blobs.h,
// loader.h), not from build/macos/signature.ts, so that both do not have the same bug.

export interface CodeSignature {
  readonly problems: readonly string[];
  readonly identifier?: string;
  /** The designated requirement, as `codesign -d -r-` shows it. */
  readonly requirement?: string;
  readonly isAdHoc?: boolean;
  readonly pages?: number;
}

interface Segment {
  readonly name: string;
  readonly memorySize: number;
  readonly offset: number;
  readonly size: number;
}

const EMPTY_HASH = Buffer.alloc(32);

function hashOf(bytes: Uint8Array): Buffer {
  return Buffer.from(new Bun.CryptoHasher("sha256").update(bytes).digest());
}

function readCommands(file: Buffer) {
  const segments: Segment[] = [];
  const signatures: Array<{ offset: number; size: number }> = [];
  let at = 32;
  for (let left = file.readUInt32LE(16); left > 0; left -= 1) {
    const command = file.readUInt32LE(at);
    if (command === 0x19)
      segments.push({
        name: file
          .subarray(at + 8, at + 24)
          .toString("latin1")
          .replaceAll("\0", ""),
        memorySize: Number(file.readBigUInt64LE(at + 32)),
        offset: Number(file.readBigUInt64LE(at + 40)),
        size: Number(file.readBigUInt64LE(at + 48)),
      });
    if (command === 0x1d)
      signatures.push({ offset: file.readUInt32LE(at + 8), size: file.readUInt32LE(at + 12) });
    at += file.readUInt32LE(at + 4);
  }
  return { segments, signatures };
}

/** Reads `identifier "x"`; other expressions are unsupported. */
function readRequirement(blob: Buffer): string | undefined {
  const [magic, length, count, kind, offset] = [0, 4, 8, 12, 16].map((field) => blob.readUInt32BE(field));
  if (magic !== 0xfade0c01 || length !== blob.length || count !== 1 || kind !== 3) return undefined;
  const expression = blob.subarray(offset);
  const [ownMagic, ownLength, form, operation, size] = [0, 4, 8, 12, 16].map((field) =>
    expression.readUInt32BE(field),
  );
  if (ownMagic !== 0xfade0c00 || ownLength !== expression.length || form !== 1 || operation !== 2)
    return undefined;
  if (20 + Math.ceil(size! / 4) * 4 !== ownLength) return undefined;
  return `designated => identifier "${expression.toString("latin1", 20, 20 + size!)}"`;
}

export function verifySignature(file: Buffer): CodeSignature {
  const problems: string[] = [];
  const expect = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem);
  };
  const { segments, signatures } = readCommands(file);
  if (signatures.length !== 1) return { problems: ["there is not exactly one LC_CODE_SIGNATURE"] };
  const { offset, size } = signatures[0]!;
  expect(offset % 16 === 0, "the signature is not aligned");
  expect(offset + size === file.length, "the signature does not end with the file");
  const last = segments.at(-1)!;
  expect(last.name === "__LINKEDIT", "the last segment is not __LINKEDIT");
  expect(last.offset + last.size === file.length, "__LINKEDIT does not end with the file");
  expect(last.memorySize >= last.size, "__LINKEDIT is smaller in memory than in the file");
  expect(last.memorySize % 0x1000 === 0, "__LINKEDIT does not fill its pages");
  for (const [index, segment] of segments.entries()) {
    const before = segments.slice(0, index).findLast((each) => each.size > 0);
    if (segment.size > 0 && before)
      expect(segment.offset >= before.offset + before.size, `${segment.name} overlaps ${before.name}`);
  }

  const blob = file.subarray(offset, offset + size);
  expect(blob.readUInt32BE(0) === 0xfade0cc0, "it is no super blob");
  expect(blob.readUInt32BE(4) === size, "the super blob is not as long as the signature");
  const blobs = new Map<number, Buffer>();
  let end = 12 + 8 * blob.readUInt32BE(8);
  for (let index = 0; index < blob.readUInt32BE(8); index += 1) {
    const slot = blob.readUInt32BE(12 + 8 * index);
    const start = blob.readUInt32BE(16 + 8 * index);
    expect(start === end, `the blob of slot ${slot} is not where the one before ends`);
    const length = blob.readUInt32BE(start + 4);
    end = start + length;
    blobs.set(slot, blob.subarray(start, end));
  }
  expect(end === size, "the blobs do not fill the signature");

  const directory = blobs.get(0);
  if (!directory || directory.readUInt32BE(0) !== 0xfade0c02)
    return { problems: [...problems, "there is no code directory"] };
  const field = (at: number) => directory.readUInt32BE(at);
  const [version, flags, hashes, name, specials, pages, limit] = [8, 12, 16, 20, 24, 28, 32].map(field) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [hashSize, hashType, platform, pageShift] = directory.subarray(36, 40);
  const pageSize = 2 ** pageShift!;
  expect(version >= 0x20400, "the code directory does not know the executable segment");
  expect(hashSize === 32 && hashType === 2, "the hashes are not SHA-256");
  expect(platform === 0, "it claims to be the system's");
  expect(limit === offset, "not all code in front of the signature is signed");
  expect(pages === Math.ceil(limit / pageSize), "the number of pages is wrong");
  expect(hashes + pages * 32 <= directory.length, "the code directory is too short");
  const text = segments.find((segment) => segment.name === "__TEXT")!;
  expect(Number(directory.readBigUInt64BE(64)) === text.offset, "the executable segment starts elsewhere");
  expect(Number(directory.readBigUInt64BE(72)) === text.size, "the executable segment has another size");
  expect((directory.readBigUInt64BE(80) & 1n) === 1n, "it is not the main program");

  let wrong = 0;
  for (let page = 0; page < pages; page += 1) {
    const actual = hashOf(file.subarray(page * pageSize, Math.min((page + 1) * pageSize, limit)));
    const expected = directory.subarray(hashes + 32 * page, hashes + 32 * (page + 1));
    if (!actual.equals(expected)) wrong += 1;
  }
  expect(wrong === 0, `${wrong} pages have another hash`);
  for (let slot = 1; slot <= specials; slot += 1) {
    const expected = directory.subarray(hashes - 32 * slot, hashes - 32 * (slot - 1));
    const special = blobs.get(slot);
    expect((special ? hashOf(special) : EMPTY_HASH).equals(expected), `special slot -${slot} is wrong`);
  }
  for (const slot of blobs.keys())
    expect(slot === 0 || slot === 0x10000 || slot <= specials, `slot ${slot} is not signed`);

  const requirements = blobs.get(2);
  const requirement = requirements && readRequirement(requirements);
  expect(requirement !== undefined, "it does not say what it is known by");
  const identifier = directory.toString("latin1", name, directory.indexOf(0, name));
  return { problems, identifier, requirement, isAdHoc: (flags & 2) !== 0, pages };
}

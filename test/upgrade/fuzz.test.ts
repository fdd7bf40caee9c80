// Fuzzes the parsers of upgrade downloads: each rejects a damaged input with a Failure, or accepts what the original
// contained. See test/support/fuzz.ts for longer runs.
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { gzip, tar, zip } from "../../build/release/archive.ts";
import { signContent } from "../../build/release/minisign.ts";
import { extractProgram } from "../../src/cli/upgrade/archive.ts";
import { checkSignature } from "../../src/cli/upgrade/minisign.ts";
import { describeFormat, readFormat } from "../../src/cli/upgrade/executable-format.ts";
import { fuzz, mutate } from "../support/fuzz.ts";
import { NEXT_KEY, TEST_KEY } from "../support/programs/release-key.ts";
import { beginMacho, beginPe } from "./release.ts";

/** Each fuzz run is one test, however long it is. */
const TIMEOUT = 3_600_000;

const PROGRAM = Buffer.from(Array.from({ length: 1500 }, (_, index) => (index * 7) % 251));
const FILES = [
  { path: "rt-1/README.md", content: "read me ".repeat(40) },
  { path: "rt-1/rt", content: PROGRAM, isExecutable: true },
  { path: "rt-1/z", content: "" },
];
const TAR = tar(FILES);
const ZIP = zip(FILES, 1);

/** Returns the program, or undefined if the archive is rejected; any error but a Failure is a bug. */
async function extract(name: string, bytes: Uint8Array): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  try {
    await extractProgram(name, bytes, (chunk) => void chunks.push(chunk));
  } catch (error) {
    if ((error as Error).name === "UserError") return undefined;
    throw error;
  }
  return Buffer.concat(chunks);
}

function isArchive(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes).toString("latin1", 0, 2);
  return start === "PK" || start === "\x1f\x8b";
}

test("extractProgram extracts the program from valid archives", async () => {
  expect(await extract("x.tar.gz", gzip(TAR, 1))).toEqual(PROGRAM);
  expect(await extract("x.zip", ZIP)).toEqual(PROGRAM);
});

test(
  "extractProgram() extracts no other program from a damaged compressed archive",
  async () => {
    const check = async (bytes: Buffer) => {
      if (!isArchive(bytes)) return;
      const program = await extract("x.tar.gz", bytes);
      if (program && !program.equals(PROGRAM)) throw new Error("accepts another program");
    };
    await fuzz("tar.gz", { inputs: [gzip(TAR, 1)], check });
  },
  TIMEOUT,
);

/** Repairs the checksums of most headers, so that damage gets past them. */
function withSums(archive: Buffer, at: number): Buffer {
  for (; at + 512 <= archive.length; at += 512) {
    if (archive.toString("latin1", at + 257, at + 262) !== "ustar") continue;
    archive.fill(" ", at + 148, at + 156);
    const sum = archive.subarray(at, at + 512).reduce((total, byte) => total + byte, 0);
    archive.write(`${sum.toString(8).padStart(6, "0")}\0 `, at + 148);
  }
  return archive;
}

test(
  "extractProgram() returns only bytes of the archive from a damaged tar with valid checksums",
  async () => {
    const make = (random: Parameters<typeof mutate>[0]) => {
      const damaged = mutate(random, [TAR]);
      return gzip(random.below(4) > 0 ? withSums(damaged, 0) : damaged, 1);
    };
    const check = async (bytes: Buffer) => {
      const program = await extract("x.tar.gz", bytes);
      // The extracted bytes are a part of the decompressed archive, also after the mutation.
      if (program && !Buffer.from(Bun.gunzipSync(bytes as Uint8Array<ArrayBuffer>)).includes(program))
        throw new Error("hands on what is not in the archive");
    };
    await fuzz("tar", { inputs: [], make, check });
  },
  TIMEOUT,
);

test(
  "extractProgram() extracts no other program from a damaged zip archive",
  async () => {
    const check = async (bytes: Buffer) => {
      if (!isArchive(bytes)) return;
      const program = await extract("x.zip", bytes);
      if (program && !program.equals(PROGRAM)) throw new Error("accepts another program");
    };
    await fuzz("zip", { inputs: [ZIP], check });
  },
  TIMEOUT,
);

test(
  "signatures",
  async () => {
    const sums = Buffer.from(`${"0".repeat(64)}  rt\n`);
    const keys = [TEST_KEY.publicKey, NEXT_KEY.publicKey];
    const comments = ["rt 1.2.3", "rt 1.2.4"];
    const inputs = comments.flatMap((comment) =>
      [TEST_KEY, NEXT_KEY].map(({ secretKey }) => Buffer.from(signContent(sums, comment, secretKey))),
    );
    const signed = (text: string) => text.replaceAll("\r", "").split("\n").slice(1).join("\n").trimEnd();
    const good = new Set(inputs.map((input) => signed(input.toString())));
    for (const input of inputs) expect(checkSignature(sums, input, keys)).toMatchObject({ isValid: true });
    const check = (bytes: Buffer) => {
      const verdict = checkSignature(sums, bytes, keys);
      if (
        verdict.isValid &&
        !(comments.includes(verdict.comment) && good.has(signed(bytes.toString("latin1"))))
      )
        throw new Error("accepts what nobody signed");
      const other = checkSignature(Buffer.from("another"), bytes, keys);
      if (other.isValid) throw new Error("accepts the signature of another file");
    };
    await fuzz("minisign", { inputs, check });
  },
  TIMEOUT,
);

test(
  "programs",
  async () => {
    const elf = (await readFile(process.execPath)).subarray(0, 2048);
    const check = (bytes: Buffer) => {
      const format = readFormat(bytes);
      if (!format) return;
      const description = describeFormat(format);
      const isKnown = /^(?:Linux|macOS|Windows) on (?:x64|arm64|machine \d+)(?: with (?:musl|glibc))?$/;
      if (!isKnown.test(description)) throw new Error(`says "${description}"`);
    };
    await fuzz("program", { inputs: [elf, beginMacho(), beginPe()], check });
  },
  TIMEOUT,
);

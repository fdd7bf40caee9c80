// Tests the pure functions of platform/secrets/windows: the structure CREDENTIALW, the encoding of values, the table
// of errors, and the quoting of command lines.
import { expect, test } from "bun:test";
import { ptr, read, toArrayBuffer, type Pointer } from "bun:ffi";
import { splitRemedy } from "../../platform/secrets/contract/secret-provider.ts";
import { toProviderFailure } from "../../platform/secrets/windows/failures.ts";
import { encodeCredential, takeCredential, toUtf8 } from "../../platform/secrets/windows/credential.ts";
import { quoteForBatch, quoteForProgram } from "../../platform/processes/windows/command-line.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("encodeCredential() lays out CREDENTIALW, and takeCredential() reads it back", () => {
  const credential = { target: "sérvice/näme", userName: "näme", comment: "rt: UTF-8", blob: bytes("välue") };
  const { structure, buffers } = encodeCredential(credential, "enterprise");
  const view = new DataView(structure.buffer);
  expect(structure).toHaveLength(80);
  expect([0, 4, 32, 48, 52].map((offset) => view.getUint32(offset, true))).toEqual([0, 1, 6, 3, 0]);
  expect(buffers.at(-1)).toBe(credential.blob);
  const target = read.ptr(ptr(structure), 8) as Pointer;
  expect(Buffer.from(toArrayBuffer(target, 0, 26)).toString("utf16le")).toBe("sérvice/näme\0");
  const blob = credential.blob.slice();
  expect(takeCredential(ptr(structure))).toEqual({ ...credential, blob });
});

test("takeCredential() zeroizes the value in Windows' memory", () => {
  const blob = bytes("value");
  const { structure } = encodeCredential({ target: "t", userName: "u", comment: "", blob }, "local");
  expect(takeCredential(ptr(structure))?.blob).toEqual(bytes("value"));
  expect(blob).toEqual(new Uint8Array(5));
  new DataView(structure.buffer).setUint32(4, 2, true); // CRED_TYPE_DOMAIN_PASSWORD
  blob.set(bytes("value"));
  expect(takeCredential(ptr(structure))).toBe(null);
  expect(blob).toEqual(new Uint8Array(5));
});

test("takeCredential() reads an entry without value, user name and comment", () => {
  const empty = { target: "t", userName: "", comment: "", blob: new Uint8Array() };
  const { structure } = encodeCredential(empty, "local");
  structure.fill(0, 16, 24);
  structure.fill(0, 72, 80);
  expect(takeCredential(ptr(structure))).toEqual(empty);
});

test("toUtf8() recognizes UTF-8 and UTF-16", () => {
  const cases: readonly [input: Buffer, expected: string][] = [
    [Buffer.from(""), ""],
    [Buffer.from("plain"), "plain"],
    [Buffer.from("pässwörd 🔑"), "pässwörd 🔑"],
    [Buffer.from("plain", "utf16le"), "plain"],
    [Buffer.from("x", "utf16le"), "x"],
    [Buffer.from("pässwörd €", "utf16le"), "pässwörd €"],
    [Buffer.from("日本語", "utf16le"), "日本語"],
    [Buffer.from("🔑", "utf16le"), "🔑"],
    [Buffer.from("ab\0c"), "ab\0c"],
    [Buffer.from("aaaa"), "aaaa"],
  ];
  for (const [input, expected] of cases) {
    expect(new TextDecoder("utf-8", { fatal: true }).decode(toUtf8(new Uint8Array(input)))).toBe(expected);
  }
  for (const unknown of [
    [0xff, 0, 0xff],
    [0, 0xd8, 0x61, 0],
    [0, 0xdc],
    [0x61, 0, 0x3d, 0xd8],
  ]) {
    expect([...toUtf8(Uint8Array.from(unknown))]).toEqual(unknown);
  }
  const wide = new Uint8Array(Buffer.from("secret", "utf16le"));
  toUtf8(wide);
  expect(wide.every((byte) => byte === 0)).toBe(true);
});

test("toProviderFailure() maps each Windows error to a kind and a remedy", () => {
  const kinds: readonly [code: number, kind: string][] = [
    [5, "DENIED"],
    [87, "TOO_LARGE"],
    [1004, "PLATFORM"],
    [1058, "UNAVAILABLE"],
    [1062, "UNAVAILABLE"],
    [1223, "CANCELED"],
    [1312, "UNAVAILABLE"],
    [1460, "TIMEOUT"],
    [1722, "UNAVAILABLE"],
    [1783, "TOO_LARGE"],
    [2202, "PLATFORM"],
    [31337, "PLATFORM"],
  ];
  for (const [code, kind] of kinds) {
    const failure = toProviderFailure(code, () => false);
    expect([failure.kind as string, failure.native]).toEqual([kind, code]);
    expect(splitRemedy(failure.message)[1]).toBeString();
  }
  const disabled = toProviderFailure(1058, () => false).message;
  expect(toProviderFailure(1722, () => true).message).toBe(disabled);
  expect(toProviderFailure(5, () => true).message).not.toBe(disabled);
});

test("quoteForProgram() quotes arguments so that a program splits them unchanged", () => {
  expect(quoteForProgram(["rt", "a b", "", 'd"e', "x\\", "a\\b", 'q\\"', "t \\", "*", "%X%"])).toBe(
    'rt "a b" "" "d\\"e" x\\ a\\b "q\\\\\\"" "t \\\\" * %X%',
  );
});

test("quoteForBatch() quotes arguments so that cmd.exe does not interpret them", () => {
  const line = quoteForBatch("cmd.exe", "C:\\my tools\\x.cmd", ["a&b", 'say "hi"', "%PATH%", "c\\"]);
  expect(line).toBe(
    '"cmd.exe" /e:on /v:off /d /s /c ""C:\\my tools\\x.cmd" "a&b" "say ""hi""" "%%cd:~,%PATH%%cd:~,%" "c\\\\""',
  );
  expect(quoteForBatch("cmd.exe", "x.cmd", ["a\nb"])).toBe(undefined);
});

// Encodes the REAPI Directory message without a library.
//
// Invariants: the bytes equal those of @bufbuild/protobuf; a test compares them.
//
// Non-obvious: the library takes 40 ms for a thousand files in a new process, this encoder 1 ms. Bytes are Latin-1
// characters, because string concatenation is the fastest way to build them.
import type { Digest } from "./digest.ts";

/** Names are well-formed and sorted. */
export interface DirectoryParts {
  readonly files: readonly (readonly [string, { readonly digest: Digest; readonly isExecutable: boolean }])[];
  readonly directories: readonly (readonly [string, Digest])[];
  readonly links: readonly (readonly [string, target: string])[];
}

/** Tags of length-delimited fields: `field * 8 + 2`, as a character. */
const [FILES, DIRECTORIES, LINKS] = ["\x0a", "\x12", "\x1a"];
const NAME = "\x0a";
const TARGET = "\x12";
const NODE_DIGEST = "\x12";
const HASH = "\x0a";
/** Tags of number fields: `field * 8`. */
const SIZE = "\x10";
const IS_EXECUTABLE = "\x20\x01";

/** Empty fields and zeros are omitted, as the encoding requires. */
export function encodeDirectory({ files, directories, links }: DirectoryParts): Uint8Array {
  let whole = "";
  for (const [name, { digest, isExecutable }] of files)
    whole += field(FILES, nodeOf(name, digest) + (isExecutable ? IS_EXECUTABLE : ""));
  for (const [name, digest] of directories) whole += field(DIRECTORIES, nodeOf(name, digest));
  for (const [name, target] of links)
    whole += field(LINKS, field(NAME, bytesOf(name)) + field(TARGET, bytesOf(target)));
  return Buffer.from(whole, "latin1");
}

function nodeOf(name: string, { hash, size }: Digest): string {
  const digest = field(HASH, hash) + (size === 0 ? "" : SIZE + varint(size));
  return field(NAME, bytesOf(name)) + field(NODE_DIGEST, digest);
}

function field(tag: string | undefined, content: string): string {
  return content === "" ? "" : tag + varint(content.length) + content;
}

/** As UTF-8. */
function bytesOf(text: string): string {
  return IS_ASCII.test(text) ? text : Buffer.from(text).toString("latin1");
}

const IS_ASCII = /^[\0-\x7f]*$/;

/** Also for values above 32 bits. */
function varint(value: number): string {
  let text = "";
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) text += String.fromCharCode((rest % 128) + 128);
  return text + String.fromCharCode(rest);
}

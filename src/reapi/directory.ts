// The message of a directory, written byte by byte.
//
// Contract: the bytes are those that @bufbuild/protobuf makes of the same message; a test compares. It is the one message of
// which a tree has thousands of parts, and the library, which reads descriptors while it writes, takes 40 ms of a fresh
// process for a thousand files, and this 1.
//
// Surprising: bytes are characters here, each below 256, since nothing is put together as quickly as a string is.
import type { Digest } from "./digest.ts";

/** Names are well-formed, and in order. */
export interface DirectoryParts {
  readonly files: readonly (readonly [string, { readonly digest: Digest; readonly isExecutable: boolean }])[];
  readonly directories: readonly (readonly [string, Digest])[];
  readonly links: readonly (readonly [string, target: string])[];
}

/** Of fields with a length in front of their content: `field * 8 + 2`, as a character. */
const [FILES, DIRECTORIES, LINKS] = ["\x0a", "\x12", "\x1a"];
const NAME = "\x0a";
const TARGET = "\x12";
const NODE_DIGEST = "\x12";
const HASH = "\x0a";
/** Of numbers: `field * 8`. */
const SIZE = "\x10";
const IS_EXECUTABLE = "\x20\x01";

/** A field that is empty, or 0, is left out, as the encoding has it. */
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

/** In UTF-8. */
function bytesOf(text: string): string {
  return IS_ASCII.test(text) ? text : Buffer.from(text).toString("latin1");
}

const IS_ASCII = /^[\0-\x7f]*$/;

/** Beyond 32 bits too. */
function varint(value: number): string {
  let text = "";
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) text += String.fromCharCode((rest % 128) + 128);
  return text + String.fromCharCode(rest);
}

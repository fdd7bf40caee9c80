// Detects whether the outputs of a script contain words of the root's path, or the whole path, also encoded (JSON,
// URL, HTML, hex, base64).
//
// Non-obvious:
// - A word counts if it is delimited, because tools build names from paths ("-home-me-shop"). A false positive costs
//   one run.
// - A word inside a longer word does not count: most path words are short and would match in every text. If the check
//   is inconclusive, the word counts.
import { closeSync, openSync, readSync } from "node:fs";
import { variantsOf } from "../../redaction/value-variants.ts";
import type { CacheEntry, StoredEntry } from "./entry.ts";
import {
  toPortableEntry,
  toPortablePath,
  REPOSITORY_NAME,
  withoutRepositoryKind,
  wordsOf,
} from "./relocation.ts";
import type { CacheStore } from "../store/cache-store.ts";

const CHUNK = 4 << 20;

/** Returns the portable entry, with the words of the root's path that its outputs contain. @param log output log */
export function toStoredEntry(
  entry: CacheEntry,
  root: string,
  log: Uint8Array,
  store: CacheStore,
): StoredEntry {
  const mentioned = findRootPathWords(entry, root, log, store, [REPOSITORY_NAME]);
  const isRepositoryShown = mentioned.includes(REPOSITORY_NAME);
  const conditions = isRepositoryShown ? entry.conditions : withoutRepositoryKind(entry.conditions);
  const rootWords = mentioned.filter((word) => word !== REPOSITORY_NAME);
  return toPortableEntry({ ...entry, conditions }, root, rootWords);
}

/** Returns the words that the outputs contain. @param log output log @param more additional words */
function findRootPathWords(
  { outputs }: CacheEntry,
  root: string,
  log: Uint8Array,
  store: CacheStore,
  more: readonly string[] = [],
): string[] {
  const detector = new RootPathDetector(root, more);
  detector.scan(log);
  for (const output of outputs) {
    detector.scan(Buffer.from(toPortablePath(output.path, root)));
    if (output.kind === "link") detector.scan(Buffer.from(output.target));
    if (output.kind === "file") detector.scanFile(store.blobPath(output.hash));
  }
  return [...detector.found];
}

export class RootPathDetector {
  readonly #root: string;
  /** Words that have not been found. */
  readonly #words: Map<string, Buffer>;
  #forms: Buffer[];
  readonly #overlap: number;
  readonly found = new Set<string>();

  constructor(root: string, more: readonly string[] = []) {
    this.#root = root;
    this.#words = new Map([...wordsOf(root), ...more].map((word) => [word, Buffer.from(word)]));
    const forms = [root, encodeURI(root), JSON.stringify(root).slice(1, -1)].map((each) => Buffer.from(each));
    this.#forms = [...forms, ...variantsOf(Buffer.from(root)).map(({ bytes }) => Buffer.from(bytes))];
    this.#overlap = Math.max(...this.#forms.map(({ length }) => length)) + MAX_ESCAPE_LENGTH;
  }

  scan(bytes: Uint8Array): void {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (const [word, wanted] of this.#words) {
      if (!hasWord(buffer, wanted)) continue;
      this.found.add(word);
      this.#words.delete(word);
    }
    if (!this.#forms.some((form) => buffer.includes(form))) return;
    this.found.add(this.#root);
    this.#forms = [];
  }

  scanFile(path: string): void {
    const descriptor = openSync(path, "r");
    try {
      const buffer = Buffer.allocUnsafe(CHUNK + this.#overlap);
      for (let kept = 0; this.#words.size > 0 || this.#forms.length > 0;) {
        const count = readSync(descriptor, buffer, kept, CHUNK, null);
        if (count === 0) return;
        const filled = kept + count;
        this.scan(buffer.subarray(0, filled));
        // A word at the chunk border counts as delimited, which can only cause a false positive.
        const rest = Math.min(this.#overlap, filled);
        buffer.copyWithin(0, filled - rest, filled);
        kept = rest;
      }
    } finally {
      closeSync(descriptor);
    }
  }
}

/**
 * Bytes before a word that are checked for the end of an escape sequence; the length of the longest colour sequence.
 */
const MAX_ESCAPE_LENGTH = 48;

function hasWord(text: Buffer, word: Buffer): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isOfWord(text[at + word.length]) && (!isOfWord(text[at - 1]) || isBehindEscape(text, at)))
      return true;
  return false;
}

/**
 * Returns whether a byte is an ASCII letter or digit. Other bytes delimit words: quotation marks, or letters of
 * scripts without spaces.
 */
function isOfWord(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122);
}

/**
 * Escape sequences that end in a letter or digit: `ESC [ 1 m` in its spellings, `
 * `, `%2F`.
 */
const ESCAPES = [
  /\[[0-?]*[ -/]*[@-~]$/, // CSI sequence of a terminal
  /(?:\x1b|\\(?:e|033|x1b|u001b))[ -/]*[0-~]$/i, // other terminal sequences
  /\\(?:[a-z]|[0-7]{1,3}|x[\da-f]{1,2}|u[\da-f]{4}|U[\da-f]{8})$/i,
  /%[\da-f]{2}$/i,
];

function isBehindEscape(text: Buffer, at: number): boolean {
  const before = text.toString("latin1", Math.max(0, at - MAX_ESCAPE_LENGTH), at);
  return ESCAPES.some((escape) => escape.test(before));
}

// Detects whether the outputs of a script contain the root's path, or a value of the user such as HOME.
//
// Non-obvious:
// - The root's path is also found in encodings such as JSON or base64, and as a name ("-home-me-shop").
// - A path of one word (/app) counts only if it is delimited, because such words occur by chance.
import { closeSync, openSync, readSync } from "node:fs";
import { variantsOf } from "../../redaction/value-variants.ts";
import { hashBytes } from "../store/file-hash-cache.ts";
import { type CacheEntry, type Mention, OUTPUT, ROOT_MENTION, type StoredEntry } from "./entry.ts";
import { REPOSITORY_NAME, toPortableEntry, withoutRepositoryKind } from "../relocation/relocation.ts";
import { isBelow, toPortablePath } from "../relocation/stored-path.ts";
import { type OutputLog, replacePath } from "./output-log.ts";
import { userFolderOf, type UserFolders } from "../relocation/user-folders.ts";
import { isColored, MIN_SOUGHT } from "../key/environment.ts";
import type { CacheStore } from "../store/cache-store.ts";

const CHUNK = 4 << 20;

/** Values that differ for other checkouts and users. */
export interface OwnValues {
  readonly root: string;
  readonly folders: UserFolders;
  /** Variables that the script has and that do not count. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Returns the stored form of an entry, with the mentions in its outputs. */
export function toStoredEntry(
  entry: CacheEntry,
  own: OwnValues,
  log: OutputLog,
  store: CacheStore,
): StoredEntry {
  const { root, folders } = own;
  const detector = new MentionDetector(own);
  detector.scanLog(log);
  for (const output of entry.outputs) {
    const path = toPortablePath(output.path, root);
    detector.scan(Buffer.from(path), path);
    if (output.kind === "link") detector.scan(Buffer.from(output.target), path);
    if (output.kind === "file") detector.scanFile(store.blobPath(output.hash), path);
  }
  const { mentions, isRepositoryShown } = detector;
  const conditions = isRepositoryShown ? entry.conditions : withoutRepositoryKind(entry.conditions);
  const stored = toPortableEntry({ ...entry, conditions }, root, folders, mentions);
  return isColored(own.variables) ? { ...stored, isColored: true } : stored;
}

/** Returns the first mention that is not valid for these values. */
export function findForeignMention(mentioned: readonly Mention[], own: OwnValues): Mention | undefined {
  return mentioned.find(([name, , hash]) => {
    if (name === ROOT_MENTION) return hashBytes(own.root) !== hash;
    // The name is untrusted: `constructor` is a property of each object.
    return !Object.hasOwn(own.variables, name) || hashBytes(own.variables[name]!) !== hash;
  });
}

interface SoughtValue {
  readonly name: string;
  readonly value: string;
  readonly forms: readonly Buffer[];
  readonly isDelimited: boolean;
  /** Whether the output of the script is not searched. */
  readonly isOfFiles?: boolean;
}

const COLORS = "FORCE_COLOR";
const REPOSITORY_WORD = Buffer.from(REPOSITORY_NAME);

export class MentionDetector {
  /** Values that have not been found. */
  #sought: readonly SoughtValue[];
  readonly #root: string;
  readonly #overlap: number;
  readonly #found = new Map<string, Mention>();
  isRepositoryShown = false;

  constructor({ root, folders, variables }: OwnValues) {
    this.#root = root;
    if (root === "/") this.#found.set(root, [ROOT_MENTION, OUTPUT, hashBytes(root)]);
    const sought = root === "/" ? [] : [soughtValue(ROOT_MENTION, root, formsOf(root))];
    for (const [name, value] of Object.entries(variables)) {
      if (value.length < MIN_SOUGHT) continue;
      // Tools print the path without links, too, and PATH as a list.
      const folder = userFolderOf(name, folders) ?? value;
      const listed = name === "PATH" ? [value.replaceAll(":", "\n"), value.replaceAll(":", '","')] : [];
      const forms = [value, folder, encodeURI(value), encodeURI(folder), inJson(value), ...listed];
      sought.push(soughtValue(name, value, [...new Set(forms)]));
    }
    // An output file with colours is valid only where colours are set in the same way.
    if (isColored(variables))
      sought.push({ ...soughtValue(COLORS, variables[COLORS]!, ["\x1b["]), isOfFiles: true });
    this.#sought = sought;
    this.#overlap =
      Math.max(16, ...sought.flatMap(({ forms }) => forms.map(({ length }) => length))) + MAX_ESCAPE_LENGTH;
  }

  get mentions(): Mention[] {
    return [...this.#found.values()];
  }

  /** A replay replaces the path of the project in the output, so it is not a mention where that is possible. */
  scanLog(log: OutputLog): void {
    const bytes = log.bytes();
    if (!bytes.includes(this.#root)) return this.scan(bytes, OUTPUT);
    const replaced = Buffer.concat(replacePath(log.chunks, this.#root, "\0").map((chunk) => chunk.bytes));
    const isReplaced = ({ name, value }: SoughtValue) => name === ROOT_MENTION || isBelow(this.#root, value);
    this.scan(replaced, OUTPUT, isReplaced);
    this.scan(bytes, OUTPUT, (each) => !isReplaced(each));
  }

  /** @param isMeant selects the values that are searched */
  scan(bytes: Uint8Array, file: string, isMeant: (value: SoughtValue) => boolean = () => true): void {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.isRepositoryShown ||= hasWord(buffer, REPOSITORY_WORD);
    const found = this.#sought.filter(
      (each) =>
        isMeant(each) &&
        !(each.isOfFiles && file === OUTPUT) &&
        each.forms.some((form) => (each.isDelimited ? hasWord(buffer, form) : buffer.includes(form))),
    );
    if (found.length === 0) return;
    for (const { name, value } of found) this.#found.set(name, [name, file, hashBytes(value)]);
    this.#sought = this.#sought.filter((each) => !found.includes(each));
  }

  scanFile(path: string, file: string): void {
    const descriptor = openSync(path, "r");
    try {
      const buffer = Buffer.allocUnsafe(CHUNK + this.#overlap);
      for (let kept = 0; this.#sought.length > 0 || !this.isRepositoryShown;) {
        const count = readSync(descriptor, buffer, kept, CHUNK, null);
        if (count === 0) return;
        const filled = kept + count;
        this.scan(buffer.subarray(0, filled), file);
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

function soughtValue(name: string, value: string, forms: readonly string[] | readonly Buffer[]): SoughtValue {
  const isDelimited = /^\/[^/]*$/.test(value);
  return { name, value, forms: forms.map((form) => Buffer.from(form as string)), isDelimited };
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The path, its encodings, and the names that tools make of it: `/home/me` as `home-me`. */
function formsOf(root: string): Buffer[] {
  const words = root.split(/[/\\]/).filter((each) => each !== "");
  const names = words.length < 2 ? [] : ["-", "_", ".", "+", "%"].map((separator) => words.join(separator));
  const texts = new Set([root, encodeURI(root), inJson(root), ...names]);
  return [
    ...[...texts].map((each) => Buffer.from(each)),
    ...variantsOf(Buffer.from(root)).map(({ bytes }) => Buffer.from(bytes)),
  ];
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

/** Escape sequences that end in a letter or digit: `ESC [ 1 m` in its spellings, `\n`, `%2F`. */
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

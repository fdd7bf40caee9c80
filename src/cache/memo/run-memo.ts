// Memoizes a whole run: if every stat fingerprint matches, the next equal run replays its hits without planning,
// cache keys or entries.
//
// Invariants:
// - The memo counts only while all files that planning read are unchanged. Each part counts only while its own paths
//   are.
// - A damaged, foreign or missing memo is empty.
//
// Non-obvious:
// - Rows and paths are binary, not JSON: a thousand packages have about 15,000 rows, which native code reads by
//   address.
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  FINGERPRINT_WORDS,
  type StatFingerprintReader,
} from "../../../platform/files/contract/stat-fingerprint.ts";
import { makePrivate } from "../../../platform/files/private-file.ts";
import { stamps } from "../../../platform/files/stat-fingerprint.ts";
import { FOLLOWS, type FingerprintRow, WHOLE } from "./path-observations.ts";
import type { CacheStore } from "../store/cache-store.ts";

/** Increased when the file format changes. */
const FORMAT_VERSION = 3;
/** Memos of one store; the oldest are deleted. */
const MAX_MEMOS = 8;
/** Bytes. */
const MAX_MEMO_SIZE = 64 << 20;
/** Words of a row: flags, offset of the path, fingerprint. */
const ROW_WORDS = 2 + FINGERPRINT_WORDS;

/** The JSON text after rows and paths. */
interface MemoText<All, Part> {
  readonly all: All;
  /** Number of leading rows that the whole run depends on. */
  readonly common: number;
  /** Null if a part is not memoized. */
  readonly parts: readonly ({ readonly part: Part; readonly rows: readonly number[] } | null)[];
}

/** A memo that was read from the store. */
export class RunMemo<All, Part> {
  readonly #text: MemoText<All, Part>;
  readonly #rows: Uint32Array;
  readonly #reader: StatFingerprintReader;
  /** Referenced as long as the reader has its address. */
  readonly #paths: Uint8Array;
  /** Per row: 0 unchecked, 1 unchanged, 2 changed. */
  #verdicts: Uint8Array | undefined;

  constructor(
    text: MemoText<All, Part>,
    rows: Uint32Array,
    paths: Uint8Array,
    reader: StatFingerprintReader,
  ) {
    [this.#text, this.#rows, this.#paths, this.#reader] = [text, rows, paths, reader];
    this.#verdicts = new Uint8Array(rows.length / ROW_WORDS);
  }

  get all(): All {
    return this.#text.all;
  }

  /** Returns whether the common rows are unchanged. */
  isCurrent(): boolean {
    for (let row = 0; row < this.#text.common; row += 1) if (!this.#isUnchanged(row)) return false;
    return true;
  }

  /** Returns the memoized part if its rows are unchanged; undefined otherwise. */
  partAt(index: number): Part | undefined {
    const cached = this.#text.parts[index];
    return cached?.rows.every((row) => this.#isUnchanged(row)) ? cached.part : undefined;
  }

  /** Turns caching of verdicts off, because files are about to change. */
  end(): void {
    this.#verdicts = undefined;
  }

  #isUnchanged(row: number): boolean {
    const cached = this.#verdicts?.[row];
    if (cached) return cached === 1;
    const isUnchanged = this.#compare(row * ROW_WORDS);
    if (this.#verdicts) this.#verdicts[row] = isUnchanged ? 1 : 2;
    return isUnchanged;
  }

  #compare(start: number): boolean {
    const rows = this.#rows;
    const how = rows[start]!;
    const now = this.#reader.take(rows[start + 1]!, (how & FOLLOWS) !== 0);
    if ((how & WHOLE) === 0) return now[0] === rows[start + 2];
    for (let word = 0; word < FINGERPRINT_WORDS; word += 1)
      if (now[word] !== rows[start + 2 + word]) return false;
    return true;
  }

  copyCommonRows(): FingerprintRow[] {
    return [...Array(this.#text.common).keys()].map((row) => this.#copyRow(row));
  }

  /** Copies one part; null if it is not memoized. */
  copyPart(index: number): { readonly part: Part; readonly rows: readonly FingerprintRow[] } | null {
    const cached = this.#text.parts[index];
    return cached ? { part: cached.part, rows: cached.rows.map((row) => this.#copyRow(row)) } : null;
  }

  #copyRow(row: number): FingerprintRow {
    const [how, at, ...fingerprint] = this.#rows.subarray(row * ROW_WORDS, (row + 1) * ROW_WORDS);
    const path = decoder.decode(this.#paths.subarray(at, this.#paths.indexOf(0, at)));
    return { path, how: how!, fingerprint: Uint32Array.from(fingerprint) };
  }
}

const decoder = new TextDecoder();

function directoryOf(store: CacheStore): string {
  return join(store.directory, "recalled");
}

/**
 * Returns whether a memo or a memo mark exists under this ID.
 *
 * @throws if other users could have written it
 */
export function isRepeatExpected(store: CacheStore, id: string): boolean {
  if (!existsSync(join(directoryOf(store), id))) return false;
  makePrivate(directoryOf(store));
  return true;
}

/** Marks a run as worth a memo if it is repeated. @throws the system's error */
export function markForMemo(store: CacheStore, id: string): void {
  // Created on demand: the rest of the store may be read-only.
  makePrivate(directoryOf(store));
  store.write("recalled", id, "");
  evictOldest(directoryOf(store));
}

export function clearMemoMark(store: CacheStore, id: string): void {
  rmSync(join(directoryOf(store), id), { force: true });
}

/** Returns undefined if there is no memo. @param id identifies the run */
export function readRunMemo<All, Part>(store: CacheStore, id: string): RunMemo<All, Part> | undefined {
  const body = store.readBytes("recalled", id);
  if (!body || body.length < HEADER_SIZE) return undefined;
  const [shape, rowBytes, pathBytes] = wordsOf(body.subarray(0, HEADER_SIZE)) as unknown as [
    number,
    number,
    number,
  ];
  if (shape !== FORMAT_VERSION) return undefined;
  const paths = new Uint8Array(new ArrayBuffer(pathBytes));
  paths.set(body.subarray(HEADER_SIZE + rowBytes, HEADER_SIZE + rowBytes + pathBytes));
  const reader = stamps?.openFingerprints(paths);
  if (!reader) return undefined;
  const text = JSON.parse(body.toString("utf8", HEADER_SIZE + rowBytes + pathBytes)) as MemoText<All, Part>;
  return new RunMemo(text, wordsOf(body.subarray(HEADER_SIZE, HEADER_SIZE + rowBytes)), paths, reader);
}

/** Bytes: format version, size of the rows, size of the paths. */
const HEADER_SIZE = 12;

function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

interface MemoDraft<All, Part> {
  readonly all: All;
  readonly common: readonly FingerprintRow[];
  readonly parts: readonly ({ readonly part: Part; readonly rows: readonly FingerprintRow[] } | null)[];
}

/** @throws the system's error */
export function writeRunMemo<All, Part>(
  store: CacheStore,
  id: string,
  { all, common, parts }: MemoDraft<All, Part>,
): void {
  const table = new RowTable();
  for (const row of common) table.addRow(row);
  const count = table.count;
  const written = parts.map(
    (each) => each && { part: each.part, rows: each.rows.map((row) => table.addRow(row)) },
  );
  const text: MemoText<All, Part> = { all, common: count, parts: written };
  const body = table.toBytes(JSON.stringify(text));
  if (body.length > MAX_MEMO_SIZE) return;
  store.write("recalled", id, body);
  evictOldest(directoryOf(store));
}

function evictOldest(directory: string): void {
  const names = readdirSync(directory);
  if (names.length <= MAX_MEMOS) return;
  const paths = names.map((name) => join(directory, name));
  const timed = paths.map((path) => ({
    path,
    time: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  }));
  for (const { path } of timed.sort((a, b) => b.time - a.time).slice(MAX_MEMOS))
    rmSync(path, { force: true });
}

/** Collects rows and paths without duplicates. */
class RowTable {
  readonly #indexByRow = new Map<FingerprintRow, number>();
  readonly #indexByText = new Map<string, number>();
  readonly #rows: FingerprintRow[] = [];

  get count(): number {
    return this.#rows.length;
  }

  addRow(row: FingerprintRow): number {
    let index = this.#indexByRow.get(row);
    if (index !== undefined) return index;
    const { buffer, byteOffset, byteLength } = row.fingerprint;
    const text = `${row.how} ${Buffer.from(buffer, byteOffset, byteLength).toString("latin1")} ${row.path}`;
    index = this.#indexByText.get(text) ?? this.#rows.push(row) - 1;
    this.#indexByText.set(text, index);
    this.#indexByRow.set(row, index);
    return index;
  }

  toBytes(text: string): Uint8Array {
    const paths = this.#rows.map(({ path }) => Buffer.from(`${path}\0`));
    const rows = new Uint32Array(this.#rows.length * ROW_WORDS);
    let at = 0;
    for (const [index, { how, fingerprint }] of this.#rows.entries()) {
      rows.set([how, at], index * ROW_WORDS);
      rows.set(fingerprint, index * ROW_WORDS + 2);
      at += paths[index]!.length;
    }
    return Buffer.concat([
      Buffer.from(Uint32Array.of(FORMAT_VERSION, rows.byteLength, at).buffer),
      Buffer.from(rows.buffer),
      ...paths,
      Buffer.from(text),
    ]);
  }
}

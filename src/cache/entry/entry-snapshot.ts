// What was read of a store before, all of a project's in one file: a run of hits opens that instead of two files for each of
// its scripts.
//
// Contract: a memory and no more. An entry is taken from here only while its file and the directory of its key have the stamps
// that they had when they were read; damaged or missing, it is an empty one. What was touched a moment ago is not remembered,
// since a further change might leave the same stamp.
//
// Surprising: conditions that entries share are one object here, so that whoever has looked at it knows it of all of them.
import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { TIMESTAMP_GRANULARITY } from "../../../platform/files/path-state.ts";
import type { RecordedDependency, StoredEntry } from "./entry.ts";
import { hashBytes } from "../store/file-hash-cache.ts";
import { touch } from "../store/lru-files.ts";
import type { CacheStore } from "../store/cache-store.ts";

interface SnapshotRow {
  /** Of the directory. */
  readonly fingerprint: string;
  readonly files: readonly {
    readonly name: string;
    readonly fingerprint: string;
    readonly entry: StoredEntry;
  }[];
}

/** As it is written: conditions by their places in a list. */
interface SnapshotFile {
  readonly shape: typeof FORMAT_VERSION;
  readonly conditions: readonly RecordedDependency[];
  readonly rows: readonly (readonly [
    key: string,
    fingerprint: string,
    files: readonly (readonly [
      name: string,
      fingerprint: string,
      entry: StoredEntry,
      conditions: readonly number[],
    ])[],
  ])[];
  readonly findings: readonly (readonly [id: string, fingerprint: string, explanationHash: string])[];
}

/** Keys; those that were read first go. */
const MAX_KEYS = 5000;
/** Bytes of it that are read as quickly as what is kept of one script. */
const BYTES_PER_LOOKUP = 50_000;
/** Milliseconds. Who was used in this time need not be marked as used again. */
export const HOUR = 3_600_000;

export class EntrySnapshot {
  readonly #store: CacheStore;
  readonly #name: string;
  readonly #rows = new Map<string, SnapshotRow>();
  readonly #findings = new Map<string, { readonly fingerprint: string; readonly explanationHash: string }>();
  #isRead = false;
  /** Bytes, of the file. */
  #size: number | undefined;
  /** How many scripts asked before it was read. */
  #lookups = 0;
  #hasChanged = false;

  constructor(store: CacheStore, root: string) {
    this.#store = store;
    this.#name = hashBytes(root);
  }

  /** Whether it is of use: for one script of a thousand it would be more to read than what is kept of that one. */
  #shouldRead(): boolean {
    if (this.#isRead) return true;
    this.#size ??= this.#store.sizeOfText("known", this.#name);
    this.#lookups += 1;
    if (this.#lookups * BYTES_PER_LOOKUP < this.#size) return false;
    this.#isRead = true;
    this.#load(parse(this.#store.readText("known", this.#name)));
    return true;
  }

  #load({ conditions, rows, findings }: SnapshotFile): void {
    for (const [key, fingerprint, files] of rows) {
      const read = files.map(([name, at, entry, indices]) => ({
        name,
        fingerprint: at,
        entry: { ...entry, conditions: indices.map((index) => conditions[index]!) },
      }));
      this.#rows.set(key, { fingerprint, files: read });
    }
    for (const [id, fingerprint, explanationHash] of findings)
      this.#findings.set(id, { fingerprint, explanationHash });
  }

  /** As `Store.entries`. */
  entries(key: string): { readonly path: string; readonly entry: StoredEntry }[] {
    if (!this.#shouldRead()) return [...this.#store.entries(key)];
    const directory = this.#store.keyDirectory(key);
    const row = this.#rows.get(key);
    if (row && fingerprintOf(directory)?.fingerprint === row.fingerprint) {
      const found = row.files.map((each) => ({ ...each, now: fingerprintOf(join(directory, each.name)) }));
      if (found.every(({ fingerprint, now }) => now?.fingerprint === fingerprint))
        return found
          .sort((a, b) => b.now!.used - a.now!.used)
          .map(({ name, entry }) => ({ path: join(directory, name), entry }));
    }
    return this.#read(key, directory);
  }

  #read(key: string, directory: string): { path: string; entry: StoredEntry }[] {
    this.#drop(key);
    const before = fingerprintOf(directory);
    const stamps = new Map<string, FileFingerprint | undefined>();
    const found = [];
    for (const each of this.#store.entries(key, (path) => stamps.set(path, fingerprintOf(path))))
      found.push(each);
    const files = found.map(({ path, entry }) => ({
      name: basename(path),
      fingerprint: stamps.get(path),
      entry,
      path,
    }));
    const isSettled =
      isSameAndSettled(before, fingerprintOf(directory)) &&
      files.every(({ path, fingerprint }) => isSameAndSettled(fingerprint, fingerprintOf(path)));
    if (isSettled && found.length > 0) {
      this.#rows.set(key, {
        fingerprint: before!.fingerprint,
        files: files.map(({ name, fingerprint, entry }) => ({
          name,
          fingerprint: fingerprint!.fingerprint,
          entry,
        })),
      });
      this.#hasChanged = true;
    }
    return found;
  }

  /** It is used last of all. @param isFirst of those of its key */
  use(key: string, path: string, isFirst: boolean): void {
    const used = fingerprintOf(path)?.used ?? 0;
    if (isFirst && used > Date.now() - HOUR && used <= Date.now()) return;
    touch(path);
    this.#drop(key);
  }

  #drop(key: string): void {
    if (this.#rows.delete(key)) this.#hasChanged = true;
  }

  /** Whether a script's finding is known to be this one. */
  hasExplanation(id: string, explanationHash: string): boolean {
    const known = this.#findings.get(id);
    return (
      known?.explanationHash === explanationHash &&
      fingerprintOf(this.#store.explanationPath(id))?.fingerprint === known.fingerprint
    );
  }

  /** The finding was read, and is this one. */
  addExplanation(id: string, explanationHash: string): void {
    const now = fingerprintOf(this.#store.explanationPath(id));
    if (!this.#isRead || !now || now.isRacy) return;
    this.#findings.set(id, { fingerprint: now.fingerprint, explanationHash });
    this.#hasChanged = true;
  }

  /** Throws the system's errors. */
  write(): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    const indices = new Map<RecordedDependency, number>();
    const indexByText = new Map<string, number>();
    const conditions: RecordedDependency[] = [];
    const indexOfDependency = (condition: RecordedDependency): number => {
      let index = indices.get(condition);
      if (index !== undefined) return index;
      const text = JSON.stringify(condition);
      index = indexByText.get(text);
      if (index === undefined) {
        index = conditions.push(condition) - 1;
        indexByText.set(text, index);
      }
      indices.set(condition, index);
      return index;
    };
    const rows = [...this.#rows].slice(-MAX_KEYS).map(
      ([key, { fingerprint, files }]) =>
        [
          key,
          fingerprint,
          files.map(({ name, fingerprint: at, entry }) => {
            const kept = { ...entry, conditions: [] };
            return [name, at, kept, entry.conditions.map(indexOfDependency)] as const;
          }),
        ] as const,
    );
    const findings = [...this.#findings]
      .slice(-MAX_KEYS)
      .map(([id, { fingerprint, explanationHash }]) => [id, fingerprint, explanationHash] as const);
    const written: SnapshotFile = { shape: FORMAT_VERSION, conditions, rows, findings };
    this.#store.write("known", this.#name, JSON.stringify(written));
  }
}

/** Another one for another shape of what is written. */
const FORMAT_VERSION = 2;
const EMPTY: SnapshotFile = { shape: FORMAT_VERSION, conditions: [], rows: [], findings: [] };

function parse(text: string | null): SnapshotFile {
  const written = text === null ? EMPTY : (JSON.parse(text) as SnapshotFile);
  return written.shape === FORMAT_VERSION ? written : EMPTY;
}

interface FileFingerprint {
  readonly fingerprint: string;
  /** Milliseconds since 1970. */
  readonly used: number;
  readonly isRacy: boolean;
}

/** Undefined where there is nothing, or nobody can tell. */
function fingerprintOf(path: string): FileFingerprint | undefined {
  let found;
  try {
    found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {}
  if (!found) return undefined;
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return {
    fingerprint: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`,
    used: Number(mtimeNs / 1_000_000n),
    isRacy: Number(ctimeNs / 1_000_000n) > Date.now() - TIMESTAMP_GRANULARITY,
  };
}

function isSameAndSettled(before: FileFingerprint | undefined, after: FileFingerprint | undefined): boolean {
  return before !== undefined && before.fingerprint === after?.fingerprint && !before.isRacy;
}

// Stores all entries of a project in one file, so that a run of cache hits opens one file instead of two per script.
//
// Invariants:
// - An entry is used only while the stat fingerprints of its file and its key's directory match. A damaged or missing
//   snapshot is empty.
// - Entries with a racy timestamp are not stored: a second write could leave the same fingerprint.
//
// Non-obvious:
// - Equal recorded dependencies are one object, so that the stat cache validates each of them once.
import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { TIMESTAMP_GRANULARITY } from "../../../platform/files/contract/stat-fingerprint.ts";
import type { RecordedDependency, StoredEntry } from "./entry.ts";
import { hashBytes } from "../store/file-hash-cache.ts";
import { touch } from "../store/lru-files.ts";
import type { CacheStore } from "../store/cache-store.ts";

interface SnapshotRow {
  /** Stat fingerprint of the key's directory. */
  readonly fingerprint: string;
  readonly files: readonly {
    readonly name: string;
    readonly fingerprint: string;
    readonly entry: StoredEntry;
  }[];
}

/** The file format; entries refer to recorded dependencies by index. */
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

/** The most recently read keys are stored. */
const MAX_KEYS = 5000;
/** Bytes of the snapshot that are read as fast as the files of one script. */
const BYTES_PER_LOOKUP = 50_000;
/** Milliseconds. An entry is marked as used at most once in this time. */
export const HOUR = 3_600_000;

export class EntrySnapshot {
  readonly #store: CacheStore;
  readonly #name: string;
  readonly #rows = new Map<string, SnapshotRow>();
  readonly #findings = new Map<string, { readonly fingerprint: string; readonly explanationHash: string }>();
  #isRead = false;
  /** Size of the snapshot file in bytes. */
  #size: number | undefined;
  /** Number of lookups before the snapshot was read. */
  #lookups = 0;
  #hasChanged = false;

  constructor(store: CacheStore, root: string) {
    this.#store = store;
    this.#name = hashBytes(root);
  }

  /** Returns whether reading the snapshot pays off. For one script of a thousand, its own files are faster to read. */
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

  /** Returns the same as `CacheStore.entries`. */
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

  /** Marks an entry as used. @param isFirst whether it is the most recently used entry of its key */
  use(key: string, path: string, isFirst: boolean): void {
    const used = fingerprintOf(path)?.used ?? 0;
    if (isFirst && used > Date.now() - HOUR && used <= Date.now()) return;
    touch(path);
    this.#drop(key);
  }

  #drop(key: string): void {
    if (this.#rows.delete(key)) this.#hasChanged = true;
  }

  /** Returns whether this explanation is the stored one of a script. */
  hasExplanation(id: string, explanationHash: string): boolean {
    const known = this.#findings.get(id);
    return (
      known?.explanationHash === explanationHash &&
      fingerprintOf(this.#store.explanationPath(id))?.fingerprint === known.fingerprint
    );
  }

  /** Records that this explanation is the stored one of a script. */
  addExplanation(id: string, explanationHash: string): void {
    const now = fingerprintOf(this.#store.explanationPath(id));
    if (!this.#isRead || !now || now.isRacy) return;
    this.#findings.set(id, { fingerprint: now.fingerprint, explanationHash });
    this.#hasChanged = true;
  }

  /** @throws the system's error */
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

/** Increased when the file format changes. */
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

/** Returns undefined if the path does not exist or cannot be read. */
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

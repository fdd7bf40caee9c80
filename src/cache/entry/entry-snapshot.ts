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
  readonly stamp: string;
  readonly files: readonly { readonly name: string; readonly stamp: string; readonly entry: StoredEntry }[];
}

/** As it is written: conditions by their places in a list. */
interface SnapshotFile {
  readonly shape: typeof SHAPE;
  readonly conditions: readonly RecordedDependency[];
  readonly rows: readonly (readonly [
    key: string,
    stamp: string,
    files: readonly (readonly [
      name: string,
      stamp: string,
      entry: StoredEntry,
      conditions: readonly number[],
    ])[],
  ])[];
  readonly findings: readonly (readonly [id: string, stamp: string, print: string])[];
}

/** Keys; those that were read first go. */
const MOST = 5000;
/** Bytes of it that are read as quickly as what is kept of one script. */
const WORTH = 50_000;
/** Milliseconds. Who was used in this time need not be marked as used again. */
export const HOUR = 3_600_000;

export class EntrySnapshot {
  readonly #store: CacheStore;
  readonly #name: string;
  readonly #rows = new Map<string, SnapshotRow>();
  readonly #findings = new Map<string, { readonly stamp: string; readonly print: string }>();
  #isRead = false;
  /** Bytes, of the file. */
  #size: number | undefined;
  /** How many scripts asked before it was read. */
  #asked = 0;
  #hasChanged = false;

  constructor(store: CacheStore, root: string) {
    this.#store = store;
    this.#name = hashBytes(root);
  }

  /** Whether it is of use: for one script of a thousand it would be more to read than what is kept of that one. */
  #isWorthIt(): boolean {
    if (this.#isRead) return true;
    this.#size ??= this.#store.sizeOfText("known", this.#name);
    this.#asked += 1;
    if (this.#asked * WORTH < this.#size) return false;
    this.#isRead = true;
    this.#take(parse(this.#store.readText("known", this.#name)));
    return true;
  }

  #take({ conditions, rows, findings }: SnapshotFile): void {
    for (const [key, stamp, files] of rows) {
      const read = files.map(([name, at, entry, places]) => ({
        name,
        stamp: at,
        entry: { ...entry, conditions: places.map((place) => conditions[place]!) },
      }));
      this.#rows.set(key, { stamp, files: read });
    }
    for (const [id, stamp, print] of findings) this.#findings.set(id, { stamp, print });
  }

  /** As `Store.entries`. */
  entries(key: string): { readonly path: string; readonly entry: StoredEntry }[] {
    if (!this.#isWorthIt()) return [...this.#store.entries(key)];
    const directory = this.#store.keyDirectory(key);
    const row = this.#rows.get(key);
    if (row && stampOf(directory)?.stamp === row.stamp) {
      const found = row.files.map((each) => ({ ...each, now: stampOf(join(directory, each.name)) }));
      if (found.every(({ stamp, now }) => now?.stamp === stamp))
        return found
          .sort((a, b) => b.now!.used - a.now!.used)
          .map(({ name, entry }) => ({ path: join(directory, name), entry }));
    }
    return this.#read(key, directory);
  }

  #read(key: string, directory: string): { path: string; entry: StoredEntry }[] {
    this.#drop(key);
    const before = stampOf(directory);
    const stamps = new Map<string, Stamp | undefined>();
    const found = [];
    for (const each of this.#store.entries(key, (path) => stamps.set(path, stampOf(path)))) found.push(each);
    const files = found.map(({ path, entry }) => ({
      name: basename(path),
      stamp: stamps.get(path),
      entry,
      path,
    }));
    const isSettled =
      isLasting(before, stampOf(directory)) &&
      files.every(({ path, stamp }) => isLasting(stamp, stampOf(path)));
    if (isSettled && found.length > 0) {
      this.#rows.set(key, {
        stamp: before!.stamp,
        files: files.map(({ name, stamp, entry }) => ({ name, stamp: stamp!.stamp, entry })),
      });
      this.#hasChanged = true;
    }
    return found;
  }

  /** It is used last of all. @param isFirst of those of its key */
  use(key: string, path: string, isFirst: boolean): void {
    const used = stampOf(path)?.used ?? 0;
    if (isFirst && used > Date.now() - HOUR && used <= Date.now()) return;
    touch(path);
    this.#drop(key);
  }

  #drop(key: string): void {
    if (this.#rows.delete(key)) this.#hasChanged = true;
  }

  /** Whether a script's finding is known to be this one. */
  isFound(id: string, print: string): boolean {
    const known = this.#findings.get(id);
    return known?.print === print && stampOf(this.#store.findingPath(id))?.stamp === known.stamp;
  }

  /** The finding was read, and is this one. */
  noteFound(id: string, print: string): void {
    const now = stampOf(this.#store.findingPath(id));
    if (!this.#isRead || !now || now.isFresh) return;
    this.#findings.set(id, { stamp: now.stamp, print });
    this.#hasChanged = true;
  }

  /** Throws the system's errors. */
  write(): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    const places = new Map<RecordedDependency, number>();
    const same = new Map<string, number>();
    const conditions: RecordedDependency[] = [];
    const placeOf = (condition: RecordedDependency): number => {
      let place = places.get(condition);
      if (place !== undefined) return place;
      const text = JSON.stringify(condition);
      place = same.get(text);
      if (place === undefined) {
        place = conditions.push(condition) - 1;
        same.set(text, place);
      }
      places.set(condition, place);
      return place;
    };
    const rows = [...this.#rows].slice(-MOST).map(
      ([key, { stamp, files }]) =>
        [
          key,
          stamp,
          files.map(({ name, stamp: at, entry }) => {
            const kept = { ...entry, conditions: [] };
            return [name, at, kept, entry.conditions.map(placeOf)] as const;
          }),
        ] as const,
    );
    const findings = [...this.#findings]
      .slice(-MOST)
      .map(([id, { stamp, print }]) => [id, stamp, print] as const);
    const written: SnapshotFile = { shape: SHAPE, conditions, rows, findings };
    this.#store.write("known", this.#name, JSON.stringify(written));
  }
}

/** Another one for another shape of what is written. */
const SHAPE = 2;
const NONE: SnapshotFile = { shape: SHAPE, conditions: [], rows: [], findings: [] };

function parse(text: string | null): SnapshotFile {
  const written = text === null ? NONE : (JSON.parse(text) as SnapshotFile);
  return written.shape === SHAPE ? written : NONE;
}

interface Stamp {
  readonly stamp: string;
  /** Milliseconds since 1970. */
  readonly used: number;
  readonly isFresh: boolean;
}

/** Undefined where there is nothing, or nobody can tell. */
function stampOf(path: string): Stamp | undefined {
  let found;
  try {
    found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {}
  if (!found) return undefined;
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return {
    stamp: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`,
    used: Number(mtimeNs / 1_000_000n),
    isFresh: Number(ctimeNs / 1_000_000n) > Date.now() - TIMESTAMP_GRANULARITY,
  };
}

function isLasting(before: Stamp | undefined, after: Stamp | undefined): boolean {
  return before !== undefined && before.stamp === after?.stamp && !before.isFresh;
}

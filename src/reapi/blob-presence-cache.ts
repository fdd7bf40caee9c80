// Caches which blobs a server has, between runs, so that the server is not queried for them again.
//
// Invariants:
// - Pure. Entries expire at a fixed time after the query, and those with a future time are ignored.
// - If the server has lost a blob, the whole cache is cleared. Above the maximum, the oldest entries are dropped.

/** Milliseconds. Servers evict blobs that were not used for days, or when they are full. */
const TTL = 3600_000;
const MAX_ENTRIES = 20_000;
/** New entries are written if they are at least one in so many. */
const ENTRIES_PER_WRITE = 50;

export class BlobPresenceCache {
  /** Time of the last check in milliseconds since 1970, by name. */
  readonly #entries = new Map<string, number>();
  readonly #now: () => number;
  #newEntries = 0;

  /** @param text a result of `takeText` */
  constructor(text: string | null, now: () => number = Date.now) {
    this.#now = now;
    const today = now();
    for (const line of text === null ? [] : text.split("\n")) {
      const end = line.indexOf(" ");
      const time = Number(line.slice(0, end));
      if (time <= today && time > today - TTL) this.#entries.set(line.slice(end + 1), time);
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  add(names: Iterable<string>): void {
    const today = this.#now();
    for (const name of names) {
      this.#entries.delete(name); // moved to the end
      this.#entries.set(name, today);
      this.#newEntries++;
    }
  }

  /** Clears the cache, because the server has lost a blob. */
  clear(): void {
    if (this.#entries.size > 0) this.#newEntries = Number.POSITIVE_INFINITY;
    this.#entries.clear();
  }

  /** Null if there are no new entries, or too few to write all entries again. */
  takeText(): string | null {
    if (this.#newEntries === 0 || this.#newEntries * ENTRIES_PER_WRITE < this.#entries.size) return null;
    this.#newEntries = 0;
    return [...this.#entries]
      .slice(-MAX_ENTRIES)
      .map(([name, time]) => `${time} ${name}`)
      .join("\n");
  }
}

// What a server was seen to have, by earlier runs: so much need not be asked for again.
//
// Contract: pure. It counts for so long after the server was asked, whatever has happened since; a server that has lost
// something says so when it is to be used, and then nothing of this is believed any more. Of more names than so many the
// newest are kept. A time that is still to come is none.

/** Milliseconds. Servers drop what was not used for days, or when they are full. */
const LIFE = 3600_000;
const MOST = 20_000;
/** How many names are written while one is asked for. */
const WORTH = 50;

export class BlobPresenceCache {
  /** When, in milliseconds since 1970, by name. */
  readonly #seen = new Map<string, number>();
  readonly #now: () => number;
  #news = 0;

  /** @param text what `takeText` gave */
  constructor(text: string | null, now: () => number = Date.now) {
    this.#now = now;
    const today = now();
    for (const line of text === null ? [] : text.split("\n")) {
      const end = line.indexOf(" ");
      const time = Number(line.slice(0, end));
      if (time <= today && time > today - LIFE) this.#seen.set(line.slice(end + 1), time);
    }
  }

  has(name: string): boolean {
    return this.#seen.has(name);
  }

  note(names: Iterable<string>): void {
    const today = this.#now();
    for (const name of names) {
      this.#seen.delete(name); // so that it is the last
      this.#seen.set(name, today);
      this.#news++;
    }
  }

  /** Something of it is gone. */
  forget(): void {
    if (this.#seen.size > 0) this.#news = Number.POSITIVE_INFINITY;
    this.#seen.clear();
  }

  /** Null where nothing is new, or so little that writing all of it again would take longer. */
  takeText(): string | null {
    if (this.#news === 0 || this.#news * WORTH < this.#seen.size) return null;
    this.#news = 0;
    return [...this.#seen]
      .slice(-MOST)
      .map(([name, time]) => `${time} ${name}`)
      .join("\n");
  }
}

// Random test input that is the same in every run, so that a failure can be repeated.

export interface Random {
  /** Returns a whole number from 0 up to, not including, `end`. */
  below(end: number): number;
  /** Returns a number from 0 up to, not including, 1. */
  fraction(): number;
  pick<Item>(items: readonly Item[] | string): Item;
}

/** The generator mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed;
  const below = (end: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
  const fraction = () => below(2 ** 32) / 2 ** 32;
  return { below, fraction, pick: (items) => items[below(items.length)] as never };
}

// Follows which styles SGR sequences have set, without an emulator.

/** A bit for each parameter that sets a style. */
const SETS: Readonly<Record<number, number>> = {
  1: 1, // bold
  2: 1, // dim; 22 ends both
  3: 2,
  4: 4,
  5: 8,
  6: 8,
  7: 16,
  8: 32,
  9: 64,
  21: 4, // double underline
  38: 128, // foreground
  48: 256, // background
  53: 512, // overline
  58: 1024, // colour of the underline
};
/** The bit that a parameter clears. */
const CLEARS: Readonly<Record<number, number>> = {
  22: 1,
  23: 2,
  24: 4,
  25: 8,
  27: 16,
  28: 32,
  29: 64,
  39: 128,
  49: 256,
  55: 512,
  59: 1024,
};

export class SgrStyle {
  #style = 0;
  #next = 0;
  /** Parameters that belong to a colour; undefined if the next one says how many. */
  #skipped: number | undefined = 0;

  get isDefault(): boolean {
    return this.#style === 0;
  }

  begin(): void {
    this.#next = this.#style;
    this.#skipped = 0;
  }

  /** @param hasColons whether a colour is in the same parameter */
  addParameter(value: number, hasColons: boolean): void {
    if (this.#skipped === undefined) this.#skipped = value === 2 ? 3 : 1;
    else if (this.#skipped > 0) this.#skipped -= 1;
    else if (value === 0) this.#next = 0;
    else {
      this.#next = (this.#next & ~(CLEARS[value] ?? 0)) | bitOf(value);
      if ((value === 38 || value === 48 || value === 58) && !hasColons) this.#skipped = undefined;
    }
  }

  /** The sequence was one of SGR. */
  commit(): void {
    this.#style = this.#next;
  }
}

function bitOf(value: number): number {
  if ((value >= 30 && value < 38) || (value >= 90 && value < 98)) return SETS[38]!;
  if ((value >= 40 && value < 48) || (value >= 100 && value < 108)) return SETS[48]!;
  return SETS[value] ?? 0;
}

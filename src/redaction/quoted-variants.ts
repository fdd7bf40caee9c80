// Generates the quoted variants of a value, one for each distinct result of the printers in printers.ts.
//
// Invariants:
// - The value never becomes a JavaScript string, which cannot be zeroized.
// - Equal results give one variant. The unchanged value is not among them.
import type { Printer } from "./printers.ts";

/** A character that a printer may change. */
interface Special {
  readonly start: number;
  readonly end: number;
  /** Index of its kind. Characters of one kind are printed in the same way. */
  readonly kind: number;
}

interface CharacterKind {
  readonly code: number;
  readonly next: number;
}

/** Printers may treat a character differently before these: "#{", "${". */
const FOLLOWERS = [0x24, 0x40, 0x7b];

/** Returns no variants if all printers leave the value unchanged, as they do with most tokens. */
export function quotedVariants(value: Uint8Array): Uint8Array[] {
  const { specials, kinds } = findSpecials(value);
  if (specials.length === 0) return [];
  // Loaded lazily: values without a special character do not need the printers.
  const { PRINTERS } = require("./printers.ts") as typeof import("./printers.ts");
  const variants: Uint8Array[] = [];
  const distinct = new Set<string>();
  for (const print of Object.values(PRINTERS) as Printer[]) {
    const texts = kinds.map(({ code, next }) => print(code, next));
    const key = JSON.stringify(texts);
    if (distinct.has(key)) continue;
    distinct.add(key);
    if (texts.some((text) => text !== undefined)) variants.push(replaceSpecials(value, specials, texts));
  }
  return variants;
}

function findSpecials(value: Uint8Array): { specials: Special[]; kinds: CharacterKind[] } {
  const specials: Special[] = [];
  const kinds: CharacterKind[] = [];
  const indexes = new Map<number, number>();
  for (let start = 0; start < value.length;) {
    const byte = value[start]!;
    const letter = byte | 0x20;
    const isPlain =
      (letter >= 0x61 && letter <= 0x7a) ||
      (byte >= 0x30 && byte <= 0x39) ||
      byte === 0x2d ||
      byte === 0x2e ||
      byte === 0x5f;
    if (isPlain) {
      start += 1;
      continue;
    }
    const end = start + (byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4);
    let code = byte < 0xc0 ? byte : byte & (0x7f >> (end - start));
    for (let at = start + 1; at < end; at += 1) code = (code << 6) | (value[at]! & 0x3f);
    const next = FOLLOWERS.includes(value[end]!) ? value[end]! : 0;
    const id = code * 256 + next;
    let kind = indexes.get(id);
    if (kind === undefined) {
      indexes.set(id, (kind = kinds.length));
      kinds.push({ code, next });
    }
    specials.push({ start, end, kind });
    start = end;
  }
  return { specials, kinds };
}

function replaceSpecials(
  value: Uint8Array,
  specials: readonly Special[],
  texts: readonly (string | undefined)[],
): Uint8Array {
  const encoder = new TextEncoder();
  const replacements = texts.map((text) => (text === undefined ? undefined : encoder.encode(text)));
  let size = value.length;
  for (const { start, end, kind } of specials) {
    const replacement = replacements[kind];
    if (replacement) size += replacement.length - (end - start);
  }
  const variant = new Uint8Array(size);
  let length = 0;
  let from = 0;
  for (const { start, end, kind } of specials) {
    const replacement = replacements[kind];
    if (!replacement) continue;
    variant.set(value.subarray(from, start), length);
    length += start - from;
    variant.set(replacement, length);
    length += replacement.length;
    from = end;
  }
  variant.set(value.subarray(from), length);
  return variant;
}

// Maps positions between a source file and the transpiled text that the engine runs. Clients see only the file, as Node.js shows
// TypeScript with stripped types. So breakpoints are where the user set them, and clients need no source map.
//
// Non-obvious:
// - A position without code means the next position with code. Lines and columns count from 0.

export interface Position {
  readonly lineNumber: number;
  readonly columnNumber: number;
}

export interface SourceMap {
  /** Text of the source file. */
  readonly source?: string;
  toOriginal(position: Position): Position;
  /** Returns undefined after the last code of the file. */
  toGenerated(position: Position): Position | undefined;
  /** Returns the transpiled range of the code between two positions of the file; undefined if there is no code. */
  rangeOf(start: Position, end: Position): { start: Position; end: Position } | undefined;
}

interface MappingSegment {
  readonly generated: Position;
  readonly original: Position;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map(DIGITS.split("").map((digit, value) => [digit, value]));

/** Decodes a `data:` URL. Returns undefined for another URL or an invalid source map. */
export function readSourceMap(url: string | undefined): SourceMap | undefined {
  if (!url?.startsWith("data:")) return undefined;
  try {
    const text = Buffer.from(url.slice(url.indexOf(",") + 1), "base64").toString();
    const { mappings, sourcesContent } = JSON.parse(text) as { mappings: string; sourcesContent?: string[] };
    return createSourceMap(decode(mappings), sourcesContent?.[0]);
  } catch {
    return undefined;
  }
}

export function compare(a: Position, b: Position): number {
  return a.lineNumber - b.lineNumber || a.columnNumber - b.columnNumber;
}

function decode(mappings: string): MappingSegment[] {
  const segments: MappingSegment[] = [];
  let [original, originalColumn, source] = [0, 0, 0];
  for (const [lineNumber, line] of mappings.split(";").entries()) {
    let columnNumber = 0;
    for (const text of line === "" ? [] : line.split(",")) {
      const fields = decodeFields(text);
      columnNumber += fields[0]!;
      if (fields.length < 4) continue;
      source += fields[1]!;
      original += fields[2]!;
      originalColumn += fields[3]!;
      if (source !== 0) continue;
      const position = { lineNumber: original, columnNumber: originalColumn };
      segments.push({ generated: { lineNumber, columnNumber }, original: position });
    }
  }
  return segments;
}

function decodeFields(text: string): number[] {
  const fields: number[] = [];
  let [value, shift] = [0, 0];
  for (const character of text) {
    const digit = VALUES.get(character)!;
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    fields.push(value & 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return fields;
}

function createSourceMap(byGenerated: readonly MappingSegment[], source: string | undefined): SourceMap {
  const byOriginal = byGenerated.toSorted(
    (a, b) => compare(a.original, b.original) || compare(a.generated, b.generated),
  );
  return {
    ...(source === undefined ? {} : { source }),
    toOriginal(position) {
      const index = firstWhere(byGenerated, ({ generated }) => compare(generated, position) > 0);
      return (byGenerated[index - 1] ?? byGenerated[0])?.original ?? position;
    },
    toGenerated(position) {
      const index = firstWhere(byOriginal, ({ original }) => compare(original, position) >= 0);
      return byOriginal[index]?.generated;
    },
    rangeOf(start, end) {
      const from = firstWhere(byOriginal, ({ original }) => compare(original, start) >= 0);
      const to = firstWhere(byOriginal, ({ original }) => compare(original, end) >= 0);
      const positions = byOriginal.slice(from, to).map(({ generated }) => generated);
      positions.sort(compare);
      const [first, last] = [positions[0], positions.at(-1)];
      if (!first || !last) return undefined;
      return { start: first, end: { ...last, columnNumber: last.columnNumber + 1 } };
    },
  };
}

/** Binary search: returns the index of the first segment for which `holds` is true. It must be monotonic. */
function firstWhere(
  segments: readonly MappingSegment[],
  holds: (segment: MappingSegment) => boolean,
): number {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(segments[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Finds the line of a key in a TOML file for error messages. The engine's parser returns no positions, so the lines are scanned
// again for table headers and assignments.

/** One part of a dotted name, and the next delimiter. The pattern is unambiguous, so hostile input cannot cause backtracking. */
const PART = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*([.=\]])/y;
const HEADER = /\s*\[\[?/y;
const END_OF_HEADER = /\]?\s*(?:#|$)/y;

export interface TomlName {
  readonly parts: readonly string[];
  readonly isTable: boolean;
  /** Position behind the header's names, or behind the `=`. */
  readonly end: number;
}

/** Parses the name of a table header or assignment: `a."b.c"` has the parts "a" and "b.c". */
export function nameIn(line: string): TomlName | undefined {
  HEADER.lastIndex = 0;
  const isTable = HEADER.test(line);
  PART.lastIndex = isTable ? HEADER.lastIndex : 0;
  const parts: string[] = [];
  for (let part = PART.exec(line); part; part = PART.exec(line)) {
    parts.push(part[1] === undefined ? (part[2] ?? part[3]!) : unescape(part[1]));
    if (part[4] === ".") continue;
    END_OF_HEADER.lastIndex = PART.lastIndex;
    return isTable === (part[4] === "]") && (!isTable || END_OF_HEADER.test(line))
      ? { parts, isTable, end: PART.lastIndex }
      : undefined;
  }
  return undefined;
}

function unescape(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text; // an escape that JSON does not have
  }
}

/** Returns the number of parts of `path` that a name covers; 0 if the name is not on the path. */
function coverage(name: readonly string[], path: readonly string[]): number {
  const length = Math.min(name.length, path.length);
  return name.slice(0, length).every((part, index) => part === path[index]) ? length : 0;
}

/** Returns the delimiter of a multi-line string that starts in this line and does not end in it. */
function openDelimiterIn(line: string): string | undefined {
  const [before, delimiter] = /^(.*?)("""|''')/s.exec(line)?.slice(1) ?? [];
  if (delimiter === undefined || before!.includes("#")) return undefined;
  return line.includes(delimiter, before!.length + delimiter.length) ? undefined : delimiter;
}

/** Returns the line number, from 1, of the key, or of the closest table above it. */
export function lineOf(text: string, path: readonly string[]): number {
  let table: readonly string[] = [];
  let [best, line] = [0, 1];
  let delimiter: string | undefined;
  for (const [index, content] of text.split("\n").entries()) {
    if (delimiter !== undefined) {
      if (content.includes(delimiter)) delimiter = undefined;
      continue;
    }
    delimiter = openDelimiterIn(content);
    const name = nameIn(content);
    if (!name) continue;
    if (name.isTable) table = name.parts;
    const coveredParts = coverage(name.isTable ? table : [...table, ...name.parts], path);
    if (coveredParts > best) [best, line] = [coveredParts, index + 1];
  }
  return line;
}

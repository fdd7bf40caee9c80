// Where a key stands in a TOML file, for error messages. The engine's parser tells values and no lines, so the
// lines are looked through again for tables and keys, which is enough to find one that is known to be there.

/** The parts of a dotted name, quotes taken off: `a."b.c"` is "a" and "b.c". */
function splitName(name: string): string[] {
  const parts = name.match(/"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+/g) ?? [];
  return parts.map((part) => (/^["']/.test(part) ? part.slice(1, -1) : part));
}

const TABLE = /^\s*\[\[?\s*(.+?)\s*\]\]?\s*(?:#.*)?$/;
const ASSIGNMENT = /^\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_.\s-])+?)\s*=/;

/** How much of `path` a name covers, in parts; 0 when it is the name of something else. */
function coverage(name: readonly string[], path: readonly string[]): number {
  const isStart = name.length <= path.length && name.every((part, index) => part === path[index]);
  return isStart ? name.length : 0;
}

/** The line, from 1, that comes nearest to where `path` is written. */
export function lineOf(text: string, path: readonly string[]): number {
  let table: string[] = [];
  let [best, line] = [0, 1];
  for (const [index, content] of text.split("\n").entries()) {
    const header = TABLE.exec(content)?.[1];
    if (header !== undefined) table = splitName(header);
    const assigned = ASSIGNMENT.exec(content)?.[1];
    if (header === undefined && assigned === undefined) continue;
    const name = assigned === undefined ? table : [...table, ...splitName(assigned)];
    const covered = coverage(name, path);
    if (covered > best) [best, line] = [covered, index + 1];
  }
  return line;
}

/** The line at which a file that cannot be parsed goes wrong: what follows the longest beginning that can be. */
export function lineOfSyntaxError(text: string, parse: (text: string) => unknown): number {
  const lines = text.split("\n");
  for (let length = lines.length; length > 0; length -= 1) {
    try {
      parse(lines.slice(0, length).join("\n"));
      return firstStatement(lines, length) + 1;
    } catch {}
  }
  return firstStatement(lines, 0) + 1;
}

function firstStatement(lines: readonly string[], from: number): number {
  const index = lines.findIndex((line, position) => position >= from && !/^\s*(?:#.*)?$/.test(line));
  return index < 0 ? from : index;
}

// Where a key stands in a TOML file, for error messages. The engine's parser tells values and no lines, so the
// lines are looked through again for tables and keys, which is enough to find one that is known to be there.

/** One part of a dotted name, and what follows it. No line has two ways to match: a hostile one takes no longer. */
const PART = /\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*([.=\]])/y;
const HEADER = /\s*\[\[?/y;
const END_OF_HEADER = /\]?\s*(?:#|$)/y;

interface Name {
  readonly parts: readonly string[];
  readonly isTable: boolean;
}

/** The name that a table's header or an assignment has, quotes taken off: `a."b.c"` is "a" and "b.c". */
function nameIn(line: string): Name | undefined {
  HEADER.lastIndex = 0;
  const isTable = HEADER.test(line);
  PART.lastIndex = isTable ? HEADER.lastIndex : 0;
  const parts: string[] = [];
  for (let part = PART.exec(line); part; part = PART.exec(line)) {
    parts.push(part[1] === undefined ? (part[2] ?? part[3]!) : withoutEscapes(part[1]));
    if (part[4] === ".") continue;
    END_OF_HEADER.lastIndex = PART.lastIndex;
    return isTable === (part[4] === "]") && (!isTable || END_OF_HEADER.test(line))
      ? { parts, isTable }
      : undefined;
  }
  return undefined;
}

function withoutEscapes(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text; // with one that JSON does not know
  }
}

/** How much of `path` a name covers, in parts, where it may go on; 0 when it is the name of something else. */
function coverage(name: readonly string[], path: readonly string[]): number {
  const length = Math.min(name.length, path.length);
  return name.slice(0, length).every((part, index) => part === path[index]) ? length : 0;
}

/** What a text of several lines ends with that begins in this one and does not end there. */
function openedIn(line: string): string | undefined {
  const [before, opened] = /^(.*?)("""|''')/s.exec(line)?.slice(1) ?? [];
  if (opened === undefined || before!.includes("#")) return undefined;
  return line.includes(opened, before!.length + opened.length) ? undefined : opened;
}

/** The line, from 1, that comes nearest to where `path` is written. */
export function lineOf(text: string, path: readonly string[]): number {
  let table: readonly string[] = [];
  let [best, line] = [0, 1];
  let opened: string | undefined;
  for (const [index, content] of text.split("\n").entries()) {
    if (opened !== undefined) {
      if (content.includes(opened)) opened = undefined;
      continue;
    }
    opened = openedIn(content);
    const name = nameIn(content);
    if (!name) continue;
    if (name.isTable) table = name.parts;
    const covered = coverage(name.isTable ? table : [...table, ...name.parts], path);
    if (covered > best) [best, line] = [covered, index + 1];
  }
  return line;
}

// Values that have moved, written into the file again.
//
// Contract: a value comes back in the quotes that it had, or in others where the engine would read it otherwise in those.
// What counts is that the engine reads it as it is, and every other variable as before; what it reads otherwise is not written.
import { resolve } from "node:path";
import { printable } from "../../printable.ts";
import { draftFile, type ProjectFile } from "../atomic-file-edit.ts";
import { ArgumentError } from "../command-arguments.ts";
import { readEngineValues } from "./engine-values.ts";
import { findAssignments, type Quote, replaceSpans } from "./env-file.ts";
import type { MovedLine } from "./moved-comment.ts";

const QUOTES: readonly Quote[] = ["", "'", '"', "`"];
/** How a value is written: between what, and what stands for a "$" of it. */
interface Way {
  readonly quote: Quote;
  readonly dollar: string;
}

/** A "$" that the engine lets be comes back as it is: other programs would read the backslash too. */
const WAYS: readonly Way[] = QUOTES.flatMap((quote) => ["$", "\\$"].map((dollar) => ({ quote, dollar })));

/** The file with these values, read by the engine and found to be right; undefined where no way of writing them is. */
export function draftWith(file: ProjectFile, lines: readonly MovedLine[], values: readonly string[]) {
  const ways = lines.map(({ quote }, index) => waysFor(values[index]!, quote));
  const lineBreak = /(?<!\r)\n/.test(file.text) ? "\n" : "\r\n";
  // Each try takes the next way of what has not come back as it should.
  for (const _ of WAYS) {
    const text = replaceSpans(
      file.text,
      lines.map(({ start, end, prefix }, index) => {
        const by = prefix + writeValue(values[index]!, ways[index]![0]!, lineBreak);
        return { start, end, by };
      }),
    );
    const draft = draftFile(file, text);
    let isRight = false;
    try {
      const own = new Set(findAssignments(text).map(({ name }) => name));
      const read = readEngineValues(resolve(draft.path), own);
      const wrong = lines.flatMap(({ name }, index) => (read.get(name) === values[index] ? [] : [index]));
      isRight = wrong.length === 0 && keepsTheRest(file, read, lines);
      for (const index of wrong.length > 0 ? wrong : ways.keys()) ways[index]!.push(ways[index]!.shift()!);
    } finally {
      if (!isRight) draft[Symbol.dispose]();
    }
    if (isRight) return draft;
  }
  return undefined;
}

/** The engine takes a carriage return for the end of a line, but for one that is written as \r between double quotes. */
function waysFor(value: string, before: Quote): Way[] {
  const ways = value.includes("\r") ? WAYS.filter(({ quote }) => quote === '"') : WAYS;
  return [...ways.filter(({ quote }) => quote === before), ...ways.filter(({ quote }) => quote !== before)];
}

function writeValue(value: string, { quote, dollar }: Way, lineBreak: string): string {
  const text = value.replaceAll("$", () => dollar);
  const lines = value.includes("\r")
    ? text.replaceAll("\r", "\\r").replaceAll("\n", "\\n")
    : text.replaceAll("\n", lineBreak);
  return quote + lines + quote;
}

/** Each is tried by itself: one that cannot be written may have swallowed others. */
export function unwritable(
  file: ProjectFile,
  lines: readonly MovedLine[],
  values: readonly string[],
): ArgumentError {
  const [good, bad]: [string[], string[]] = [[], []];
  for (const [index, line] of lines.entries()) {
    using draft = draftWith(file, [line], [values[index]!]);
    (draft ? good : bad).push(line.name);
  }
  const [what, them] =
    bad.length === 0 ? ["all these values", "they"] : [bad.join(", "), bad.length === 1 ? "it" : "they"];
  return new ArgumentError(
    `${printable(file.path)} cannot have ${what} in a way that ${them} would be read, so nothing was changed`,
    good.length > 0
      ? `others come back by their names: rt secrets import --undo ${printable(file.path)} ${good.join(" ")}`
      : "rt secrets get prints each",
  );
}

/** One that a line in between has swallowed must not go unseen. */
function keepsTheRest(file: ProjectFile, read: Map<string, string>, lines: readonly MovedLine[]): boolean {
  const others = new Set(findAssignments(file.text).map(({ name }) => name));
  for (const { name } of lines) others.delete(name);
  const before = readEngineValues(resolve(file.path), others);
  return [...before].every(([name, value]) => read.get(name) === value);
}

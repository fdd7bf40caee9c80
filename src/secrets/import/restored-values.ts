// Writes moved values back into an env file.
//
// Invariants:
// - A value gets its former quotes, or others if the engine would read it differently in those.
// - The draft is returned only if the engine reads back every restored value and leaves every other variable unchanged.
import { resolve } from "node:path";
import { printable } from "../../printable.ts";
import { draftFile, type ProjectFile } from "../atomic-file-edit.ts";
import { ArgumentError } from "../command-arguments.ts";
import { readEngineValues } from "./engine-values.ts";
import { findAssignments, type Quote, replaceSpans } from "./env-file.ts";
import type { MovedLine } from "./moved-comment.ts";

const QUOTES: readonly Quote[] = ["", "'", '"', "`"];
/** A notation of a value: its quote, and the replacement of "$". */
interface ValueNotation {
  readonly quote: Quote;
  readonly dollar: string;
}

/** A plain "$" comes first: other programs would read the backslash of "\$" literally. */
const NOTATIONS: readonly ValueNotation[] = QUOTES.flatMap((quote) =>
  ["$", "\\$"].map((dollar) => ({ quote, dollar })),
);

/** Writes a draft with these values that the engine has read back correctly; undefined if no notation works. */
export function draftWithValues(file: ProjectFile, lines: readonly MovedLine[], values: readonly string[]) {
  const notations = lines.map(({ quote }, index) => notationsFor(values[index]!, quote));
  const lineBreak = /(?<!\r)\n/.test(file.text) ? "\n" : "\r\n";
  // Each round tries the next notation of the values that the engine read back wrongly.
  for (const _ of NOTATIONS) {
    const text = replaceSpans(
      file.text,
      lines.map(({ start, end, prefix }, index) => {
        const by = prefix + writeValue(values[index]!, notations[index]![0]!, lineBreak);
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
      for (const index of wrong.length > 0 ? wrong : notations.keys())
        notations[index]!.push(notations[index]!.shift()!);
    } finally {
      if (!isRight) draft[Symbol.dispose]();
    }
    if (isRight) return draft;
  }
  return undefined;
}

/** A carriage return ends a line for the engine, unless it is written as \r in double quotes. */
function notationsFor(value: string, before: Quote): ValueNotation[] {
  const notations = value.includes("\r") ? NOTATIONS.filter(({ quote }) => quote === '"') : NOTATIONS;
  return [
    ...notations.filter(({ quote }) => quote === before),
    ...notations.filter(({ quote }) => quote !== before),
  ];
}

function writeValue(value: string, { quote, dollar }: ValueNotation, lineBreak: string): string {
  const text = value.replaceAll("$", () => dollar);
  const lines = value.includes("\r")
    ? text.replaceAll("\r", "\\r").replaceAll("\n", "\\n")
    : text.replaceAll("\n", lineBreak);
  return quote + lines + quote;
}

/** Creates the error. Each value is tried separately, because one unrepresentable value can consume the lines of others. */
export function unrepresentableError(
  file: ProjectFile,
  lines: readonly MovedLine[],
  values: readonly string[],
): ArgumentError {
  const [good, bad]: [string[], string[]] = [[], []];
  for (const [index, line] of lines.entries()) {
    using draft = draftWithValues(file, [line], [values[index]!]);
    (draft ? good : bad).push(line.name);
  }
  const [what, them] =
    bad.length === 0 ? ["all these values", "them"] : [bad.join(", "), bad.length === 1 ? "it" : "them"];
  return new ArgumentError(
    `${printable(file.path)} cannot represent ${what} so that the engine reads ${them} back, so nothing was changed`,
    good.length > 0
      ? `restore the others by name: rt secrets import --undo ${printable(file.path)} ${good.join(" ")}`
      : "print each with rt secrets get",
  );
}

/** Returns whether every other variable is unchanged: a restored line could consume the following lines. */
function keepsTheRest(file: ProjectFile, read: Map<string, string>, lines: readonly MovedLine[]): boolean {
  const others = new Set(findAssignments(file.text).map(({ name }) => name));
  for (const { name } of lines) others.delete(name);
  const before = readEngineValues(resolve(file.path), others);
  return [...before].every(([name, value]) => read.get(name) === value);
}

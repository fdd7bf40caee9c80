// `rt secrets import --undo .env`: puts the values that have moved back to where they were.
//
// Contract: everything else in the file stays, what was added meanwhile too. A value comes back in the quotes that it had,
// or in others where the engine would read it otherwise in those. The store and rtfig.toml keep what they have: what is
// said of them is how to remove it.
import { resolve } from "node:path";
import { oneLine, printable } from "../../printable.ts";
import { confirm } from "../confirmation.ts";
import { print } from "../streams.ts";
import { type Words, WordsError } from "../words.ts";
import { readEngineValues } from "./engine-values.ts";
import { findAssignments, type Quote, replaceSpans } from "./env-file.ts";
import { describeAddress, readValue } from "./destination.ts";
import { draftFile, type ProjectFile, readProjectFile } from "../exchanged-file.ts";
import { findMovedLines, type MovedLine, shellWord } from "./moved-line.ts";

const DONE = 0;
const DECLINED = 1;
const QUOTES: readonly Quote[] = ["", "'", '"', "`"];
/** A "$" that the engine lets be comes back as it is: other programs would read the backslash too. */
const WAYS = QUOTES.flatMap((quote) => ["$", "\\$"].map((dollar) => ({ quote, dollar })));

/** Throws WordsError, and what the store throws. */
export async function undoImport(path: string, names: readonly string[], words: Words): Promise<number> {
  const file = readProjectFile(path);
  const lines = findMovedLines(file.text).filter(({ name }) => names.length === 0 || names.includes(name));
  if (lines.length === 0)
    throw new WordsError(
      `${printable(path)} has no line of rt secrets import${names.length > 0 ? " for that" : ""}`,
    );
  await print(lines.map(({ name, address }) => `back  ${name}  ${describeAddress(address)}\n`).join(""));
  if (words.options.has("dry-run")) return DONE;
  const question = `Write ${lines.length === 1 ? "this value" : "these values"} into ${printable(path)}, where every program can read ${lines.length === 1 ? "it" : "them"}?`;
  if (!words.options.has("yes") && !(await confirm(question, "nothing was changed"))) {
    await print("Nothing was changed\n");
    return DECLINED;
  }
  await bringBack(file, lines);
  const isStored = lines.every(({ address }) => address.file === undefined);
  const keeper = isStored ? "The credential store keeps them" : "Where they were they are kept";
  const removals = lines.map(({ address }) =>
    address.file === undefined
      ? `rt secrets delete -- ${shellWord(address.service)} ${shellWord(address.name)}\n`
      : `rt secrets delete --file=${shellWord(address.file)} ${address.name}\n`,
  );
  await print(
    `${printable(path)} has its values again. ${keeper} until\n${removals.map(printableLine).join("")}and rtfig.toml its [secrets.<name>], which gives them to scripts\n`,
  );
  return DONE;
}

function printableLine(line: string): string {
  return `  ${oneLine(line.trimEnd())}\n`;
}

async function bringBack(file: ProjectFile, lines: readonly MovedLine[]): Promise<void> {
  const values = await Promise.all(
    lines.map(async ({ address }) => {
      const value = await readValue(address);
      if (value !== null) return value;
      throw new WordsError(
        address.file === undefined
          ? `There is no credential "${printable(address.name)}" under "${printable(address.service)}", so nothing was changed`
          : `${printable(address.file)} has no entry "${printable(address.name)}", so nothing was changed`,
      );
    }),
  );
  const ways = lines.map(({ quote }) => [
    ...WAYS.filter((way) => way.quote === quote),
    ...WAYS.filter((way) => way.quote !== quote),
  ]);
  const lineBreak = /(?<!\r)\n/.test(file.text) ? "\n" : "\r\n";
  // Each try takes the next way of what has not come back as it should.
  for (const _ of WAYS) {
    const text = replaceSpans(
      file.text,
      lines.map(({ start, end, prefix }, index) => {
        const { quote, dollar } = ways[index]![0]!;
        const value = values[index]!.replaceAll("$", () => dollar).replaceAll("\n", lineBreak);
        return { start, end, by: prefix + quote + value + quote };
      }),
    );
    using draft = draftFile(file, text);
    const own = new Set(findAssignments(text).map(({ name }) => name));
    const read = readEngineValues(resolve(draft.path), own);
    const wrong = lines.flatMap(({ name }, index) => (read.get(name) === values[index] ? [] : [index]));
    if (wrong.length === 0 && keepsTheRest(file, read, lines)) return draft.putInPlace();
    for (const index of wrong.length > 0 ? wrong : ways.keys()) ways[index]!.push(ways[index]!.shift()!);
  }
  throw new WordsError(
    `${printable(file.path)} cannot have these values in a way that they would be read, so nothing was changed`,
    "rt secrets get prints each",
  );
}

/** One that a line in between has swallowed must not go unseen. */
function keepsTheRest(file: ProjectFile, read: Map<string, string>, lines: readonly MovedLine[]): boolean {
  const others = new Set(findAssignments(file.text).map(({ name }) => name));
  for (const { name } of lines) others.delete(name);
  const before = readEngineValues(resolve(file.path), others);
  return [...before].every(([name, value]) => read.get(name) === value);
}

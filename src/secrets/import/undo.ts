// `rt secrets import --undo .env`: puts the values that have moved back to where they were.
//
// Contract: everything else in the file stays, what was added meanwhile too. The store and rtfig.toml keep what
// they have: what is said of them is how to remove it.
//
// A comment is the project's own word, and could name any credential of who has cloned it. What rtfig.toml says of the same
// name, and a person has allowed, comes back by --yes; of all else a person at a terminal is shown the address, and asked.
import { readOwnConfig } from "../../config/rtfig.ts";
import { oneLine, printable } from "../../printable.ts";
import { complain } from "../command-arguments.ts";
import { confirm } from "../confirm-prompt.ts";
import { findMapping } from "../grants/mapping-file.ts";
import type { SecretSource } from "../grants/mapping.ts";
import { canAsk } from "../trust/yes-no-prompt.ts";
import { isTrusted } from "../trust/trust.ts";
import { print } from "../streams.ts";
import { type ParsedArguments, ArgumentError } from "../command-arguments.ts";
import { describeAddress, readValue } from "./destination.ts";
import { type ProjectFile, readProjectFile } from "../atomic-file-edit.ts";
import { findMovedLines, type MovedLine, shellWord } from "./moved-comment.ts";
import type { CredentialAddress } from "./plan.ts";
import { draftWith, unwritable } from "./restored-values.ts";

const DONE = 0;
const DECLINED = 1;

/** Throws WordsError, and what the store throws. */
export async function undoImport(
  path: string,
  names: readonly string[],
  words: ParsedArguments,
): Promise<number> {
  const file = readProjectFile(path);
  const all = findMovedLines(file.text);
  const lines = all.filter(({ name }) => names.length === 0 || names.includes(name));
  // It may be a value that was typed in the wrong place.
  if (lines.length === 0 || names.some((each) => !all.some(({ name }) => name === each)))
    throw new ArgumentError(
      `${printable(path)} has no line of rt secrets import${["", " for that"][names.length] ?? " for one of those names"}`,
    );
  const strange = findStrange(lines);
  await print(lines.map((line) => describeLine(line, strange.includes(line))).join(""));
  lines.forEach(warnOfParts);
  if (words.options.has("dry-run")) return DONE;
  if (strange.length > 0 && (words.options.has("yes") || !canAsk())) throw refusal(strange, path);
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

/** Those whose address is not that of the same name in an rtfig.toml that a person has allowed. Throws Failure, PackageJsonError. */
function findStrange(lines: readonly MovedLine[]): MovedLine[] {
  const mapping = findMapping(process.cwd(), readOwnConfig());
  const allowed = mapping && isTrusted(mapping, "scripts") ? mapping.secrets : undefined;
  return lines.filter(({ name, address }) => {
    const source = allowed?.get(name)?.source;
    return !source || !isSame(source, address, name);
  });
}

/** An entry of a file that rtfig.toml names has the variable's own name. */
function isSame(source: SecretSource, address: CredentialAddress, name: string): boolean {
  if (address.file !== undefined)
    return source.kind === "age" && source.file === address.file && address.name === name;
  return source.kind === "store" && source.service === address.service && source.name === address.name;
}

function describeLine({ name, address }: MovedLine, isStrange: boolean): string {
  return `back  ${name}  ${describeAddress(address)}${isStrange ? " (nobody has allowed it yet)" : ""}\n`;
}

/** The references of such a value are lost: what comes back is what they gave at the time. */
function warnOfParts({ name, parts }: MovedLine): void {
  if (parts.length === 0) return;
  complain(
    `${printable(name)} comes back without its references: it was put together from ${parts.map(printable).join(", ")}`,
    `write ${parts.map((part) => `\${${printable(part)}}`).join(" and ")} again in place of the value of it`,
    "warning",
  );
}

function refusal(strange: readonly MovedLine[], path: string): ArgumentError {
  const what = strange.map(({ name, address }) => `${name} from ${describeAddress(address)}`).join(", ");
  return new ArgumentError(
    `Nobody has allowed that ${printable(path)} gets ${what}, so nothing was changed`,
    "without --yes it asks, on a terminal; rt trust allows what rtfig.toml says, and that comes back by --yes",
  );
}

async function bringBack(file: ProjectFile, lines: readonly MovedLine[]): Promise<void> {
  const values = await Promise.all(
    lines.map(async ({ address }) => {
      const value = await readValue(address);
      if (value !== null) return value;
      throw new ArgumentError(
        address.file === undefined
          ? `There is no credential "${printable(address.name)}" under "${printable(address.service)}", so nothing was changed`
          : `${printable(address.file)} has no entry "${printable(address.name)}", so nothing was changed`,
      );
    }),
  );
  using draft = draftWith(file, lines, values);
  if (!draft) throw unwritable(file, lines, values);
  draft.putInPlace();
}

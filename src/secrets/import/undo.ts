// Runs `rt secrets import --undo .env`: restores moved values to their lines in the env file.
//
// Invariants:
// - Every other character of the file stays. The store and rtfig.toml keep the secrets; the output shows how to remove them.
// - A comment is untrusted: a cloned project could name any credential of the user. `--yes` restores an address only if a
//   trusted rtfig.toml has it for the same name.
// - Every other address is shown and confirmed on a terminal.
import { readOwnConfig } from "../../config/rtfig.ts";
import { oneLine, printable } from "../../printable.ts";
import { reportProblem } from "../command-arguments.ts";
import { confirm } from "../confirm-prompt.ts";
import { findMapping } from "../grants/mapping-file.ts";
import type { SecretSource } from "../grants/mapping.ts";
import { canAsk } from "../trust/yes-no-prompt.ts";
import { isTrusted } from "../trust/trust.ts";
import { print } from "../streams.ts";
import { type ParsedArguments, ArgumentError } from "../command-arguments.ts";
import { describeAddress, readValue } from "./destination.ts";
import { type ProjectFile, readProjectFile } from "../atomic-file-edit.ts";
import { shellWord } from "../shell-quote.ts";
import { findMovedLines, type MovedLine } from "./moved-comment.ts";
import type { CredentialAddress } from "./plan.ts";
import { draftWithValues, unrepresentableError } from "./restored-values.ts";

const DONE = 0;
const DECLINED = 1;

/** Runs the command and returns the exit code. @throws ArgumentError, SecretsError */
export async function undoImport(
  path: string,
  names: readonly string[],
  words: ParsedArguments,
): Promise<number> {
  const file = readProjectFile(path);
  const all = findMovedLines(file.text);
  const lines = all.filter(({ name }) => names.length === 0 || names.includes(name));
  // The message does not repeat the argument: it may be a secret value typed in the wrong position.
  if (lines.length === 0 || names.some((each) => !all.some(({ name }) => name === each)))
    throw new ArgumentError(
      `${printable(path)} has no line of rt secrets import${["", " for that"][names.length] ?? " for one of those names"}`,
    );
  const untrusted = findUntrusted(lines);
  await print(lines.map((line) => describeLine(line, untrusted.includes(line))).join(""));
  lines.forEach(warnOfParts);
  if (words.options.has("dry-run")) return DONE;
  if (untrusted.length > 0 && (words.options.has("yes") || !canAsk())) throw untrustedError(untrusted, path);
  const question = `Write ${lines.length === 1 ? "this value" : "these values"} into ${printable(path)}, where every program can read ${lines.length === 1 ? "it" : "them"}?`;
  if (!words.options.has("yes") && !(await confirm(question, "nothing was changed"))) {
    await print("No file was changed\n");
    return DECLINED;
  }
  await restoreValues(file, lines);
  const isStored = lines.every(({ address }) => address.file === undefined);
  const keeper = isStored ? "The credential store keeps them" : "Their destination keeps them";
  const removals = lines.map(({ address }) =>
    address.file === undefined
      ? `rt secrets delete -- ${shellWord(address.service)} ${shellWord(address.name)}\n`
      : `rt secrets delete --file=${shellWord(address.file)} ${address.name}\n`,
  );
  await print(
    `Restored the values in ${printable(path)}. ${keeper}; to delete them there:\n${removals.map(printableLine).join("")}rtfig.toml keeps their [secrets.<name>], which gives them to scripts\n`,
  );
  return DONE;
}

function printableLine(line: string): string {
  return `  ${oneLine(line.trimEnd())}\n`;
}

/** Returns the lines whose address is not that of the name in a trusted rtfig.toml. @throws UserError, PackageJsonError */
function findUntrusted(lines: readonly MovedLine[]): MovedLine[] {
  const mapping = findMapping(process.cwd(), readOwnConfig());
  const allowed = mapping && isTrusted(mapping, "scripts") ? mapping.secrets : undefined;
  return lines.filter(({ name, address }) => {
    const source = allowed?.get(name)?.source;
    return !source || !isSame(source, address, name);
  });
}

/** Compares addresses. An entry of an age file has the name of its variable. */
function isSame(source: SecretSource, address: CredentialAddress, name: string): boolean {
  if (address.file !== undefined)
    return source.kind === "age" && source.file === address.file && address.name === name;
  return source.kind === "store" && source.service === address.service && source.name === address.name;
}

function describeLine({ name, address }: MovedLine, isUntrusted: boolean): string {
  return `back  ${name}  ${describeAddress(address)}${isUntrusted ? " (not trusted yet)" : ""}\n`;
}

/** Warns that the value is restored with its references already substituted. */
function warnOfParts({ name, parts }: MovedLine): void {
  if (parts.length === 0) return;
  reportProblem(
    `${printable(name)} is restored without its references to ${parts.map(printable).join(", ")}`,
    `write ${parts.map((part) => `\${${printable(part)}}`).join(" and ")} again in its value`,
    "warning",
  );
}

function untrustedError(untrusted: readonly MovedLine[], path: string): ArgumentError {
  const what = untrusted.map(({ name, address }) => `${name} from ${describeAddress(address)}`).join(", ");
  return new ArgumentError(
    `${printable(path)} is not allowed to get ${what}, so nothing was changed`,
    "run it on a terminal without --yes, or allow the sources in rtfig.toml with rt trust",
  );
}

async function restoreValues(file: ProjectFile, lines: readonly MovedLine[]): Promise<void> {
  const values = await Promise.all(
    lines.map(async ({ address }) => {
      const value = await readValue(address);
      if (value !== null) return value;
      throw new ArgumentError(
        address.file === undefined
          ? `No credential "${printable(address.name)}" under "${printable(address.service)}", so nothing was changed`
          : `${printable(address.file)} has no entry "${printable(address.name)}", so nothing was changed`,
      );
    }),
  );
  using draft = draftWithValues(file, lines, values);
  if (!draft) throw unrepresentableError(file, lines, values);
  draft.commit();
}

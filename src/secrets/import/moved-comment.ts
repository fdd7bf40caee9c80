// Writes and finds the comment that replaces a moved assignment. It contains the shell command that reads the value, and
// everything needed to restore it.
//
//   export NPM_TOKEN="npm_..."  # of the release user
//   # export NPM_TOKEN="..." is in the credential store: rt secrets get shop NPM_TOKEN  # of the release user
import { shellWord } from "../shell-quote.ts";
import type { Quote } from "./env-file.ts";
import type { CredentialAddress, Move } from "./plan.ts";

const STORED = "is in the credential store: rt secrets get";
const ENCRYPTED = "is in an encrypted file: rt secrets get";
/** A word that a shell takes literally without quotes. */
const PLAIN = String.raw`[\w@%+=:,./-]+`;
const WORD = String.raw`(?:'(?:[^'\r\n]|'\\'')*'|${PLAIN})`;
const PARTS = "(put together from ";
const LINE = new RegExp(
  String.raw`^(\ufeff?[ \t]*)(# ((?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*)(["'\x60]?)\.\.\.\5 (?:${STORED} (?:-- )?(${WORD}) (${WORD})|${ENCRYPTED} --file=(${WORD}) (\w+))(?: \(put together from ([\w, ]+)\))?)`,
  "gm",
);

export interface MovedLine {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly prefix: string;
  readonly quote: Quote;
  readonly address: CredentialAddress;
  /** Variables that the value was put together from. */
  readonly parts: readonly string[];
}

export function movedLine({ assignment: { prefix, quote }, address, parts }: Move): string {
  const start = `# ${prefix}${quote}...${quote}`;
  const end = parts.length > 0 ? ` ${PARTS}${parts.join(", ")})` : "";
  if (address.file !== undefined)
    return `${start} ${ENCRYPTED} --file=${shellWord(address.file)} ${address.name}${end}`;
  const { service, name } = address;
  const isOption = service.startsWith("-") || name.startsWith("-");
  return `${start} ${STORED} ${isOption ? "-- " : ""}${shellWord(service)} ${shellWord(name)}${end}`;
}

export function findMovedLines(text: string): MovedLine[] {
  return [...text.matchAll(LINE)].map((match) => {
    const [, indent, whole, prefix, name, quote, service, account, file, entry, parts] =
      match as unknown as string[];
    const start = match.index + indent!.length;
    return {
      name: name!,
      start,
      end: start + whole!.length,
      prefix: prefix!,
      quote: quote as Quote,
      address:
        file === undefined
          ? { service: unquote(service!), name: unquote(account!) }
          : { file: unquote(file), name: entry! },
      parts: parts?.split(", ") ?? [],
    };
  });
}

function unquote(word: string): string {
  return word.startsWith("'") ? word.slice(1, -1).replaceAll(`'\\''`, "'") : word;
}

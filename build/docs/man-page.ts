// Generates the manual page rt(1) in mdoc, for `rt help --man` and dist/rt.1, from the tables of the help. Only the frame is written
// here.
import {
  DOCTOR_EXIT_CODES,
  FLAGS,
  SECRETS_COMMANDS,
  SECRETS_EXIT_CODES,
} from "../../src/secrets/commands.ts";
import { VERSION } from "../../src/version.ts";
import { COMMANDS } from "../../src/options/commands.ts";
import { EXIT_CODES } from "../../src/cli/help/exit-codes.ts";
import { GUIDES } from "../../src/cli/help/guides.ts";
import { type Option, OPTIONS } from "../../src/options/options.ts";

/** Date of the last change of the frame. A page needs a date, and the build date would not be reproducible. */
const DATE = "November 21, 2026";

export function renderManual(): string {
  return `${[
    `.Dd ${DATE}`,
    ".Dt RT 1",
    ".Os",
    ".Sh NAME",
    ".Nm rt",
    ".Nd run JavaScript, TypeScript and package.json scripts",
    SYNOPSIS,
    DESCRIPTION,
    ".Sh COMMANDS",
    "A command wins over a script of the same name;",
    ".Nm",
    ".Cm run",
    "runs the script.",
    ".Pp",
    ...compactList(commandItems()),
    ".Ss Commands of rt secrets",
    ...compactList(
      Object.entries(SECRETS_COMMANDS).map(([name, { usage, help }]) => commandItem(name, usage, help)),
    ),
    ".Pp",
    "Options of",
    ".Nm",
    ".Cm secrets",
    "and",
    ".Nm",
    ".Cm doctor :",
    ...compactList(
      FLAGS.map(({ name, short, help }) => [
        `.It Fl Fl ${name}${short ? ` , Fl ${short}` : ""}`,
        escape(help),
      ]),
    ),
    ".Sh OPTIONS",
    "Options stand right after",
    ".Nm",
    "or after",
    ".Cm run ,",
    "in front of what is run; what stands behind it belongs to it.",
    ...[...Map.groupBy(OPTIONS, ({ group }) => group)].flatMap(([title, options]) => [
      `.Ss ${title}`,
      ...list(options.map(optionItem)),
    ]),
    ENVIRONMENT,
    FILES,
    ".Sh EXIT STATUS",
    ...compactList(EXIT_CODES.map(({ code, meaning }) => [`.It ${code}`, escape(meaning)])),
    ...exitCodesOf("secrets", SECRETS_EXIT_CODES),
    ...exitCodesOf("doctor", DOCTOR_EXIT_CODES),
    EXAMPLES,
    ".Sh SEE ALSO",
    "The guides, each with",
    ".Nm",
    ".Cm help Ar guide :",
    ...compactList(Object.entries(GUIDES).map(([name, { help }]) => [`.It Cm ${name}`, escape(help)])),
  ].join("\n")}\n`;
}

type Item = readonly [head: string, text: string];

function list(items: readonly Item[]): string[] {
  return [".Bl -tag -width Ds", ...items.flat(), ".El"];
}

/** For names with short descriptions. */
function compactList(items: readonly Item[]): string[] {
  return [".Bl -tag -width configuration -compact", ...items.flat(), ".El"];
}

function commandItems(): Item[] {
  return Object.entries(COMMANDS)
    .filter(([, { aliasOf }]) => !aliasOf)
    .map(([name, { usage, help }]) => {
      const aliases = Object.keys(COMMANDS).filter((other) => COMMANDS[other]!.aliasOf === name);
      return commandItem([name, ...aliases].join(" , "), usage, help);
    });
}

function commandItem(name: string, usage: string | undefined, help: string): Item {
  const words = usage?.match(/<[^>]*>|\[[^\]]*\]|\S+/g) ?? [];
  return [`.It ${[`Cm ${name}`, ...words.map(markUp)].join(" ")}`, escape(help)];
}

/** `<file>` is a placeholder, `[args]` is optional, other words are literal. */
function markUp(word: string): string {
  const name = word.replaceAll(/[<>[\]]/g, "").replaceAll("|", " | ");
  if (name.startsWith("--")) return `Oo Fl Fl ${name.slice(2)} Oc`;
  if (word.startsWith("[")) return `Oo Ar ${name} Oc`;
  return `${word.startsWith("<") ? "Ar" : "Cm"} ${name}`;
}

function optionItem({ name, short, value, help, default: fallback }: Option): Item {
  const argument = value && `Ar ${value.hint.replaceAll("|", " | ")}`;
  const given =
    value?.kind === "optional" ? ` Ns Op = Ns ${argument}` : argument ? ` Ns = Ns ${argument}` : "";
  const head = `.It Fl Fl ${name}${given}${short ? ` , Fl ${short}${argument ? ` ${argument}` : ""}` : ""}`;
  return [head, escape(fallback === undefined ? `${help}.` : `${help}. The default is ${fallback}.`)];
}

function exitCodesOf(command: string, codes: Readonly<Record<number, string>>): string[] {
  return [
    ".Pp",
    ".Nm",
    `.Cm ${command}`,
    "exits with",
    ...compactList(Object.entries(codes).map(([code, meaning]) => [`.It ${code}`, escape(meaning)])),
  ];
}

const WIDEST_LINE = 78;

/**
 * Escapes text for roff, which interprets a backslash, and a dot or quote at the start of a line. Each sentence begins a line, and
 * `f()` is not a C function.
 */
function escape(text: string): string {
  const safe = text
    .replaceAll("\\", "\\e")
    .replaceAll(/(?<=^|[\s(])--?(?=\w)/g, (dashes) => dashes.replaceAll("-", "\\-"))
    .replaceAll("`", "")
    .replaceAll("()", "(\\&)")
    .replaceAll(". ", ".\n");
  return Bun.wrapAnsi(safe, WIDEST_LINE).replaceAll(/^[.']/gm, "\\&$&");
}

const SYNOPSIS = `.Sh SYNOPSIS
.Nm
.Op Ar options
.Ar file | script
.Op Ar arguments
.Nm
.Op Ar options
.Cm run
.Op Ar options
.Ar file | script | binary | command | -
.Op Ar arguments
.Nm
.Ar command
.Op Ar arguments`;

const DESCRIPTION = `.Sh DESCRIPTION
.Nm
runs JavaScript and TypeScript files, the scripts of
.Pa package.json ,
binaries of installed packages and system commands, and keeps credentials in
the store that the operating system has for them.
This is version ${VERSION}.
.Pp
A name is taken for the first of these that it is: a command of
.Nm ,
a script, a source file, a binary in
.Pa node_modules/.bin ,
and after
.Cm run
a command of the system.
Paths, and without
.Cm run
names with the extension of a source file, are files first.
A single
.Sq -
is code on standard input.`;

const ENVIRONMENT = `.Sh ENVIRONMENT
.Bl -tag -width Ds
.It Ev NO_COLOR , FORCE_COLOR
No colours, or colours even where there is no terminal.
.It Ev RT_CONCURRENCY
How many scripts run at a time, where
.Fl Fl concurrency
is not given.
.It Ev GITHUB_ACTIONS
.Dq true
makes the output of each script of many a group that folds.
.It Ev BUN_INSPECT
Opens a debugger, as
.Cm help debugging
tells.
.It Ev RT_TRUST
What
.Pa rtfig.toml
may give to scripts where nobody can be asked: the hash that
.Cm trust
prints, several separated by commas.
.It Ev DBUS_SESSION_BUS_ADDRESS
On Linux, where the service that keeps credentials is reached.
.El`;

const FILES = `.Sh FILES
.Bl -tag -width Ds
.It Pa package.json
Scripts, and with
.Dq workspaces
the packages that
.Fl Fl filter
selects from.
.It Pa rtfig.toml
The configuration;
.Nm
.Cm help configuration
lists its keys.
.It Pa .env
Variables for the program.
.El`;

const EXAMPLES = `.Sh EXAMPLES
Run a file, and the script
.Dq build
of all packages whose names begin with
.Dq app- ,
dependencies first:
.Bd -literal -offset indent
rt hello.ts
rt run --filter 'app-*' build
.Ed
.Pp
Put a token into the credential store, and print it:
.Bd -literal -offset indent
rt secrets set com.example.deploy ci
rt secrets get com.example.deploy ci
.Ed`;

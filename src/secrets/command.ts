// `rt secrets get|set|delete|list`: the credential store on the command line.
//
// Contract: a value is never an argument, where every process of the machine could read it, and is written to
// nothing but the standard output of `get`. The exit code tells apart what a script has to: 0 done, 1 there is no
// such credential, 2 anything else, as a store that is locked.
//
// Decisions:
// - `get` adds a line break on a terminal and nowhere else, so that a file or a pipe gets the value to the byte.
// - A single line on the standard input of `set` loses its line break, since `echo` and editors add one that nobody
//   means; input of several lines, such as a key in PEM, is kept to the byte.
// - An empty input is refused, because it is what a failing command before the pipe leaves. `echo | rt secrets set`
//   stores an empty value.
import { errorReason } from "../../platform/caught-error.ts";
import type { FindServerUses } from "../config/server-use.ts";
import { escapeJson, printable } from "../printable.ts";
import { host } from "../../platform/processes/process.ts";
import { splitRemedy } from "../../platform/secrets/contract/secret-provider.ts";
import { checkText, secrets, toSecretsError } from "./api/secrets.ts";
import { ENTRY_FLAGS, SECRETS_COMMANDS, type SecretsCommand, type SecretsCommandName } from "./commands.ts";
import { isTerminal, print, withoutLineBreak } from "./streams.ts";
import { complain, readWords, ArgumentError } from "./command-arguments.ts";
import { reportLine } from "../output.ts";

const DONE = 0;
const ABSENT = 1;
const FAILED = 2;
/** What a shell reports for a program that Ctrl-C has ended. */
const INTERRUPTED = 130;

type Perform = (service: string, name: string, isJson: boolean) => Promise<number>;

type Run = (args: readonly string[], showHelp: () => Promise<void>) => Promise<number>;

/** Commands with words and options of their own, each in a room of its own. */
const ROOMS = {
  helper: async () => (await import("./helpers/command.ts")).runHelperCommand,
  check: async () => (await import("./scan/command.ts")).runCheckCommand,
  import: async () => (await import("./import/command.ts")).runImportCommand,
  share: async () => (await import("./age/command.ts")).runShareCommand,
} as const satisfies Partial<Readonly<Record<SecretsCommandName, () => Promise<Run>>>>;

type Room = keyof typeof ROOMS;

const PERFORM: Readonly<Record<Exclude<SecretsCommandName, Room | "env">, Perform>> = {
  get: printValue,
  set: storeValue,
  delete: deleteCredential,
  list: printNames,
};

/** `showHelp` prints the help of `rt secrets`. `loadServerUses` is called for `rt secrets env`. */
export async function runSecretsCommand(
  args: string[],
  showHelp: () => Promise<void>,
  loadServerUses: () => Promise<FindServerUses>,
): Promise<number> {
  const isJson = args.includes("--json");
  try {
    return await carryOut(args, showHelp, loadServerUses);
  } catch (error) {
    return explain(error, isJson, !isRoom(args[0] ?? ""));
  }
}

async function carryOut(
  args: readonly string[],
  showHelp: () => Promise<void>,
  loadServerUses: () => Promise<FindServerUses>,
): Promise<number> {
  const [first = ""] = args;
  if (isRoom(first)) {
    const run: Run = await ROOMS[first]();
    return await run(args.slice(1), showHelp);
  }
  const { options, values, operands } = readWords(args, ENTRY_FLAGS);
  const [word, ...rest] = operands;
  if (options.has("help") || word === undefined) {
    await showHelp();
    return DONE;
  }
  if (!isCommand(word)) {
    const known = Object.keys(SECRETS_COMMANDS).join(", ");
    throw new ArgumentError(`"${printable(word)}" is no command of rt secrets`, `there are ${known}`);
  }
  if (isRoom(word)) throw new ArgumentError(`Options of rt secrets ${word} stand after ${word}`);
  const file = values.get("file")?.at(-1);
  if (file !== undefined) {
    if (word === "env") throw new ArgumentError("rt secrets env takes no --file: rtfig.toml says which one");
    const { runEntryCommand } = await import("./age/command.ts");
    const readEntryValue = async (name: string) => await obtainValue(file, name);
    return await runEntryCommand(word, file, rest, options.has("json"), readEntryValue);
  }
  const config = values.get("config")?.at(-1);
  if (config !== undefined && word !== "env")
    throw new ArgumentError(`rt secrets ${word} takes no --config: it is for env`);
  const command: SecretsCommand = SECRETS_COMMANDS[word];
  checkOperands(word, command, rest);
  if (options.has("json") && !command.hasJson)
    throw new ArgumentError(`rt secrets ${word} prints nothing, so no JSON`);
  if (word === "env") {
    const { describeEnvironment } = await import("./grants/env-command.ts");
    return await describeEnvironment(rest[0], options.has("json"), config, await loadServerUses());
  }
  const [service, name] = rest;
  // What the engine could not decode would be one name for many.
  if (!host.exactArguments(args).every((word) => word.isWellFormed()))
    throw new ArgumentError("Service and name must be text in UTF-8");
  if (service !== undefined) checkText("service", service);
  if (name !== undefined) checkText("name", name);
  return PERFORM[word](service ?? "", name ?? "", options.has("json"));
}

function isCommand(word: string): word is SecretsCommandName {
  return Object.hasOwn(SECRETS_COMMANDS, word);
}

function isRoom(word: string): word is Room {
  return Object.hasOwn(ROOMS, word);
}

function checkOperands(
  word: SecretsCommandName,
  { usage, takes: [fewest, most] }: SecretsCommand,
  operands: readonly string[],
): void {
  const count = operands.length;
  const hint = `rt secrets ${word} ${usage}`;
  if (count < fewest)
    throw new ArgumentError(
      `rt secrets ${word} needs a service and a name`,
      operands[0]?.includes("/") ? `${hint}: two words, not "service/name" as in rtfig.toml` : hint,
    );
  if (count <= most) return;
  if (word !== "set")
    throw new ArgumentError(
      `rt secrets ${word} takes no more than ${most} ${most === 1 ? "word" : "words"}`,
      hint,
    );
  throw new ArgumentError(
    "rt secrets set takes no value as an argument, where other programs and the shell's history would see it",
    `${hint} asks for the value, or reads it from standard input`,
  );
}

async function printValue(service: string, name: string, isJson: boolean): Promise<number> {
  const value = await secrets.get(service, name);
  if (isJson) await printJson({ service, name, value });
  if (value === null) return reportAbsent(service, name);
  if (!isJson) await print((await isTerminal(1)) ? `${value}\n` : value);
  return DONE;
}

/** Null where the person gave up. */
async function obtainValue(service: string, name: string): Promise<string | null> {
  return (await isTerminal(0)) ? await askForValue(service, name) : await readValue();
}

async function storeValue(service: string, name: string): Promise<number> {
  const value = await obtainValue(service, name);
  if (value === null) return INTERRUPTED;
  await secrets.set(service, name, value);
  return DONE;
}

async function deleteCredential(service: string, name: string, isJson: boolean): Promise<number> {
  const deleted = await secrets.delete(service, name);
  if (isJson) await printJson({ service, name, deleted });
  return deleted ? DONE : reportAbsent(service, name);
}

async function printNames(service: string, _name: string, isJson: boolean): Promise<number> {
  const { openProvider } = await import("../../platform/secrets/secret-provider.ts");
  let found;
  try {
    const store = await openProvider();
    if (!store.list) throw new ArgumentError("The credential store of this system cannot be listed by rt");
    found = await store.list(service === "" ? undefined : service);
  } catch (error) {
    throw toSecretsError(error);
  }
  const sorted = found.sort((a, b) => compare(a.service, b.service) || compare(a.name, b.name));
  if (isJson) await printJson(sorted.map(({ service, name }) => ({ service, name })));
  else await print(sorted.map(({ service, name }) => `${printable(service)}\t${printable(name)}\n`).join(""));
  return DONE;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

async function askForValue(service: string, name: string): Promise<string | null> {
  const { promptHidden } = await import("./hidden-prompt.ts");
  const value = await promptHidden(`Value for ${printable(service)} ${printable(name)} (not shown): `);
  if (value === "")
    throw new ArgumentError(
      "Nothing was entered, so nothing was stored",
      "to store an empty value: echo | rt secrets set",
    );
  return value === null ? null : withoutLineBreak(value);
}

async function readValue(): Promise<string> {
  const bytes = await Bun.stdin.bytes().catch((error: unknown) => {
    throw new ArgumentError(
      `Standard input could not be read (${errorReason(error)}), so nothing was stored`,
    );
  });
  if (bytes.length === 0)
    throw new ArgumentError(
      "Standard input is empty, so nothing was stored",
      "pipe the value into it, or start it on a terminal to be asked; to store an empty value: echo | rt secrets set",
    );
  try {
    return withoutLineBreak(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new ArgumentError(
      "Standard input is not text in UTF-8, so nothing was stored",
      "encode it first, as with base64",
    );
  } finally {
    bytes.fill(0);
  }
}

function reportAbsent(service: string, name: string): number {
  complain(`There is no credential "${printable(name)}" under "${printable(service)}"`);
  return ABSENT;
}

function printJson(value: unknown): Promise<void> {
  return print(`${escapeJson(JSON.stringify(value, null, 2))}\n`);
}

/** For the commands that can use a file in place of the store. */
const WITHOUT_STORE = [
  "run rt doctor to see what the store needs",
  "or use a file that is encrypted with age, which needs no store: rt secrets set --file secrets.age; rt help moving-in",
];

/** @param mayUseFile whether the command takes --file */
async function explain(error: unknown, isJson: boolean, mayUseFile: boolean): Promise<number> {
  const { name, code, message, hint: hints } = error as Error & { code?: string; hint?: string | string[] };
  const hint = Array.isArray(hints) ? hints.join("; ") : hints;
  if (code === "EPIPE") return FAILED;
  // Nothing may end with 1, which says that there is no such credential.
  if (name !== "WordsError" && name !== "Failure" && !code?.startsWith("ERR_")) {
    complain(printable(`${name}: ${message}`), "this is a fault of rt");
    return FAILED;
  }
  const [what, remedy] = name === "SecretsError" ? splitRemedy(message) : [message, hint];
  complain(what, remedy);
  if (code === "ERR_SECRETS_UNAVAILABLE" && mayUseFile)
    for (const hint of WITHOUT_STORE) reportLine(`hint: ${hint}`);
  // If that cannot be printed, the line above and the exit code still tell.
  if (isJson && name === "SecretsError")
    await printJson({ error: { code, message: what, hint: remedy } }).catch(() => {});
  return FAILED;
}

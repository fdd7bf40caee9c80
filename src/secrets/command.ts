// Runs `rt secrets get|set|delete|list` on the credential store, and dispatches the other subcommands.
//
// Invariants:
// - A value is never an argument, which every process on the machine could read. Only the standard output of `get` receives it.
// - Exit codes: 0 done, 1 credential not found, 2 any other failure, such as a locked store.
//
// Non-obvious:
// - `get` appends a line break on a terminal only, so that files and pipes receive the exact value.
// - `set` strips the line break of a single-line input, which `echo` and editors add. Several lines (a PEM key) stay unchanged.
// - `set` rejects empty input: a failed command before the pipe produces it. `echo | rt secrets set` stores an empty value.
import { errorReason } from "../../platform/caught-error.ts";
import type { FindServerUses } from "../config/server-use.ts";
import { escapeJson, printable } from "../printable.ts";
import { host } from "../../platform/processes/process.ts";
import { splitRemedy } from "../../platform/secrets/contract/secret-provider.ts";
import { checkText, secrets, toSecretsError } from "./api/secrets.ts";
import { ENTRY_FLAGS, SECRETS_COMMANDS, type SecretsCommand, type SecretsCommandName } from "./commands.ts";
import { isTerminal, print, withoutLineBreak } from "./streams.ts";
import { reportProblem, parseArguments, ArgumentError } from "./command-arguments.ts";
import { reportLine } from "../output.ts";

const DONE = 0;
const ABSENT = 1;
const FAILED = 2;
/** 128 + SIGINT. */
const INTERRUPTED = 130;

type StoreOperation = (service: string, name: string, isJson: boolean) => Promise<number>;

type Run = (args: readonly string[], showHelp: () => Promise<void>) => Promise<number>;

/** Subcommands that parse their own arguments. */
const SUBCOMMANDS = {
  helper: async () => (await import("./helpers/command.ts")).runHelperCommand,
  check: async () => (await import("./scan/command.ts")).runCheckCommand,
  import: async () => (await import("./import/command.ts")).runImportCommand,
  share: async () => (await import("./age/command.ts")).runShareCommand,
} as const satisfies Partial<Readonly<Record<SecretsCommandName, () => Promise<Run>>>>;

type Subcommand = keyof typeof SUBCOMMANDS;

const STORE_OPERATIONS: Readonly<Record<Exclude<SecretsCommandName, Subcommand | "env">, StoreOperation>> = {
  get: printValue,
  set: storeValue,
  delete: deleteCredential,
  list: printNames,
};

/**
 * Runs the command and returns the exit code.
 * @param showHelp prints the help of `rt secrets`
 * @param loadServerUses called by `rt secrets env` only
 */
export async function runSecretsCommand(
  args: string[],
  showHelp: () => Promise<void>,
  loadServerUses: () => Promise<FindServerUses>,
): Promise<number> {
  const isJson = args.includes("--json");
  try {
    return await dispatch(args, showHelp, loadServerUses);
  } catch (error) {
    return reportError(error, isJson, !isSubcommand(args[0] ?? ""));
  }
}

async function dispatch(
  args: readonly string[],
  showHelp: () => Promise<void>,
  loadServerUses: () => Promise<FindServerUses>,
): Promise<number> {
  const [first = ""] = args;
  if (isSubcommand(first)) {
    const run: Run = await SUBCOMMANDS[first]();
    return await run(args.slice(1), showHelp);
  }
  const { options, values, operands } = parseArguments(args, ENTRY_FLAGS);
  const [word, ...rest] = operands;
  if (options.has("help") || word === undefined) {
    await showHelp();
    return DONE;
  }
  if (!isCommand(word)) {
    const names = Object.keys(SECRETS_COMMANDS).join(", ");
    throw new ArgumentError(`Unknown command: rt secrets ${printable(word)}`, `use one of: ${names}`);
  }
  if (isSubcommand(word)) throw new ArgumentError(`Options of rt secrets ${word} go after "${word}"`);
  const file = values.get("file")?.at(-1);
  if (file !== undefined) {
    if (word === "env") throw new ArgumentError("rt secrets env takes no --file: rtfig.toml names the file");
    const { runEntryCommand } = await import("./age/command.ts");
    const readEntryValue = async (name: string) => await promptOrReadValue(file, name);
    return await runEntryCommand(word, file, rest, options.has("json"), readEntryValue);
  }
  const config = values.get("config")?.at(-1);
  if (config !== undefined && word !== "env")
    throw new ArgumentError(`rt secrets ${word} takes no --config; only env does`);
  const command: SecretsCommand = SECRETS_COMMANDS[word];
  checkOperands(word, command, rest);
  if (options.has("json") && !command.hasJson)
    throw new ArgumentError(`rt secrets ${word} takes no --json: it prints nothing`);
  if (word === "env") {
    const { describeEnvironment } = await import("./grants/env-command.ts");
    return await describeEnvironment(rest[0], options.has("json"), config, await loadServerUses());
  }
  const [service, name] = rest;
  // The engine decodes every invalid byte to U+FFFD, so different names would become equal.
  if (!host.exactArguments(args).every((word) => word.isWellFormed()))
    throw new ArgumentError("Service and name must be text in UTF-8");
  if (service !== undefined) checkText("service", service);
  if (name !== undefined) checkText("name", name);
  return STORE_OPERATIONS[word](service ?? "", name ?? "", options.has("json"));
}

function isCommand(word: string): word is SecretsCommandName {
  return Object.hasOwn(SECRETS_COMMANDS, word);
}

function isSubcommand(word: string): word is Subcommand {
  return Object.hasOwn(SUBCOMMANDS, word);
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
      operands[0]?.includes("/") ? `${hint}: two arguments, not "service/name" as in rtfig.toml` : hint,
    );
  if (count <= most) return;
  if (word !== "set")
    throw new ArgumentError(
      `rt secrets ${word} takes at most ${most} ${most === 1 ? "argument" : "arguments"}`,
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

/** Prompts on a terminal, else reads standard input. Returns null if the user cancels the prompt. */
async function promptOrReadValue(service: string, name: string): Promise<string | null> {
  return (await isTerminal(0)) ? await promptForValue(service, name) : await readValue();
}

async function storeValue(service: string, name: string): Promise<number> {
  const value = await promptOrReadValue(service, name);
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
  let credentials;
  try {
    const store = await openProvider();
    if (!store.list) throw new ArgumentError("rt cannot list the credential store of this system");
    credentials = await store.list(service === "" ? undefined : service);
  } catch (error) {
    throw toSecretsError(error);
  }
  const sorted = credentials.sort((a, b) => compare(a.service, b.service) || compare(a.name, b.name));
  if (isJson) await printJson(sorted.map(({ service, name }) => ({ service, name })));
  else if (sorted.length === 0)
    reportLine(`No secrets ${service === "" ? "in the credential store" : `under "${printable(service)}"`}`);
  else await print(sorted.map(({ service, name }) => `${printable(service)}\t${printable(name)}\n`).join(""));
  return DONE;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

async function promptForValue(service: string, name: string): Promise<string | null> {
  const { promptHidden } = await import("./hidden-prompt.ts");
  const value = await promptHidden(`Value for ${printable(service)} ${printable(name)} (not shown): `);
  if (value === "")
    throw new ArgumentError(
      "No value was entered, so nothing was stored",
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
      "pipe the value into it, or run it on a terminal; to store an empty value: echo | rt secrets set",
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
  reportProblem(`No credential "${printable(name)}" under "${printable(service)}"`);
  return ABSENT;
}

function printJson(value: unknown): Promise<void> {
  return print(`${escapeJson(JSON.stringify(value, null, 2))}\n`);
}

/** Hints for commands that take --file. */
const WITHOUT_STORE = [
  "run rt doctor to see what the store needs",
  "or use an age-encrypted file, which needs no store: rt secrets set --file secrets.age; rt help encrypted-file",
];

/** Prints an error and returns the exit code. @param mayUseFile whether the command takes --file */
async function reportError(error: unknown, isJson: boolean, mayUseFile: boolean): Promise<number> {
  const { name, code, message, hint: hints } = error as Error & { code?: string; hint?: string | string[] };
  const hint = Array.isArray(hints) ? hints.join("; ") : hints;
  if (code === "EPIPE") return FAILED;
  // An unhandled error would exit with 1, which means that the credential does not exist.
  if (name !== "ArgumentError" && name !== "UserError" && !code?.startsWith("ERR_")) {
    reportProblem(printable(`${name}: ${message}`), "this is a bug in rt");
    return FAILED;
  }
  const [what, remedy] = name === "SecretsError" ? splitRemedy(message) : [message, hint];
  reportProblem(what, remedy);
  if (code === "ERR_SECRETS_UNAVAILABLE" && mayUseFile)
    for (const hint of WITHOUT_STORE) reportLine(`hint: ${hint}`);
  // A failure here is ignored: the error is on stderr and in the exit code already.
  if (isJson && name === "SecretsError")
    await printJson({ error: { code, message: what, hint: remedy } }).catch(() => {});
  return FAILED;
}

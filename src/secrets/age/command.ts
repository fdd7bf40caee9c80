// Runs `rt secrets share` (recipients of an age file) and `rt secrets get|set|delete|list --file` (its entries).
//
// Invariants:
// - Values come from the terminal or standard input, and only the standard output of `get` receives them.
import { escapeJson, printable } from "../../printable.ts";
import { SHARE_ACTIONS, SHARE_FLAGS } from "../commands.ts";
import { confirm } from "../confirm-prompt.ts";
import { variableNameFault } from "../grants/variable-name.ts";
import { isTerminal, print } from "../streams.ts";
import { reportProblem, parseArguments, ArgumentError } from "../command-arguments.ts";
import {
  decryptShared,
  isPublicKey,
  newKey,
  openOrCreate,
  openShared,
  ownPublicKeys,
  type Recipient,
  requireBound,
  type SharedSecrets,
  writeShared,
} from "./age-file.ts";
import { storeKey } from "./identity.ts";
import { findProjectId } from "./project-id.ts";

const DONE = 0;
const ABSENT = 1;
const DEFAULT_FILE = "secrets.age";

type ShareAction = (
  file: string,
  operands: readonly string[],
  options: ReadonlySet<string>,
) => Promise<number>;

const ACTIONS: Readonly<
  Record<
    (typeof SHARE_ACTIONS)[number],
    { readonly takes: readonly [number, number]; readonly act: ShareAction }
  >
> = {
  key: { takes: [0, 0], act: printKey },
  "new-key": { takes: [0, 0], act: printNewKey },
  add: { takes: [1, 2], act: addRecipient },
  remove: { takes: [1, 1], act: removeRecipient },
  list: { takes: [0, 0], act: printContent },
  bind: { takes: [0, 0], act: bindFile },
};

/** Runs the command and returns the exit code. @throws ArgumentError, UserError, SecretsError */
export async function runShareCommand(
  args: readonly string[],
  showHelp: () => Promise<void>,
): Promise<number> {
  const { options, values, operands } = parseArguments(args, SHARE_FLAGS);
  const [word, ...rest] = operands;
  if (options.has("help") || word === undefined) {
    await showHelp();
    return DONE;
  }
  const name = SHARE_ACTIONS.find((each) => each === word);
  if (!name)
    throw new ArgumentError("rt secrets share has no such action", `use one of: ${SHARE_ACTIONS.join(", ")}`);
  const action = ACTIONS[name];
  const [fewest, most] = action.takes;
  if (rest.length < fewest || rest.length > most)
    throw new ArgumentError(`rt secrets share ${word} takes ${most === 0 ? "no arguments" : "a public key"}`);
  return await action.act(values.get("file")?.at(-1) ?? DEFAULT_FILE, rest, options);
}

/** Prints this machine's public keys; creates a key if there is none. */
async function printKey(): Promise<number> {
  let keys = await ownPublicKeys();
  if (keys.length === 0) {
    const { privateKey, publicKey } = await newKey();
    await storeKey(privateKey);
    keys = [publicKey];
  }
  await print(keys.map((key) => `${key}\n`).join(""));
  return DONE;
}

/** Prints a new key in the format of age-keygen, for a machine without a credential store. */
async function printNewKey(): Promise<number> {
  const { privateKey, publicKey } = await newKey();
  await print(`# public key: ${publicKey}\n${privateKey}\n`);
  return DONE;
}

async function addRecipient(file: string, [key, name]: readonly string[]): Promise<number> {
  checkKey(key!);
  if (name !== undefined && !name.isWellFormed())
    throw new ArgumentError("The recipient's name must be text in UTF-8");
  const { file: sharedFile, content } = await openShared(file);
  const others = content.readers.filter((reader) => reader.key !== key);
  await writeShared(sharedFile, { ...content, readers: [...others, { key: key!, name }] });
  return DONE;
}

async function removeRecipient(file: string, [key]: readonly string[]): Promise<number> {
  checkKey(key!);
  const { file: sharedFile, content } = await openShared(file);
  const readers = content.readers.filter((reader) => reader.key !== key);
  if (readers.length === content.readers.length) {
    reportProblem(
      `${printable(file)} is not encrypted to that key`,
      "list its recipients: rt secrets share list",
    );
    return ABSENT;
  }
  if (readers.length === 0)
    throw new ArgumentError(
      `That is the last key that reads ${printable(file)}`,
      "add another key first, or remove the file",
    );
  await writeShared(sharedFile, { ...content, readers });
  reportProblem(
    "Older versions of the file in git stay readable with that key",
    "replace the credentials at the services that issued them",
    "warning",
  );
  return DONE;
}

/** Prints the recipients and names of a file of any project, without values. */
async function printContent(
  file: string,
  _: readonly string[],
  options: ReadonlySet<string>,
): Promise<number> {
  const { content } = await decryptShared(file);
  const { project, readers, secrets } = content;
  const report = { project, readers, secrets: [...secrets.keys()] };
  await print(
    options.has("json") ? `${escapeJson(JSON.stringify(report, null, 2))}\n` : describeContent(content),
  );
  return DONE;
}

function describeContent({ readers, secrets }: SharedSecrets): string {
  return [
    ...readers.map(describeRecipient),
    ...[...secrets.keys()].map((name) => `secret\t${printable(name)}`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

/** Binds a file of an earlier version to this project, after a confirmation. */
async function bindFile(file: string, _: readonly string[], options: ReadonlySet<string>): Promise<number> {
  const { file: sharedFile, content } = await decryptShared(file);
  if (content.project !== undefined) {
    requireBound(content, findProjectId(file), file);
    reportProblem(`${printable(file)} is bound to this project already`, undefined, "warning");
    return DONE;
  }
  await print(describeContent(content));
  const question = `Is ${printable(file)}, with these secrets, a file of this project?`;
  if (!options.has("yes") && !(await confirm(question, "nothing was bound"))) return ABSENT;
  await writeShared(sharedFile, content);
  return DONE;
}

function describeRecipient({ key, name }: Recipient): string {
  return ["reader", key, ...(name === undefined ? [] : [printable(name)])].join("\t");
}

/** Validates a public key. The messages do not repeat it: it may be a private key. */
function checkKey(key: string): void {
  if (/^AGE-SECRET-KEY-/i.test(key))
    throw new ArgumentError(
      "That is a private key, and the shell's history contains it now",
      "create a new key and pass its public key, which begins with age1",
    );
  if (!isPublicKey(key))
    throw new ArgumentError("That is not an age public key", "rt secrets share key prints one (age1...)");
}

export type EntryCommand = "get" | "set" | "delete" | "list";

/**
 * Runs a command with --file and returns the exit code.
 * @param readValue prompts for the value of a name, or reads it; null if the user cancels
 * @throws ArgumentError, UserError, SecretsError
 */
export async function runEntryCommand(
  command: EntryCommand,
  path: string,
  operands: readonly string[],
  isJson: boolean,
  readValue: (name: string) => Promise<string | null>,
): Promise<number> {
  const [name = "", ...more] = operands;
  if (command === "list") {
    if (operands.length > 0) throw new ArgumentError("With --file, rt secrets list takes no arguments");
    return await printContent(path, [], new Set(isJson ? ["json"] : []));
  }
  if (name === "" || more.length > 0)
    throw new ArgumentError(
      `With --file, rt secrets ${command} takes the name of an entry`,
      `rt secrets ${command} --file ${printable(path)} NAME`,
    );
  const fault = variableNameFault(name);
  if (fault) throw new ArgumentError(`"${printable(name)}" ${fault}`);
  const { file, content } = command === "set" ? await openOrCreate(path) : await openShared(path);
  const before = content.secrets.get(name);
  if (command === "get" && isJson)
    await print(`${escapeJson(JSON.stringify({ file: path, name, value: before ?? null }, null, 2))}\n`);
  if (command !== "set" && before === undefined) {
    reportProblem(`${printable(path)} has no entry "${printable(name)}"`);
    return ABSENT;
  }
  if (command === "get") {
    if (!isJson) await print((await isTerminal(1)) ? `${before}\n` : before!);
    return DONE;
  }
  const secrets = new Map(content.secrets);
  if (command === "delete") secrets.delete(name);
  else {
    const value = await readValue(name);
    if (value === null) return 130;
    if (value.includes("\0") || !value.isWellFormed())
      throw new ArgumentError("A variable cannot hold this value (NUL character or invalid Unicode)");
    secrets.set(name, value);
  }
  await writeShared(file, { ...content, secrets });
  if (command === "delete" && isJson)
    await print(`${JSON.stringify({ file: path, name, deleted: true }, null, 2)}\n`);
  return DONE;
}

// `rt secrets share`: who reads a file of secrets; and `rt secrets get|set|delete|list --file`, its entries.
//
// Contract: as for the store: values come from the terminal or standard input and go to the standard output of `get` alone.
import { escapeJson, printable } from "../../printable.ts";
import { SHARE_ACTIONS, SHARE_FLAGS } from "../commands.ts";
import { confirm } from "../confirm-prompt.ts";
import { faultOfName } from "../grants/variable-name.ts";
import { isTerminal, print } from "../streams.ts";
import { complain, readWords, ArgumentError } from "../command-arguments.ts";
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
  add: { takes: [1, 2], act: addReader },
  remove: { takes: [1, 1], act: removeReader },
  list: { takes: [0, 0], act: listAll },
  bind: { takes: [0, 0], act: bindFile },
};

/** Throws WordsError, Failure, and what the store throws. */
export async function runShareCommand(
  args: readonly string[],
  showHelp: () => Promise<void>,
): Promise<number> {
  const { options, values, operands } = readWords(args, SHARE_FLAGS);
  const [word, ...rest] = operands;
  if (options.has("help") || word === undefined) {
    await showHelp();
    return DONE;
  }
  const name = SHARE_ACTIONS.find((each) => each === word);
  if (!name)
    throw new ArgumentError("rt secrets share has no such action", `there are ${SHARE_ACTIONS.join(", ")}`);
  const action = ACTIONS[name];
  const [fewest, most] = action.takes;
  if (rest.length < fewest || rest.length > most)
    throw new ArgumentError(`rt secrets share ${word} takes ${most === 0 ? "no words" : "a public key"}`);
  return await action.act(values.get("file")?.at(-1) ?? DEFAULT_FILE, rest, options);
}

/** This machine's, made at first. */
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

/** For a machine without a store: in the form of age-keygen. */
async function printNewKey(): Promise<number> {
  const { privateKey, publicKey } = await newKey();
  await print(`# public key: ${publicKey}\n${privateKey}\n`);
  return DONE;
}

async function addReader(file: string, [key, name]: readonly string[]): Promise<number> {
  checkKey(key!);
  if (name !== undefined && !name.isWellFormed())
    throw new ArgumentError("The reader's name must be text in UTF-8");
  const { file: opened, content } = await openShared(file);
  const others = content.readers.filter((reader) => reader.key !== key);
  await writeShared(opened, { ...content, readers: [...others, { key: key!, name }] });
  return DONE;
}

async function removeReader(file: string, [key]: readonly string[]): Promise<number> {
  checkKey(key!);
  const { file: opened, content } = await openShared(file);
  const readers = content.readers.filter((reader) => reader.key !== key);
  if (readers.length === content.readers.length) {
    complain(`${printable(file)} is not encrypted to that key`, "rt secrets share list has its readers");
    return ABSENT;
  }
  if (readers.length === 0)
    throw new ArgumentError(
      `That is the last key that reads ${printable(file)}`,
      "add another one first, or remove the file",
    );
  await writeShared(opened, { ...content, readers });
  complain(
    "Older versions of the file, as git keeps them, stay readable with that key",
    "change the credentials themselves where they were issued",
    "warning",
  );
  return DONE;
}

/** Lists a file of any project, without its values. */
async function listAll(file: string, _: readonly string[], options: ReadonlySet<string>): Promise<number> {
  const { content } = await decryptShared(file);
  const { project, readers, secrets } = content;
  const answer = { project, readers, secrets: [...secrets.keys()] };
  await print(
    options.has("json") ? `${escapeJson(JSON.stringify(answer, null, 2))}\n` : describeContent(content),
  );
  return DONE;
}

function describeContent({ readers, secrets }: SharedSecrets): string {
  return [...readers.map(describeReader), ...[...secrets.keys()].map((name) => `secret\t${printable(name)}`)]
    .map((line) => `${line}\n`)
    .join("");
}

/** For a file of an earlier version: a person says that it is this project's. */
async function bindFile(file: string, _: readonly string[], options: ReadonlySet<string>): Promise<number> {
  const { file: opened, content } = await decryptShared(file);
  if (content.project !== undefined) {
    requireBound(content, findProjectId(file), file);
    complain(`${printable(file)} is bound to this project already`, undefined, "warning");
    return DONE;
  }
  await print(describeContent(content));
  const question = `Is ${printable(file)}, with these secrets, a file of this project?`;
  if (!options.has("yes") && !(await confirm(question, "nothing was bound"))) return ABSENT;
  await writeShared(opened, content);
  return DONE;
}

function describeReader({ key, name }: Recipient): string {
  return ["reader", key, ...(name === undefined ? [] : [printable(name)])].join("\t");
}

/** What was given is not repeated: it may be the private half. */
function checkKey(key: string): void {
  if (/^AGE-SECRET-KEY-/i.test(key))
    throw new ArgumentError(
      "That is a private key, which nobody else may see, and now the shell's history has it",
      "make a new one; its public half begins with age1",
    );
  if (!isPublicKey(key))
    throw new ArgumentError("That is no public key of age", "as in age1...: rt secrets share key prints one");
}

export type EntryCommand = "get" | "set" | "delete" | "list";

/** `readValue` asks for the value of a name, or reads it; null where the person gave up. Throws as runShareCommand. */
export async function runEntryCommand(
  command: EntryCommand,
  path: string,
  operands: readonly string[],
  isJson: boolean,
  readValue: (name: string) => Promise<string | null>,
): Promise<number> {
  const [name = "", ...more] = operands;
  if (command === "list") {
    if (operands.length > 0) throw new ArgumentError("With --file, rt secrets list takes no words");
    return await listAll(path, [], new Set(isJson ? ["json"] : []));
  }
  if (name === "" || more.length > 0)
    throw new ArgumentError(
      `With --file, rt secrets ${command} takes the name of an entry`,
      `rt secrets ${command} --file ${printable(path)} NAME`,
    );
  const fault = faultOfName(name);
  if (fault) throw new ArgumentError(`"${printable(name)}" ${fault}`);
  const { file, content } = command === "set" ? await openOrCreate(path) : await openShared(path);
  const before = content.secrets.get(name);
  if (command === "get" && isJson)
    await print(`${escapeJson(JSON.stringify({ file: path, name, value: before ?? null }, null, 2))}\n`);
  if (command !== "set" && before === undefined) {
    complain(`${printable(path)} has no entry "${printable(name)}"`);
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
      throw new ArgumentError("A variable cannot have that value");
    secrets.set(name, value);
  }
  await writeShared(file, { ...content, secrets });
  if (command === "delete" && isJson)
    await print(`${JSON.stringify({ file: path, name, deleted: true }, null, 2)}\n`);
  return DONE;
}

// Reads and writes age-encrypted files of secrets, which live in the repository. The plaintext is JSON:
//
//   { "project": "shop-3f9c27d1a8b44e02", "readers": [{ "key": "age1...", "name": "alice" }], "secrets": { "NPM_TOKEN": "..." } }
//
// Invariants:
// - A file is valid only in the project that it is bound to (project-id.ts). Plaintext stays in memory.
// - The recipients ("readers") are encrypted too. Otherwise an attacker could add a recipient, who would get the next secrets.
//
// Non-obvious: age authenticates no sender. Anyone who can write to the repository can replace the file: its content is untrusted.
import { armor, Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { errorMessage } from "../../../platform/caught-error.ts";
import { UserError } from "../../user-error.ts";
import { printable, quoted } from "../../printable.ts";
import { draftFile, type ProjectFile, readProjectFile } from "../atomic-file-edit.ts";
import { ArgumentError } from "../command-arguments.ts";
import { shellWord } from "../shell-quote.ts";
import { findIdentities, KEY_VARIABLE, PUBLIC } from "./identity.ts";
import { ensureProjectId, findProjectId, requireOwnId } from "./project-id.ts";

export interface Recipient {
  readonly key: string;
  readonly name?: string | undefined;
}

export interface SharedSecrets {
  /** Identifier of the project; undefined in a file of an earlier version, which must be bound before use. */
  readonly project?: string | undefined;
  readonly readers: readonly Recipient[];
  readonly secrets: ReadonlyMap<string, string>;
}

export interface OpenFile {
  readonly file: ProjectFile;
  readonly content: SharedSecrets;
}

/** Conflict markers of git. No line of an armored age file begins like them. */
const CONFLICT = /^(?:<{7} |={7}\r?$|>{7} )/m;

export async function newKey(): Promise<{ privateKey: string; publicKey: string }> {
  const privateKey = await generateX25519Identity();
  return { privateKey, publicKey: await identityToRecipient(privateKey) };
}

/** Returns the public keys of this machine; an empty list if it has no key. @throws UserError */
export async function ownPublicKeys(): Promise<string[]> {
  const identities = await findIdentities();
  return await Promise.all((identities?.keys ?? []).map((key) => identityToRecipient(key)));
}

/** Decrypted files by path, so that one fetch decrypts each once. A later fetch, as in watch mode, uses a new map. */
export type OpenFiles = Map<string, Promise<OpenFile>>;

/**
 * Returns the value, which the caller zeroizes, or the reason why it is missing.
 * @param folder base of the relative path `file`
 * @throws UserError
 */
export async function readEntry(
  { file, project }: { readonly file: string; readonly project?: string | undefined },
  name: string,
  folder: string,
  openFiles: OpenFiles,
): Promise<Uint8Array | string> {
  const path = resolve(folder, file);
  if (!existsSync(path))
    return `${printable(file)} does not exist; create it: rt secrets set --file ${printable(file)} ${name}`;
  const reading = openFiles.get(path) ?? decryptShared(path, file, folder).catch(toUserError);
  openFiles.set(path, reading);
  const { content } = await reading;
  requireBound(content, project, file);
  const value = content.secrets.get(name);
  if (value !== undefined) return new TextEncoder().encode(value);
  return `${printable(file)} has no such entry; add it: rt secrets set --file ${printable(file)} ${name}`;
}

/** Converts an ArgumentError to a UserError, because a run reports only the latter. */
function toUserError(error: unknown): never {
  const { name, message, hint } = error as Error & { hint?: string };
  throw name === "ArgumentError" ? new UserError(message, hint) : error;
}

/** Decrypts a file and checks its project. @param shown the path in messages @throws UserError, ArgumentError */
export async function openShared(path: string, shown = path): Promise<OpenFile> {
  const openFile = await decryptShared(path, shown);
  const project = findProjectId(path);
  requireBound(openFile.content, project, shown);
  requireOwnId(path, project!);
  return openFile;
}

/** Checks that a file is bound to a project. @param project the current project @throws UserError */
export function requireBound(
  { project: owner }: SharedSecrets,
  project: string | undefined,
  shown: string,
): void {
  if (owner !== undefined && owner === project) return;
  if (owner === undefined)
    throw new UserError(
      `${printable(shown)} is not bound to a project, so it may be a copy of another project's file`,
      `check where it comes from, then bind it: ${bindCommand(shown)}`,
    );
  throw new UserError(
    `${printable(shown)} belongs to another project, ${quoted(owner)}`,
    project === undefined
      ? "rtfig.toml of this project has no [project] id; restore both files from git"
      : `restore the file of this project, ${quoted(project)}, from git`,
  );
}

function bindCommand(file: string): string {
  return `rt secrets share bind --file ${shellWord(file)}`;
}

/** Decrypts a file of any project. @param base see `readProjectFile` @throws UserError, ArgumentError */
export async function decryptShared(path: string, shown = path, base?: string): Promise<OpenFile> {
  const file = readProjectFile(path, true, base);
  if (!file.stats)
    throw new ArgumentError(
      `No such file: ${printable(shown)}`,
      `create it with its first secret: rt secrets set --file ${printable(shown)} <name>; or use --file for another file`,
    );
  if (CONFLICT.test(file.text))
    throw new UserError(
      `${printable(shown)} contains a git merge conflict`,
      "keep one version (git checkout --ours or --theirs) and set the secrets of the other one again",
    );
  const identities = await findIdentities();
  if (!identities)
    throw unreadable(`This machine has no private key to decrypt ${printable(shown)}`, [
      "create one with rt secrets share key; another recipient then adds it: rt secrets share add <public key>",
      `without a credential store, as in CI, set the variable ${KEY_VARIABLE}`,
    ]);
  const decrypter = new Decrypter();
  for (const key of identities.keys) decrypter.addIdentity(key);
  let text: string;
  try {
    text = await decrypter.decrypt(armor.decode(file.text), "text");
  } catch (error) {
    const isOthers = /no identity matched/.test(errorMessage(error));
    throw isOthers
      ? unreadable(
          `${printable(shown)} is not encrypted to the key of ${identities.isFromVariable ? KEY_VARIABLE : "this machine"}`,
          "another recipient must add the key: rt secrets share add <public key>; rt secrets share key prints it",
        )
      : new UserError(
          `${printable(shown)} is damaged, or not an age file that rt wrote`,
          "restore it from git, or remove it and set the secrets again",
        );
  }
  return { file, content: parseContent(text, shown) };
}

/** The kind of an unavailable store, so that an optional secret counts as missing. */
function unreadable(message: string, hint: string | readonly string[]): UserError {
  return Object.assign(new UserError(message, hint), { kind: "UNAVAILABLE" });
}

/** Opens a file, or prepares a new one with this machine's key as recipient. @throws UserError, ArgumentError */
export async function openOrCreate(path: string): Promise<OpenFile> {
  const file = readProjectFile(path, true);
  if (file.stats) return await openShared(path);
  const keys = await ownPublicKeys();
  if (keys.length === 0)
    throw new ArgumentError(
      "This machine has no age key",
      "create one and print its public key: rt secrets share key",
    );
  return { file, content: { readers: keys.map((key) => ({ key })), secrets: new Map() } };
}

/** @throws UserError, which does not quote the text */
function parseContent(text: string, shown: string): SharedSecrets {
  try {
    const { project, readers, secrets } = JSON.parse(text) as {
      project?: string;
      readers: Recipient[];
      secrets: Record<string, string>;
    };
    const isRecipient = ({ key, name }: Recipient) =>
      PUBLIC.test(key) && (name === undefined || typeof name === "string");
    const entries = Object.entries(secrets);
    if (readers.length === 0 || !readers.every(isRecipient)) throw new Error();
    if (!entries.every(([, value]) => typeof value === "string")) throw new Error();
    if (project !== undefined && typeof project !== "string") throw new Error();
    return { project, readers: readers.map(({ key, name }) => ({ key, name })), secrets: new Map(entries) };
  } catch {
    throw new UserError(
      `${printable(shown)} does not have the format that rt writes`,
      "see rt help encrypted-file for the format",
    );
  }
}

/** Encrypts and replaces the file atomically, bound to its project. @throws UserError, ArgumentError */
export async function writeShared(file: ProjectFile, { readers, secrets }: SharedSecrets): Promise<void> {
  const project = ensureProjectId(file.path);
  const encrypter = new Encrypter();
  for (const { key } of readers) encrypter.addRecipient(key);
  const names = [...secrets.keys()].toSorted();
  const content = {
    project,
    readers,
    secrets: Object.fromEntries(names.map((name) => [name, secrets.get(name)])),
  };
  const encrypted = await encrypter.encrypt(`${JSON.stringify(content, null, 2)}\n`);
  using draft = draftFile(file, `${armor.encode(encrypted).trimEnd()}\n`);
  draft.commit();
}

/** Returns whether a public key is valid, including its checksum. */
export function isPublicKey(text: string): boolean {
  try {
    new Encrypter().addRecipient(text);
    return PUBLIC.test(text);
  } catch {
    return false;
  }
}

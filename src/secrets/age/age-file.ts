// A file of secrets that is encrypted with age to those who may read it, and lies in the repository. `age --decrypt` reads
// it as well: what comes out is JSON.
//
//   { "project": "shop-3f9c27d1a8b44e02", "readers": [{ "key": "age1...", "name": "alice" }], "secrets": { "NPM_TOKEN": "..." } }
//
// Invariants:
// - A file is valid in the one project that it is bound to (project-id.ts).
// - Decrypted text stays in memory.
// - The list of readers is encrypted too: a reader added to a list in plain text would receive the next secrets.
//
// Surprising: age proves who can read a file, not who has written it. Whoever can write to the repository can replace the
// whole, and what comes out is read as from a stranger.
import { armor, Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { errorMessage } from "../../../platform/caught-error.ts";
import { UserError } from "../../user-error.ts";
import { printable, quoted } from "../../printable.ts";
import { draftFile, type ProjectFile, readProjectFile } from "../atomic-file-edit.ts";
import { ArgumentError } from "../command-arguments.ts";
import { shellWord } from "../import/moved-comment.ts";
import { findIdentities, KEY_VARIABLE, PUBLIC } from "./identity.ts";
import { ensureProjectId, findProjectId, requireOwnId } from "./project-id.ts";

export interface Recipient {
  readonly key: string;
  readonly name?: string | undefined;
}

export interface SharedSecrets {
  /** The project that the file is bound to; absent in a file of an earlier version, which has to be bound first. */
  readonly project?: string | undefined;
  readonly readers: readonly Recipient[];
  readonly secrets: ReadonlyMap<string, string>;
}

export interface OpenFile {
  readonly file: ProjectFile;
  readonly content: SharedSecrets;
}

/** Lines that git writes between the versions of two branches; none of age's text begins so. */
const CONFLICT = /^(?:<{7} |={7}\r?$|>{7} )/m;

export async function newKey(): Promise<{ privateKey: string; publicKey: string }> {
  const privateKey = await generateX25519Identity();
  return { privateKey, publicKey: await identityToRecipient(privateKey) };
}

/** Of the keys that this machine has; empty where it has none. Throws Failure. */
export async function ownPublicKeys(): Promise<string[]> {
  const identities = await findIdentities();
  return await Promise.all((identities?.keys ?? []).map((key) => identityToRecipient(key)));
}

/** By their paths: what is read at once is decrypted once. Who reads later, as a watched run does, finds a file changed. */
export type OpenFiles = Map<string, Promise<OpenFile>>;

/**
 * The value, which is the caller's to zero; or why there is none, as a sentence. Throws Failure.
 * @param folder that `file` is relative to
 */
export async function readEntry(
  { file, project }: { readonly file: string; readonly project?: string | undefined },
  name: string,
  folder: string,
  opened: OpenFiles,
): Promise<Uint8Array | string> {
  const path = resolve(folder, file);
  if (!existsSync(path))
    return `${printable(file)} is not there: rt secrets set --file ${printable(file)} ${name} makes it`;
  const reading = opened.get(path) ?? decryptShared(path, file, folder).catch(toFailure);
  opened.set(path, reading);
  const { content } = await reading;
  requireBound(content, project, file);
  const value = content.secrets.get(name);
  if (value !== undefined) return new TextEncoder().encode(value);
  return `${printable(file)} has no such entry: rt secrets set --file ${printable(file)} ${name}`;
}

/** A run has no words of ours. */
function toFailure(error: unknown): never {
  const { name, message, hint } = error as Error & { hint?: string };
  throw name === "WordsError" ? new UserError(message, hint) : error;
}

/** Opens a file of the project that it is in. Throws Failure, WordsError. @param shown the path as messages have it */
export async function openShared(path: string, shown = path): Promise<OpenFile> {
  const opened = await decryptShared(path, shown);
  const project = findProjectId(path);
  requireBound(opened.content, project, shown);
  requireOwnId(path, project!);
  return opened;
}

/** Throws Failure. @param project that of the reader */
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
      ? "rtfig.toml of this project has no [project] id; get both files back from git"
      : `get the file of this project, ${quoted(project)}, back from git`,
  );
}

function bindCommand(file: string): string {
  return `rt secrets share bind --file ${shellWord(file)}`;
}

/** Decrypts a file of any project. Throws as `openShared`. @param base as of `readProjectFile` */
export async function decryptShared(path: string, shown = path, base?: string): Promise<OpenFile> {
  const file = readProjectFile(path, true, base);
  if (!file.stats)
    throw new ArgumentError(
      `There is no ${printable(shown)}`,
      `rt secrets set --file ${printable(shown)} <name> makes it, with its first secret; --file names another`,
    );
  if (CONFLICT.test(file.text))
    throw new UserError(
      `${printable(shown)} has two versions in it, as git leaves them where it cannot merge`,
      "take one whole, by git checkout --ours or --theirs, and set anew what the other one has changed",
    );
  const identities = await findIdentities();
  if (!identities)
    throw unreadable(`There is no private key to read ${printable(shown)} with`, [
      "rt secrets share key makes one; whoever reads the file already adds it: rt secrets share add <public key>",
      `where there is no credential store, as in CI, the variable ${KEY_VARIABLE} has it`,
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
          "whoever reads it already adds the key: rt secrets share add <public key>; rt secrets share key prints it",
        )
      : new UserError(
          `${printable(shown)} is damaged, or no file that rt has encrypted with age`,
          "get it back from git, or remove it and set the secrets anew",
        );
  }
  return { file, content: parseContent(text, shown) };
}

/** Somebody else reads it. Where a secret is optional, this is told as of a store that is not there. */
function unreadable(message: string, hint: string | readonly string[]): UserError {
  return Object.assign(new UserError(message, hint), { kind: "UNAVAILABLE" });
}

/** A new file is for this machine's key. Throws Failure, WordsError. */
export async function openOrCreate(path: string): Promise<OpenFile> {
  const file = readProjectFile(path, true);
  if (file.stats) return await openShared(path);
  const keys = await ownPublicKeys();
  if (keys.length === 0)
    throw new ArgumentError(
      "This machine has no key of age yet",
      "rt secrets share key makes one, and prints its public half",
    );
  return { file, content: { readers: keys.map((key) => ({ key })), secrets: new Map() } };
}

/** Throws Failure, which quotes nothing. */
function parseContent(text: string, shown: string): SharedSecrets {
  try {
    const { project, readers, secrets } = JSON.parse(text) as {
      project?: string;
      readers: Recipient[];
      secrets: Record<string, string>;
    };
    const isReader = ({ key, name }: Recipient) =>
      PUBLIC.test(key) && (name === undefined || typeof name === "string");
    const entries = Object.entries(secrets);
    if (readers.length === 0 || !readers.every(isReader)) throw new Error();
    if (!entries.every(([, value]) => typeof value === "string")) throw new Error();
    if (project !== undefined && typeof project !== "string") throw new Error();
    return { project, readers: readers.map(({ key, name }) => ({ key, name })), secrets: new Map(entries) };
  } catch {
    throw new UserError(
      `${printable(shown)} has something else in it than rt writes`,
      "rt help moving-in has its form",
    );
  }
}

/** Exchanges the file for a new one, which is bound to the project that it is in. Throws Failure, WordsError. */
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
  draft.putInPlace();
}

/** Whether a public key has no typing mistake in it. */
export function isPublicKey(text: string): boolean {
  try {
    new Encrypter().addRecipient(text);
    return PUBLIC.test(text);
  } catch {
    return false;
  }
}

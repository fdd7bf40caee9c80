// Stores moved values in the credential store or in an age file, and reads them back.
//
// Invariants:
// - No existing value is replaced: a conflict in the store ends the move before anything is stored there.
// - Every value is read back and compared. An age file is replaced atomically.
import { realpathSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { printable } from "../../printable.ts";
import { findRoot } from "../../config/root-project.ts";
import { secrets } from "../api/secrets.ts";
import { openOrCreate, openShared, writeShared } from "../age/age-file.ts";
import { ArgumentError } from "../command-arguments.ts";
import { shellWord } from "../shell-quote.ts";
import type { CredentialAddress, FileAddress, Move } from "./plan.ts";

/** Returns the relative path of the root project's rtfig.toml. @throws ArgumentError inside a dependency */
export function mappingPath(): string {
  const here = realpathSync(".");
  const root = findRoot(here);
  if (root === undefined)
    throw new ArgumentError(
      `This folder is a dependency, whose ${FILE_NAME} rt does not change`,
      "run this in the folder of your own project",
    );
  return relative(here, join(root, FILE_NAME));
}

/** Describes an address for the user, on one line. */
export function describeAddress(address: CredentialAddress): string {
  return printable(
    address.file === undefined
      ? `${address.service}/${address.name}`
      : `age:${address.file}, ${address.name}`,
  );
}

/**
 * Stores the values.
 * @param mapped names that have a source in rtfig.toml
 * @throws ArgumentError if another value exists, before anything is stored in that destination
 * @throws SecretsError, UserError
 */
export async function storeAll(moves: readonly Move[], mapped: ReadonlySet<string>): Promise<void> {
  const inFiles = Map.groupBy(moves, ({ address }) => address.file);
  for (const [file, group] of inFiles)
    await (file === undefined ? storeInStore(group, mapped) : storeInFile(file, group));
}

async function storeInStore(moves: readonly Move[], mapped: ReadonlySet<string>): Promise<void> {
  const missing: Move[] = [];
  for (const move of moves) {
    const existing = await readValue(move.address);
    if (existing === null) missing.push(move);
    else if (existing !== move.value) throw conflictError(move.address, mapped.has(move.name));
  }
  for (const { address, value } of missing)
    if (address.file === undefined) await secrets.set(address.service, address.name, value);
  await verifyStored(moves);
}

async function storeInFile(file: string, moves: readonly Move[]): Promise<void> {
  const { file: opened, content } = await openOrCreate(pathOf(file));
  const entries = new Map(content.secrets);
  for (const { address, value } of moves) {
    const existing = entries.get(address.name);
    if (existing !== undefined && existing !== value) throw conflictError(address, false);
    entries.set(address.name, value);
  }
  await writeShared(opened, { ...content, secrets: entries });
  await verifyStored(moves);
}

function conflictError(address: CredentialAddress, isMapped: boolean): ArgumentError {
  if (address.file !== undefined)
    return new ArgumentError(
      `${printable(address.file)} has another value for ${address.name}, so nothing was moved`,
      "move it to another file, or delete that entry: rt secrets delete --file",
    );
  const { service, name } = address;
  return new ArgumentError(
    `The credential store has another value under "${printable(service)}" "${printable(name)}", so nothing was moved`,
    isMapped
      ? `rename the variable (${FILE_NAME} has one source per name for all packages), or replace the stored value: rt secrets set ${shellWord(service)} ${shellWord(name)}`
      : `store these under another service: --service <name>, such as "${printable(service)}.${printable(basename(resolve(".")))}"`,
  );
}

async function verifyStored(moves: readonly Move[]): Promise<void> {
  for (const { address, value } of moves) {
    if ((await readValue(address)) === value) continue;
    throw address.file === undefined
      ? new ArgumentError(
          `The credential store did not return the value stored under "${printable(address.service)}" "${printable(address.name)}", so the file is unchanged`,
          "diagnose the store: rt doctor",
        )
      : new ArgumentError(
          `${printable(address.file)} did not return the stored value, so the other file is unchanged`,
        );
  }
}

/** Returns null if the address has no value. @throws SecretsError, UserError, ArgumentError */
export async function readValue(address: CredentialAddress): Promise<string | null> {
  if (address.file === undefined) return await secrets.get(address.service, address.name);
  return (await openShared(pathOf(address.file), address.file)).content.secrets.get(address.name) ?? null;
}

export function pathOf(file: FileAddress["file"]): string {
  return join(mappingPath(), "..", file);
}

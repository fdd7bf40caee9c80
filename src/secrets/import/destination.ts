// Where values are kept that have moved: the credential store, or a file that is encrypted with age.
//
// Contract: nothing is replaced, and nothing is stored where one of the values would be. All is read back before anybody
// counts on it. A file is exchanged for the new one in one step.
import { realpathSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { printable } from "../../printable.ts";
import { findRoot } from "../../config/root-project.ts";
import { secrets } from "../api/secrets.ts";
import { openOrCreate, openShared, writeShared } from "../age/age-file.ts";
import { ArgumentError } from "../command-arguments.ts";
import { shellWord } from "./moved-comment.ts";
import type { CredentialAddress, FileAddress, Move } from "./plan.ts";

/** The rtfig.toml of the root project, as a person here would write it. Throws WordsError. */
export function mappingPath(): string {
  const here = realpathSync(".");
  const root = findRoot(here);
  if (root === undefined)
    throw new ArgumentError(
      `The ${FILE_NAME} of this project is not yours to write`,
      "start this in the folder of your own project",
    );
  return relative(here, join(root, FILE_NAME));
}

/** For people, on one line. */
export function describeAddress(address: CredentialAddress): string {
  return printable(
    address.file === undefined
      ? `${address.service}/${address.name}`
      : `age:${address.file}, ${address.name}`,
  );
}

/**
 * Throws WordsError where something else is there, before anything is stored; and what the store or file throws.
 * @param mapped names that rtfig.toml says the source of
 */
export async function storeAll(moves: readonly Move[], mapped: ReadonlySet<string>): Promise<void> {
  const inFiles = Map.groupBy(moves, ({ address }) => address.file);
  for (const [file, group] of inFiles)
    await (file === undefined ? storeInStore(group, mapped) : storeInFile(file, group));
}

async function storeInStore(moves: readonly Move[], mapped: ReadonlySet<string>): Promise<void> {
  const missing: Move[] = [];
  for (const move of moves) {
    const there = await readValue(move.address);
    if (there === null) missing.push(move);
    else if (there !== move.value) throw otherValue(move.address, mapped.has(move.name));
  }
  for (const { address, value } of missing)
    if (address.file === undefined) await secrets.set(address.service, address.name, value);
  await compare(moves);
}

async function storeInFile(file: string, moves: readonly Move[]): Promise<void> {
  const { file: opened, content } = await openOrCreate(pathOf(file));
  const entries = new Map(content.secrets);
  for (const { address, value } of moves) {
    const there = entries.get(address.name);
    if (there !== undefined && there !== value) throw otherValue(address, false);
    entries.set(address.name, value);
  }
  await writeShared(opened, { ...content, secrets: entries });
  await compare(moves);
}

function otherValue(address: CredentialAddress, isMapped: boolean): ArgumentError {
  if (address.file !== undefined)
    return new ArgumentError(
      `${printable(address.file)} has another value of ${address.name}, so nothing was moved`,
      "move it to another file, or take that one out: rt secrets delete --file",
    );
  const { service, name } = address;
  return new ArgumentError(
    `There is another value under "${printable(service)}" "${printable(name)}" in the credential store, so nothing was moved`,
    isMapped
      ? `${FILE_NAME} has one source of a name, for all packages: what is another value needs another name, or change that one: rt secrets set ${shellWord(service)} ${shellWord(name)}`
      : `--service <name> puts these elsewhere, as "${printable(service)}.${printable(basename(resolve(".")))}"`,
  );
}

async function compare(moves: readonly Move[]): Promise<void> {
  for (const { address, value } of moves) {
    if ((await readValue(address)) === value) continue;
    throw address.file === undefined
      ? new ArgumentError(
          `The credential store does not give back what was stored under "${printable(address.service)}" "${printable(address.name)}", so the file is as it was`,
          "rt doctor looks at the store",
        )
      : new ArgumentError(
          `${printable(address.file)} does not give back what was stored, so the other file is as it was`,
        );
  }
}

/** Null where it is not there. Throws as storeAll. */
export async function readValue(address: CredentialAddress): Promise<string | null> {
  if (address.file === undefined) return await secrets.get(address.service, address.name);
  return (await openShared(pathOf(address.file), address.file)).content.secrets.get(address.name) ?? null;
}

export function pathOf(file: FileAddress["file"]): string {
  return join(mappingPath(), "..", file);
}

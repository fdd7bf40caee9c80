// Proposes the table that a task needs: its own with missing entries, or the shortest one if it has none. Pure.
//
// Non-obvious:
// - A task without a table gets a list of the folders that it writes, so that the rest of the project becomes read-only. If it
//   writes to the folder of its package itself, no such list helps.
// - An absent list means the default. A new list has to repeat it.
import { basename, dirname } from "node:path";
import type { RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import { ALL_HOSTS, THIS_HOST } from "../config/tasks/host-entry.ts";
import {
  folderOf,
  type PermissionTable,
  type PermissionKey,
  PERMISSION_KEYS,
} from "../config/tasks/permission-table.ts";
import { isWithin } from "../workspace/member-match.ts";
import { coverFolders } from "./folder-cover.ts";
import { type EntryBase, entryFor, folderEntry, isShared, type TableEntry } from "./table-entries.ts";

/** Entries of one list, so that people can read it. */
const MAX_FOLDERS = 4;

/** The uses of a task beyond its table. */
export interface TaskNeeds {
  readonly table: PermissionTable | undefined;
  readonly base: EntryBase;
  readonly calls: readonly RefusedCall[];
}

/** Returns a list with a further entry. */
export function listWith(table: PermissionTable, { key, entry }: TableEntry, base: EntryBase): string[] {
  const list = [...(table[key] ?? defaultsOf(key, base))];
  if (list.includes(entry)) return list;
  if (key === "hosts" && (entry === ALL_HOSTS || list.includes(ALL_HOSTS))) return [ALL_HOSTS];
  return [...(key === "read" || key === "write" ? list.filter((each) => !covers(entry, each)) : list), entry];
}

/** Returns whether an entry contains another one, as far as their texts show. */
function covers(entry: string, other: string): boolean {
  const [folder, inner] = [folderOf(entry), folderOf(other)];
  return folder === "." ? !/^(?:\.\.|~|\/)/.test(inner) : inner.startsWith(`${folder}/`);
}

function defaultsOf(key: PermissionKey, base: EntryBase): readonly string[] {
  if (key === "write") return [folderEntry(base.root, base)];
  return key === "hosts" ? [THIS_HOST] : [];
}

/** Returns the table that allows all uses; lists without a change are those of the own table. */
export function proposeTable({ table, base, calls }: TaskNeeds): PermissionTable {
  let next: PermissionTable = table ?? {};
  const isOwnWrite = ({ kind, target }: RefusedCall) => kind === "write" && isWithin(target, base.root);
  if (!table) {
    const folders = coverFolders(foldersOf(calls.filter(isOwnWrite)), MAX_FOLDERS, (folder) =>
      isNarrow(folder, base),
    );
    if (folders.length <= MAX_FOLDERS && folders.every((folder) => isNarrow(folder, base)))
      next = { write: folders.map((folder) => folderEntry(folder, base)) };
  }
  for (const kind of ["read", "write"] as const) {
    const files = calls.filter((call) => call.kind === kind && (table !== undefined || !isOwnWrite(call)));
    for (const call of mergeFiles(files, base)) next = addEntry(next, call, base);
  }
  for (const call of calls)
    if (call.kind !== "read" && call.kind !== "write") next = addEntry(next, call, base);
  return next;
}

function addEntry(table: PermissionTable, call: RefusedCall, base: EntryBase): PermissionTable {
  const entry = entryFor(call, base);
  return entry ? { ...table, [entry.key]: listWith(table, entry, base) } : table;
}

/** Replaces files of one folder by the folder, and many folders by their parents. */
function mergeFiles(calls: readonly RefusedCall[], base: EntryBase): RefusedCall[] {
  const [single, inFolders] = [
    calls.filter((call) => isShared(folderOfCall(call), base)),
    calls.map(folderOfCall),
  ];
  const own = inFolders.filter((folder) => !isShared(folder, base));
  const [sample] = calls;
  const folders = coverFolders(own, MAX_FOLDERS, (folder) => !isShared(folder, base));
  return sample
    ? [...single, ...folders.map((target) => ({ ...sample, target, isFolder: true, isNew: false }))]
    : [];
}

/**
 * Returns the folders whose files change, without a folder that a task makes only for folders within it. The proposal is the same if
 * such a folder exists, because rt makes the folders of a table.
 */
function foldersOf(calls: readonly RefusedCall[]): string[] {
  const folders = calls.map(folderOfCall);
  const ofFiles = new Set(calls.filter(({ isFolder }) => !isFolder).map(folderOfCall));
  const isMadeFor = (folder: string) => folders.some((each) => each !== folder && isWithin(each, folder));
  return calls
    .filter((call) => call.isMade !== true || ofFiles.has(call.target) || !isMadeFor(call.target))
    .map(folderOfCall);
}

/** Names of caches' folders that differ from version to version, or from machine to machine. */
const HASH = /^[0-9a-f]{16,}$/;

function folderOfCall({ target, isFolder }: RefusedCall): string {
  const folder = isFolder ? target : dirname(target);
  return HASH.test(basename(folder)) ? dirname(folder) : folder;
}

/** Returns whether a rule for the folder leaves other files of the project closed. */
function isNarrow(folder: string, { root, packageDirectory }: EntryBase): boolean {
  return isWithin(folder, root) && !isWithin(packageDirectory, folder);
}

export function isSameTable(a: PermissionTable, b: PermissionTable): boolean {
  return PERMISSION_KEYS.every((key) => JSON.stringify(a[key]) === JSON.stringify(b[key]));
}

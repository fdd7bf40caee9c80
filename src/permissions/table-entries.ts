// Chooses the entry of a task's table that allows what was refused or is needed. Pure.
//
// Invariants:
// - An entry is equal on every machine: relative to the package, or below "~/", if possible.
// - An entry never opens a folder that everything shares, such as HOME or /etc. There it names the file.
import { dirname, join, relative } from "node:path";
import type { RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import { isLoopback, parseAddress, splitTarget } from "../../platform/permissions/ip-address.ts";
import { hostFault, THIS_HOST } from "../config/tasks/host-entry.ts";
import type { PermissionKey } from "../config/tasks/permission-table.ts";
import { isWithin } from "../workspace/member-match.ts";

/** The folders that entries are relative to; absolute, without symlinks. */
export interface EntryBase {
  readonly root: string;
  readonly packageDirectory: string;
  readonly home: string;
}

export interface TableEntry {
  readonly key: PermissionKey;
  readonly entry: string;
}

/** Folders of HOME that programs share. */
const SHARED_IN_HOME: readonly string[] = [
  ...[".config", ".local", ".local/share", ".local/state", ".cache", "Library", "Documents", "Downloads"],
];
const SHARED_FOLDERS: readonly string[] = [
  ...[
    "/etc",
    "/var",
    "/var/lib",
    "/run",
    "/mnt",
    "/media",
    "/srv",
    "/home",
    "/root",
    "/dev",
    "/proc",
    "/sys",
  ],
];
/** Names of temporary files are random. */
const TEMPORARY_FOLDERS: readonly string[] = ["/tmp", "/var/tmp"];

/** Returns the entry that allows a call; undefined if none does. */
export function entryFor(call: RefusedCall, base: EntryBase): TableEntry | undefined {
  switch (call.kind) {
    case "read":
    case "write": {
      const entry = pathEntry(call, base);
      return entry === undefined ? undefined : { key: call.kind, entry };
    }
    case "socket":
      return { key: "sockets", entry: writePath(call.target, base) };
    case "host":
      return hostEntry(call.target);
    case "name":
    case "private":
      // The port is not part of a query.
      return hostEntry(`${call.target}:${USUAL_PORT}`);
    default:
      return undefined;
  }
}

/** The port of a host name whose port is unknown. */
const USUAL_PORT = 443;

/** @param target host with its port, or "*" */
function hostEntry(target: string): TableEntry | undefined {
  const address = parseAddress(splitTarget(target).host);
  const entry = address && isLoopback(address) ? THIS_HOST : target;
  return hostFault(entry) ? undefined : { key: "hosts", entry };
}

function pathEntry({ target, isFolder, isNew }: RefusedCall, base: EntryBase): string | undefined {
  const isOwn = [base.root, base.home].some((each) => isWithin(target, each)) || isBeside(target, base);
  const temporary = isOwn ? undefined : TEMPORARY_FOLDERS.find((each) => isWithin(target, each));
  if (temporary !== undefined) return folderEntry(temporary, base);
  const folder = isFolder ? target : dirname(target);
  if (!isShared(folder, base)) return folderEntry(folder, base);
  // A rule for a file has an effect on a file that exists.
  return isFolder || isNew ? undefined : writePath(target, base);
}

export function folderEntry(folder: string, base: EntryBase): string {
  return `${writePath(folder, base)}/**`;
}

/** Returns whether a folder is too broad for an entry. */
export function isShared(folder: string, { root, home }: EntryBase): boolean {
  return (
    (isWithin(root, folder) && folder !== root) ||
    isWithin(home, folder) ||
    SHARED_FOLDERS.includes(folder) ||
    SHARED_IN_HOME.includes(relative(home, folder))
  );
}

/** Relative to the package within the project and beside it, else below HOME, else absolute. */
function writePath(path: string, base: EntryBase): string {
  const { root, packageDirectory, home } = base;
  if (isWithin(path, root) || isBeside(path, base)) return relative(packageDirectory, path) || ".";
  return isWithin(path, home) ? join("~", relative(home, path)) : path;
}

/** Returns whether a path is in the folder that contains the project, and other users have such a folder too. */
function isBeside(path: string, { root, home }: EntryBase): boolean {
  const folder = dirname(root);
  const isGeneral = [home, "/", ...SHARED_FOLDERS, ...TEMPORARY_FOLDERS].includes(folder);
  return !isGeneral && isWithin(path, folder) && isWithin(path, home) === isWithin(folder, home);
}

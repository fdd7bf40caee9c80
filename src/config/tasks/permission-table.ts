// Reads `permissions` of a row of [tasks], and [permissions], in rtfig.toml.
//
// Invariants:
// - A table that this returns is valid: every entry names one folder or file, and every host can be enforced.
// - A widening is an entry beyond the defaults. It needs trust (src/secrets/trust), because the project's files may change.
import type { ConfigContent } from "../config-content.ts";
import { printable } from "../../printable.ts";

/** Entries as written. Paths are relative to the package, or begin with "/" or "~/". */
export interface PermissionTable {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly hosts?: readonly string[];
  readonly sockets?: readonly string[];
}

type PermissionKey = keyof PermissionTable;

export const PERMISSION_KEYS: readonly PermissionKey[] = ["read", "write", "hosts", "sockets"];

/** All hosts, and this host. Other hosts need names to be resolved outside of the task. */
export const ALL_HOSTS = "*";
export const THIS_HOST = "localhost:*";

/** Returns the end of a sentence about an entry, and a hint; undefined for a valid entry. */
export function permissionFault(key: PermissionKey, entry: string): readonly [string, string] | undefined {
  if (key === "hosts")
    return entry === ALL_HOSTS || entry === THIS_HOST
      ? undefined
      : ["is not supported yet", `use "${THIS_HOST}", or "${ALL_HOSTS}" for all hosts`];
  if (entry === "" || entry.includes("\0")) return ["names no path", 'for example "dist/**"'];
  if (entry.startsWith("~") && entry !== "~" && !entry.startsWith("~/"))
    return ["names the folder of another user", 'write an absolute path, or "~/" for your own folder'];
  return /[*?[\]{}]/.test(folderOf(entry))
    ? ["has wildcards", 'name a folder, as in "dist" or "dist/**"']
    : undefined;
}

/** Removes `/**` from the end: a rule is for everything below a folder. */
export function folderOf(entry: string): string {
  const folder = entry.replace(/\/?\*\*$/, "");
  return folder === "" ? (entry.startsWith("/") ? "/" : ".") : folder;
}

/** Returns whether an entry names something outside of the package, as far as its text shows. */
function leadsOut(entry: string): boolean {
  let depth = 0;
  const folder = folderOf(entry);
  if (folder.startsWith("/") || folder.startsWith("~")) return true;
  for (const part of folder.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "." && part !== "") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/** Returns the entries of a table that go beyond the defaults, one line each. */
export function wideningsOf(task: string, table: PermissionTable): string[] {
  const lines: string[] = [];
  for (const key of PERMISSION_KEYS)
    for (const entry of table[key] ?? []) {
      const isWidening = key === "hosts" ? entry === ALL_HOSTS : leadsOut(entry);
      if (isWidening) lines.push(`task ${printable(task)} may ${VERBS[key]} ${printable(entry)}`);
    }
  return lines;
}

const VERBS: Readonly<Record<PermissionKey, string>> = {
  read: "read",
  write: "write",
  hosts: "connect to hosts",
  sockets: "connect to the socket",
};

/** Returns the widenings of all rows of a parsed rtfig.toml. */
export function allWidenings({ tasks = {} }: ConfigContent): string[] {
  return Object.entries(tasks).flatMap(([name, { permissions }]) =>
    typeof permissions === "object" ? wideningsOf(name, permissions) : [],
  );
}

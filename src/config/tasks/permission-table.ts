// Reads `permissions` of a row of [tasks], and [permissions], in rtfig.toml.
//
// Invariants:
// - A table that this returns is valid: every entry names one folder or file, and every host can be enforced.
// - A widening is an entry beyond the defaults. It needs trust (src/secrets/trust), because the project's files may change.
import type { ConfigContent } from "../config-content.ts";
import { ALL_HOSTS, hostFault, needsConsent } from "./host-entry.ts";
import { printable } from "../../printable.ts";

/** Entries as written. Paths are relative to the package, or begin with "/" or "~/". */
export interface PermissionTable {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly hosts?: readonly string[];
  readonly sockets?: readonly string[];
}

export type PermissionKey = keyof PermissionTable;

export const PERMISSION_KEYS: readonly PermissionKey[] = ["read", "write", "hosts", "sockets"];

/** Returns the first invalid entry: its key, the end of a sentence about the key, and a hint. */
export function findInvalidEntry(
  table: PermissionTable,
): { readonly key: PermissionKey; readonly problem: string; readonly hint: string } | undefined {
  for (const key of PERMISSION_KEYS)
    for (const entry of table[key] ?? []) {
      const [fault, hint] = faultOf(key, entry) ?? [];
      if (fault !== undefined)
        return { key, problem: `has "${printable(entry)}", which ${fault}`, hint: hint! };
    }
  return undefined;
}

/** Returns the end of a sentence about an entry, and a hint; undefined for a valid entry. */
function faultOf(key: PermissionKey, entry: string): readonly [string, string] | undefined {
  if (key === "hosts") return hostFault(entry);
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

/** Returns the entries of a task's table that go beyond the defaults, one line each. */
export function wideningsOf(task: string, table: PermissionTable): string[] {
  return describeWidenings(`task ${printable(task)}`, table);
}

function describeWidenings(subject: string, table: PermissionTable): string[] {
  const lines: string[] = [];
  for (const key of PERMISSION_KEYS)
    for (const entry of table[key] ?? []) {
      const isWidening = key === "hosts" ? needsConsent(entry) : leadsOut(entry);
      const verb = entry === ALL_HOSTS ? "connect to hosts" : VERBS[key];
      if (isWidening) lines.push(`${subject} may ${verb} ${printable(entry)}`);
    }
  return lines;
}

const VERBS: Readonly<Record<PermissionKey, string>> = {
  read: "read",
  write: "write",
  hosts: "connect to",
  sockets: "connect to the socket",
};

/** Returns the widenings of all rows of a parsed rtfig.toml. */
export function allWidenings({ tasks = {}, install = {} }: ConfigContent): string[] {
  const ofTasks = Object.entries(tasks).flatMap(([name, { permissions }]) =>
    typeof permissions === "object" ? wideningsOf(name, permissions) : [],
  );
  return [...ofTasks, ...installWidenings(install.permissions)];
}

/** Returns the widenings of [install.permissions]. Install scripts have permissions unless a row switches them off. */
export function installWidenings(rows: NonNullable<ConfigContent["install"]>["permissions"]): string[] {
  const allowAll = (subject: string) => `${subject} may do everything`;
  if (typeof rows !== "object") return rows === false ? [allowAll("install scripts")] : [];
  return Object.entries(rows).flatMap(([name, row]) => {
    const subject = `install scripts of ${printable(name)}`;
    return typeof row === "object" ? describeWidenings(subject, row) : row ? [] : [allowAll(subject)];
  });
}

// Records the number of the user for a script that read the list of users, or ran a program such as `id`.
import { basename } from "node:path";
import { readsVariable } from "../key/variable-readers.ts";
import type { RecordedDependency, StoredEntry } from "../entry/entry.ts";

const LISTS = new Set(["/etc/passwd", "/etc/group", "/var/run/nscd/socket", "/run/nscd/socket"]);
/** `id -u` reads no list. */
const PROGRAMS = new Set(["id", "whoami", "groups", "logname"]);
/** Bash sets these. */
const VARIABLES = ["UID", "EUID", "GROUPS"];

/** @param commands of the script */
export function recordUser(
  conditions: readonly RecordedDependency[],
  commands: string,
): Pick<StoredEntry, "user"> {
  const user = process.getuid?.();
  const isRead =
    conditions.some(([kind, path]) => LISTS.has(path) || (kind === "file" && PROGRAMS.has(basename(path)))) ||
    VARIABLES.some((name) => readsVariable(commands, name));
  return user !== undefined && isRead ? { user } : {};
}

export function isOtherUser({ user }: StoredEntry): boolean {
  return user !== undefined && user !== process.getuid?.();
}

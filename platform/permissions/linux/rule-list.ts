// Writes the rules of a child as the list that its launcher reads (../../native/linux/sandbox/ruleset.h).
//
// Non-obvious: the launcher opens the paths, not rt. That takes a fraction of the time, and rt starts other children at the same time.
import { encodeCString } from "../../native/posix/libc.ts";
import type { FileRule, PermissionRules } from "../contract/permissions.ts";

const LETTERS: Readonly<Record<FileRule["access"], string>> = { read: "r", write: "w", device: "d" };

type ListedRules = Pick<PermissionRules, "files" | "sockets" | "hidden" | "envFolders" | "home">;

/** Returns one line for each path: a letter, the path, and NUL. */
export function listRules(rules: ListedRules): Uint8Array {
  return encodeCString(ruleLines(rules).join("\0"));
}

/** Returns the lines without NUL. */
export function ruleLines({ files, sockets, hidden, envFolders, home }: ListedRules): string[] {
  const lines = [`h${home}`];
  for (const { path, access, followsLinks } of files) {
    const letter = LETTERS[access];
    lines.push(`${followsLinks ? letter.toUpperCase() : letter}${path}`);
  }
  for (const path of sockets) lines.push(`s${path}`);
  for (const path of hidden) lines.push(`x${path}`);
  for (const path of envFolders) lines.push(`e${path}`);
  // A path with NUL names no file, and would end its line.
  return lines.filter((line) => !line.includes("\0"));
}

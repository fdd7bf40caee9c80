// Finds the files of a project that read variables that a cached script did not get. Otherwise the script would silently
// do something else.
//
// Non-obvious:
// - Only configuration files and shell scripts are read. To read all sources would cost time, and they mostly name
//   variables of other programs.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { TracedPath } from "../../../platform/tracing/contract/tracing.ts";

const READERS = /(?:config|rc)\.[cm]?[jt]s$|\.(?:sh|bash)$|^(?:GNU)?[Mm]akefile$/;
const INSTALLED = /[\\/]node_modules[\\/]/;
/** Bytes. */
const MAX_SIZE = 64 << 10;

/** Returns the configuration files among the traced paths that are in the project. */
export function configurationFiles(
  paths: readonly TracedPath[],
  isInProject: (path: string) => boolean,
): string[] {
  return paths.flatMap(({ path, first, isRead }) =>
    isRead &&
    first.kind === "file" &&
    first.size <= MAX_SIZE &&
    READERS.test(basename(path)) &&
    isInProject(path) &&
    !INSTALLED.test(path)
      ? [path]
      : [],
  );
}

export function findReaders(names: readonly string[], files: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const file of names.length > 0 ? files : []) {
    let text;
    try {
      text = readFileSync(file, "utf8");
    } catch {
      continue; // only the notice is lost
    }
    for (const name of names) if (!found.has(name) && readsVariable(text, name)) found.set(name, file);
  }
  return found;
}

/** Returns whether a text has `$NAME`, `${NAME`, `$(NAME`, `env.NAME` or `env["NAME"]`. */
export function readsVariable(text: string, name: string): boolean {
  return new RegExp(`(?:\\$[{(]?|\\benv\\??\\.|\\benv\\[["'\`])${RegExp.escape(name)}\\b`).test(text);
}

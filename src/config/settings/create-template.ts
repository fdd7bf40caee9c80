// Finds out whether `rt create` copies a template and installs its dependencies. Otherwise it fetches a package, whose binary it
// starts.
//
// Non-obvious: the engine starts itself to install a template, and rt to fetch a package. So only the first needs limits from here.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { host } from "../../../platform/processes/process.ts";

/** Names that the engine takes from GitHub. */
const ON_GITHUB: readonly string[] = ["elysia", "elysia-buchta", "stric"];

/** @param words after `create` */
export function copiesTemplate(words: readonly string[], cwd: string): boolean {
  const name = words.find((word) => !word.startsWith("-"));
  if (name === undefined) return false;
  if (ON_GITHUB.includes(name) || (name.includes("/") && !name.startsWith("@"))) return true;
  const [own, home] = ["BUN_CREATE_DIR", "HOME"].map((each) => host.originalVariable(each));
  const folders = [own, join(cwd, ".bun-create"), home && join(home, ".bun-create")];
  return folders.some((folder) => folder && existsSync(join(folder, name)));
}

// The identifier of a project: `[project] id` in the rtfig.toml of its root folder. A file of age is bound to it, so that a
// file of one project is not decrypted in another.
//
// Invariants:
// - The identifier is part of what `rt trust` allows (mapping.ts). A project that copies another one's is asked about again.
// - It goes with the repository: a clone and a renamed folder keep it.
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { projectIdIn } from "../../config/project-id.ts";
import { findRoot } from "../../config/root-project.ts";
import { parseConfig, readConfig } from "../../config/rtfig.ts";
import { UserError } from "../../user-error.ts";
import { printable, quoted } from "../../printable.ts";
import { draftFile, readProjectFile } from "../atomic-file-edit.ts";
import { listAllowances } from "../trust/trust.ts";
import { complain, ArgumentError } from "../command-arguments.ts";

/** The root folder of the project that a file belongs to: the one here, if the file is in it. Throws WordsError. */
function rootOf(path: string): string {
  const here = realpathSync(".");
  const own = findRoot(here);
  const way = own === undefined ? ".." : relative(own, resolve(path));
  const root = way.startsWith("..") || isAbsolute(way) ? findRoot(realpathSync(dirname(resolve(path)))) : own;
  if (root !== undefined) return root;
  throw new ArgumentError(
    `${printable(path)} is in a dependency, which has no secrets of its own`,
    "start this in the folder of your own project",
  );
}

/** Undefined if rtfig.toml has no identifier. Throws Failure, WordsError. */
export function findProjectId(path: string): string | undefined {
  const file = relative(realpathSync("."), join(rootOf(path), FILE_NAME));
  return existsSync(file) ? projectIdIn(readConfig(file)) : undefined;
}

/**
 * Refuses an identifier that rt trust allows for another folder and not for this one: a hostile project can copy it together
 * with the file. Throws Failure.
 */
export function requireOwnId(path: string, id: string): void {
  const folders = listAllowances()
    .filter(({ project, folder }) => project === id && existsSync(folder))
    .map(({ folder }) => folder);
  const root = rootOf(path);
  if (folders.length === 0 || folders.some((folder) => folder === root || folder.startsWith(root + sep)))
    return;
  throw new UserError(
    `${printable(root)} has the identifier of ${quoted(folders[0]!)} and may not read its secrets`,
    "rt trust allows it, if this is a copy of that project",
  );
}

/** Adds an identifier to rtfig.toml if it has none. Throws Failure, WordsError. */
export function ensureProjectId(path: string): string {
  const known = findProjectId(path);
  if (known !== undefined) return known;
  const root = rootOf(path);
  const file = readProjectFile(join(root, FILE_NAME), true);
  const config = parseConfig(file.text, FILE_NAME);
  const name = basename(root)
    .replaceAll(/[^A-Za-z0-9-]/g, "-")
    .slice(0, 64);
  const id = `${name}-${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  const lineBreak = file.text.includes("\r\n") ? "\r\n" : "\n";
  const gap = file.text === "" ? "" : lineBreak.repeat(file.text.endsWith("\n") ? 1 : 2);
  const text = `${file.text}${gap}[project]${lineBreak}id = "${id}"${lineBreak}`;
  if ("project" in config.content || projectIdIn(parseConfig(text, FILE_NAME)) !== id)
    throw new ArgumentError(
      `${FILE_NAME} has no identifier of this project, and rt cannot add it`,
      `add id = "${id}" to its table [project]`,
    );
  using draft = draftFile(file, text);
  draft.putInPlace();
  complain(
    `${FILE_NAME} has the identifier of this project now; ${printable(path)} is bound to it`,
    `commit ${FILE_NAME} together with ${printable(path)}`,
    "warning",
  );
  return id;
}

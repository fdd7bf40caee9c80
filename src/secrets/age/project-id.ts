// Reads, checks and creates the project identifier, `[project] id` in the rtfig.toml of the root folder. An age file is bound
// to it, so that the file of one project is not decrypted in another.
//
// Invariants:
// - The identifier is part of the trust fingerprint (trust.ts): a project that copies an identifier is a new trust prompt.
// - The identifier is part of the repository, so that clones and renamed folders keep it.
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { FILE_NAME } from "../../config/config-file-name.ts";
import { projectIdIn } from "../../config/project-id.ts";
import { findRoot } from "../../config/root-project.ts";
import { parseConfig, readConfig } from "../../config/rtfig.ts";
import { configHint } from "../../config-hint.ts";
import { UserError } from "../../user-error.ts";
import { printable, quoted } from "../../printable.ts";
import { draftFile, readProjectFile } from "../atomic-file-edit.ts";
import { listTrustRecords } from "../trust/trust.ts";
import { reportProblem, ArgumentError } from "../command-arguments.ts";

/** Returns the root folder of a file's project: the current project if the file is inside. @throws ArgumentError */
function rootOf(path: string): string {
  const here = realpathSync(".");
  const own = findRoot(here);
  const relativePath = own === undefined ? ".." : relative(own, resolve(path));
  const root =
    relativePath.startsWith("..") || isAbsolute(relativePath)
      ? findRoot(realpathSync(dirname(resolve(path))))
      : own;
  if (root !== undefined) return root;
  throw new ArgumentError(
    `${printable(path)} is in a dependency, which has no secrets of its own`,
    "run this in the folder of your own project",
  );
}

/** Returns undefined if rtfig.toml has no identifier. @throws UserError, ArgumentError */
export function findProjectId(path: string): string | undefined {
  const file = relative(realpathSync("."), join(rootOf(path), FILE_NAME));
  return existsSync(file) ? projectIdIn(readConfig(file)) : undefined;
}

/**
 * Rejects an identifier that has a trust record for another folder and none for this one. A hostile project can copy the
 * identifier together with the file.
 * @throws UserError
 */
export function requireOwnId(path: string, id: string): void {
  const folders = listTrustRecords()
    .filter(({ project, folder }) => project === id && existsSync(folder))
    .map(({ folder }) => folder);
  const root = rootOf(path);
  if (folders.length === 0 || folders.some((folder) => folder === root || folder.startsWith(root + sep)))
    return;
  throw new UserError(
    `${printable(root)} has the identifier of ${quoted(folders[0]!)} and may not read its secrets`,
    "if this is a copy of that project, run rt trust",
  );
}

/** Returns the identifier; adds one to rtfig.toml if it has none (idempotent). @throws UserError, ArgumentError */
export function ensureProjectId(path: string): string {
  const existing = findProjectId(path);
  if (existing !== undefined) return existing;
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
      configHint(["project", "id"], id),
    );
  using draft = draftFile(file, text);
  draft.commit();
  reportProblem(
    `Added the project identifier to ${FILE_NAME}; ${printable(path)} is bound to it`,
    `commit ${FILE_NAME} together with ${printable(path)}`,
    "warning",
  );
  return id;
}

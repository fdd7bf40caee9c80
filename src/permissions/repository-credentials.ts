// Finds credentials in the project's `.git/config`, which a task with permissions can read because git needs the file.
//
// Invariants:
// - Values never enter a message, and neither do credentials in the name of a key.
// Non-obvious:
// - The file cannot be closed: git fails without it. With a closed file, Landlock also closes each new file in the folder of the project.
// - actions/checkout writes its token into the file, since version 6 into one below HOME that the file includes.
import { join } from "node:path";
import { directories } from "../../platform/files/directories.ts";
import { files } from "../../platform/files/files.ts";
import { printable } from "../printable.ts";
import { UserError } from "../user-error.ts";

/** Bytes. */
const MAX_CONFIG = 1 << 20;
/** A name and a password, or a token as the name. */
const URL_CREDENTIAL = /:\/\/(?:[^\s/@:]*:[^\s/@]+|[^\s/@:]{20,})@/;
const HEADER_CREDENTIAL = /^"?[\w-]*(?:auth|token|cookie|key|secret)[\w-]*\s*:/i;
const SECTION = /^\s*\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)$/;
const ASSIGNMENT = /^\s*([a-z][\w-]*)\s*=\s*(.*)$/i;

function isCredential(key: string, section: string, value: string): boolean {
  if (/^extraheader$/i.test(key)) return HEADER_CREDENTIAL.test(value);
  if (/(?:pass|password|token)$/i.test(key)) return value !== "";
  return URL_CREDENTIAL.test(`${value} `) || URL_CREDENTIAL.test(section) || /\bpassword=/i.test(value);
}

/** Most configurations have none of these. To compile the patterns takes longer than all else here. */
const SIGNS = ["@", "extraheader", "pass", "token"];

/** Returns the names of the keys with a credential. */
function findCredentialKeys(config: string): string[] {
  const folded = config.toLowerCase();
  if (!SIGNS.some((each) => folded.includes(each))) return [];
  const keys = new Set<string>();
  let section = "";
  for (const line of config.split("\n")) {
    const header = SECTION.exec(line);
    if (header) section = [header[1]!, ...(header[2] === undefined ? [] : [header[2]])].join(".");
    const [, key, value] = ASSIGNMENT.exec(header ? header[3]! : line) ?? [];
    if (key === undefined || !isCredential(key, section, value!)) continue;
    keys.add(`${section.replaceAll(/:\/\/[^/]*@/g, "://***@")}.${key}`);
  }
  return [...keys];
}

/** Does not wait for the writer of a pipe, by which an earlier task may have replaced the file. */
function readConfig(path: string): string {
  const content = files.readFile(path, MAX_CONFIG);
  return typeof content === "string" ? "" : new TextDecoder().decode(content);
}

/** The configuration of the repository, of its worktree, and of its submodules. */
function listConfigs(root: string): string[] {
  const modules = directories.listDirectory(join(root, ".git/modules"))?.directories ?? [];
  return [
    ".git/config",
    ".git/config.worktree",
    ...modules.map((name) => join(".git/modules", name, "config")),
  ].map((name) => join(root, name));
}

/**
 * Returns a warning if tasks with permissions can read a credential of the repository.
 * @throws UserError with --locked
 */
export function checkRepository(root: string, isLocked: boolean): string | undefined {
  const keys = [...new Set(listConfigs(root).flatMap((path) => findCredentialKeys(readConfig(path))))];
  if (keys.length === 0) return undefined;
  const names = keys.map(printable).join(", ");
  const gap = `tasks with permissions can read the credential in .git/config (${names}), because git needs the file`;
  const isHeader = keys.some((key) => /\.extraheader$/i.test(key));
  const hint = isHeader
    ? "use persist-credentials: false with actions/checkout, or git config --unset-all"
    : "remove it from the value; rt help credential-helpers has other places for it";
  if (isLocked) throw new UserError(`--locked: ${gap}`, hint);
  return `warning: ${gap}; ${hint}`;
}

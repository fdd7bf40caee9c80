// Implements `rt cache import turbo.json`: appends equivalent tables to rtfig.toml, and lists settings without an
// equivalent.
//
// Invariants:
// - The content of rtfig.toml is kept. A file that already has such a table is not changed.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errorMessage } from "../../../platform/caught-error.ts";
import { files } from "../../../platform/files/files.ts";
import { replaceFile } from "../../config/replaced-file.ts";
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";
import { linkMembers, refuseSharedNames } from "../../workspace/dependencies.ts";
import { allMembers } from "../../workspace/filter.ts";
import { findWorkspaceRoot, openWorkspace } from "../../workspace/members.ts";
import { explainUnreadable } from "../../workspace/package-json.ts";
import { importTurbo } from "./turbo.ts";
import type { TurboPackage } from "./turbo-package.ts";

type ImportedTable = Readonly<Record<string, unknown>>;

const FILE = "rtfig.toml";
/** Bytes. */
const LARGEST = 1024 * 1024;

/** Returns a summary. @throws UserError */
export function importCache([path, ...more]: readonly string[]): string {
  if (path === undefined || more.length > 0 || !/^turbo\.jsonc?$/.test(basename(path)))
    throw new UserError("rt cache import needs one turbo.json", "as in: rt cache import turbo.json");
  const content = readTable(path, Bun.JSONC.parse);
  const packages = readPackages(path, content);
  const manifest = join(dirname(path), "package.json");
  const { name } = existsSync(manifest) ? readTable(manifest, JSON.parse) : {};
  const { text, count, notes } = importTurbo(content, typeof name === "string" ? name : "", packages);
  if (text === "") throw new UserError(`${oneLine(path)} has no tasks`, "name the turbo.json of the root");
  append(text);
  return [
    `Wrote [tasks] for ${count} ${count === 1 ? "script" : "scripts"} to ${FILE}`,
    ...(notes.length > 0 ? ["Not imported:", ...notes.map((note) => `  ${oneLine(note)}`)] : []),
  ].join("\n");
}

/** Reads the turbo.json files of the workspace packages. @throws UserError */
function readPackages(path: string, content: ImportedTable): TurboPackage[] {
  const directory = realpathSync(resolve(dirname(path)));
  const root = findWorkspaceRoot(directory);
  if (content.extends !== undefined || (root !== null && root !== directory))
    throw new UserError(
      `${oneLine(path)} belongs to a package`,
      "name the turbo.json of the root: the import includes those of packages",
    );
  if (root === null) return [];
  const workspace = openWorkspace(root);
  const { members, broken } = workspace;
  if (broken[0]) throw broken[0];
  refuseSharedNames(workspace, linkMembers(members), allMembers(members)); // rules name packages
  return members.flatMap((member) => {
    if (member.isRoot) return [];
    const names = ["turbo.json", "turbo.jsonc"].filter((name) => existsSync(join(member.directory, name)));
    if (names.length > 1)
      throw new UserError(`${oneLine(member.path)} has ${names.join(" and ")}`, "keep one");
    return names.map((name) => {
      const file = join(member.directory, name);
      return { path: `${member.path}/${name}`, name: member.name, content: readTable(file, Bun.JSONC.parse) };
    });
  });
}

function append(text: string): void {
  const before = existsSync(FILE) ? readFileSync(FILE, "utf8") : "";
  const { run, cache, tasks } = (before === "" ? {} : readTable(FILE, Bun.TOML.parse)) as {
    run?: ImportedTable;
    cache?: ImportedTable;
    tasks?: ImportedTable;
  };
  const taken = tasks
    ? "[tasks]"
    : run?.cache
      ? "[run.cache]"
      : cache?.remote && text.includes("[cache.remote]")
        ? "[cache.remote]"
        : undefined;
  if (taken)
    throw new UserError(`${FILE} already has ${taken}`, "remove it first, or add the settings by hand");
  const gap = before === "" ? "" : before.endsWith("\n") ? "\n" : "\n\n";
  replaceFile(FILE, `${before}${gap}${text}`);
}

/** @throws UserError */
function readTable(path: string, parse: (text: string) => unknown): ImportedTable {
  // The limit protects from devices and pipes, which may not end.
  const bytes = files.readFile(path, LARGEST + 1);
  const cannotRead = (why: string) => new UserError(`${oneLine(path)} cannot be read: ${oneLine(why)}`);
  if (typeof bytes === "string") throw cannotRead(explainUnreadable(bytes));
  if (bytes.length > LARGEST) throw cannotRead("it is larger than 1 MiB");
  try {
    const content = parse(new TextDecoder().decode(bytes));
    if (typeof content === "object" && content !== null && !Array.isArray(content))
      return content as ImportedTable;
  } catch (error) {
    throw cannotRead(errorMessage(error));
  }
  throw new UserError(`${oneLine(path)} is not an object`, "write it in braces: { ... }");
}

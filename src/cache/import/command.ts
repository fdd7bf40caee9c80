// Implements `rt cache import turbo.json`, `nx.json` and `pnpm-workspace.yaml`: appends equivalent tables to rtfig.toml, and
// lists settings without an equivalent.
//
// Invariants:
// - The content of rtfig.toml is kept. A file that already has such a table is not changed.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { errorMessage } from "../../../platform/caught-error.ts";
import { files } from "../../../platform/files/files.ts";
import { replaceFile } from "../../config/replaced-file.ts";
import { ROOT_PACKAGE } from "../../config/tasks/task-table.ts";
import { UserError } from "../../user-error.ts";
import { oneLine } from "../../printable.ts";
import { linkMembers, refuseSharedNames } from "../../workspace/dependencies.ts";
import { allMembers } from "../../workspace/filter.ts";
import { compilePatterns, openSearch } from "../../workspace/member-patterns.ts";
import {
  findWorkspaceRoot,
  type MemberPackage,
  openWorkspace,
  type Workspace,
} from "../../workspace/members.ts";
import { explainUnreadable, scriptNames } from "../../workspace/package-json.ts";
import type { HasScript, Imported } from "./imported-row.ts";
import { isTable, type JsonTable, tableOf } from "./json-table.ts";
import { readProject } from "./nx-project.ts";
import { importNx } from "./nx.ts";
import { importPnpm } from "./pnpm.ts";
import { importTurbo } from "./turbo.ts";
import type { TurboPackage } from "./turbo-package.ts";

const FILE = "rtfig.toml";
/** Bytes. */
const LARGEST = 1024 * 1024;

/** Names of tasks in a message. */
const MAX_SHOWN = 5;

/** Returns a summary. @throws UserError */
export function importCache([path, ...more]: readonly string[]): string {
  const file = path === undefined ? "" : basename(path);
  const format = FORMATS.find((each) => each.file.test(file));
  if (path === undefined || more.length > 0 || !format)
    throw new UserError(
      "rt cache import needs one turbo.json, nx.json or pnpm-workspace.yaml",
      "as in: rt cache import turbo.json",
    );
  const content = readTable(path, format.parse);
  const { text, count, notes } = format.convert(path, content);
  if (text === "") throw noTasks(path, format, content);
  append(text);
  return [
    `Wrote [tasks] for ${count} ${count === 1 ? "script" : "scripts"} to ${FILE}`,
    ...(notes.length > 0
      ? ["Not imported, or different:", ...notes.map((note) => `  ${oneLine(note)}`)]
      : []),
  ].join("\n");
}

interface ImportFormat {
  readonly file: RegExp;
  readonly parse: (text: string) => unknown;
  readonly convert: (path: string, content: JsonTable) => Imported;
  /** The keys that have tasks, for messages; the first one is current. */
  readonly keys: readonly string[];
}

const FORMATS: readonly ImportFormat[] = [
  { file: /^turbo\.jsonc?$/, parse: Bun.JSONC.parse, convert: convertTurbo, keys: ["tasks", "pipeline"] },
  { file: /^nx\.json$/, parse: Bun.JSONC.parse, convert: convertNx, keys: [] },
  { file: /^pnpm-workspace\.yaml$/, parse: Bun.YAML.parse, convert: convertPnpm, keys: ["tasks"] },
];

function noTasks(path: string, { keys }: ImportFormat, content: JsonTable): UserError {
  const name = oneLine(path);
  if (keys.length === 0)
    return new UserError(
      `${name} has no tasks`,
      "rt imports targetDefaults and explicit targets; add scripts to package.json",
    );
  const words = keys.flatMap((key) => Object.keys(tableOf(content[key])));
  if (words.length === 0)
    return new UserError(
      `${name} has no tasks: "${keys[0]}" is missing or empty`,
      "rt run needs none; to cache scripts or to order them, write [tasks] in rtfig.toml (rt help import)",
    );
  const shown = words.slice(0, MAX_SHOWN).map((word) => `"${oneLine(word)}"`);
  return new UserError(
    `No package has a script for the tasks of ${name}: ${shown.join(", ")}${words.length > MAX_SHOWN ? ", ..." : ""}`,
    "check that package.json lists the packages in workspaces, and that they have these scripts",
  );
}

function convertPnpm(path: string, content: JsonTable): Imported {
  const members = openMembers(path, {});
  return importPnpm(content, indexScripts(members), rootScriptsOf(members));
}

function convertTurbo(path: string, content: JsonTable): Imported {
  const members = openMembers(path, content);
  return importTurbo(content, readPackages(members), indexScripts(members), rootScriptsOf(members));
}

function convertNx(path: string, content: JsonTable): Imported {
  const directory = realpathSync(resolve(dirname(path)));
  const workspace = openWorkspace(directory);
  if (workspace.root !== directory)
    throw new UserError(`${oneLine(path)} belongs to a package`, "name the nx.json of the root");
  const members = requireUsable(workspace);
  const projects = members.map((member) => {
    const file = join(member.directory, "project.json");
    const project = existsSync(file) ? readTable(file, Bun.JSONC.parse) : {};
    return readProject({ ...member, isRoot: member.path === "." }, member.manifest, project);
  });
  const known = new Set(members.map((member) => member.directory));
  const [everywhere] = compilePatterns(["**"], "");
  const others = openSearch(directory, "")
    .expand(everywhere!)
    .filter((folder) => !known.has(folder) && existsSync(join(folder, "project.json")));
  return importNx(
    content,
    projects,
    others.map((folder) => relative(directory, folder).replaceAll(sep, "/") || "."),
    rootScriptsOf(members),
  );
}

function rootOf(members: readonly MemberPackage[]): MemberPackage | undefined {
  return members.length > 1 ? members.find(({ isRoot }) => isRoot) : undefined;
}

function rootScriptsOf(members: readonly MemberPackage[]): JsonTable {
  return tableOf(rootOf(members)?.manifest.scripts);
}

/**
 * Excludes the name of a script that only the root has: it is not a task of the packages. Returns undefined without a workspace.
 */
function indexScripts(members: readonly MemberPackage[]): HasScript | undefined {
  if (members.length === 0) return undefined;
  const root = rootOf(members);
  const names = new Set(
    members.flatMap((member) =>
      scriptNames(member.manifest).flatMap((script) => [
        `${member.name}#${script}`,
        ...(member === root ? [] : [script]),
        ...(member.isRoot ? [`${ROOT_PACKAGE}#${script}`] : []),
      ]),
    ),
  );
  return (name) => names.has(name);
}

/** Returns no members without a workspace. @throws UserError */
function openMembers(path: string, content: JsonTable): readonly MemberPackage[] {
  const directory = realpathSync(resolve(dirname(path)));
  const root = findWorkspaceRoot(directory);
  if (content.extends !== undefined || (root !== null && root !== directory))
    throw new UserError(
      `${oneLine(path)} belongs to a package`,
      "name the turbo.json of the root: the import includes those of packages",
    );
  if (root === null) return [];
  return requireUsable(openWorkspace(root));
}

/** Returns the members. @throws UserError if one cannot be read, or if two have the same name */
function requireUsable(workspace: Workspace): readonly MemberPackage[] {
  const { members, broken } = workspace;
  if (broken[0]) throw broken[0];
  refuseSharedNames(workspace, linkMembers(members), allMembers(members)); // rules name packages
  return members;
}

/** Reads the turbo.json files of the workspace packages. @throws UserError */
function readPackages(members: readonly MemberPackage[]): TurboPackage[] {
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
    run?: JsonTable;
    cache?: JsonTable;
    tasks?: JsonTable;
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
function readTable(path: string, parse: (text: string) => unknown): JsonTable {
  // The limit protects from devices and pipes, which may not end.
  const bytes = files.readFile(path, LARGEST + 1);
  const cannotRead = (why: string) => new UserError(`${oneLine(path)} cannot be read: ${oneLine(why)}`);
  if (typeof bytes === "string") throw cannotRead(explainUnreadable(bytes));
  if (bytes.length > LARGEST) throw cannotRead("it is larger than 1 MiB");
  try {
    const content = parse(new TextDecoder().decode(bytes));
    if (isTable(content)) return content;
  } catch (error) {
    throw cannotRead(errorMessage(error));
  }
  throw new UserError(`${oneLine(path)} is not an object`, "write it in braces: { ... }");
}

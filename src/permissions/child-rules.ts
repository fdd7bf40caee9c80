// Turns the profile of a task into the rules of its process.
//
// Invariants:
// - A rule of the table or the project is for the folder itself. A symlink in its place is an error, because an earlier task may
//   have made it.
import { basename, dirname, join } from "node:path";
import { directories } from "../../platform/files/directories.ts";
import { files as filesystem } from "../../platform/files/files.ts";
import { findRealPath, findRecordedPath } from "../../platform/files/real-path.ts";
import type { FileRule, PermissionRules } from "../../platform/permissions/contract/permissions.ts";
import { listTerminals } from "../../platform/permissions/permissions.ts";
import { host } from "../../platform/processes/process.ts";
import { cacheDirectory } from "../config/cache-directory.ts";
import { oneLine, printable } from "../printable.ts";
import { UserError } from "../user-error.ts";
import { isWithin } from "../workspace/member-match.ts";
import { type Profile, type ProfileRule, SYSTEM_FOLDERS } from "./profile.ts";

/** The rules of a profile without the spare ones, for further tasks. */
const shortenedRules = new WeakMap<Profile, readonly FileRule[]>();
let hasResolved = false;

/** @param temporary folder of temporary files; undefined before the run starts */
export function resolveRules(profile: Profile, home: string, temporary: string | undefined): PermissionRules {
  const { envFolders, sockets, network, hosts } = profile;
  const closed = listCredentials(profile, home);
  const hidden = closed.length > 0 ? [...profile.hidden, ...closed] : profile.hidden;
  const isFirst = !hasResolved;
  hasResolved = true;
  const files = [...listFileRules(profile, isFirst)];
  if (temporary !== undefined) files.push({ path: temporary, access: "write", followsLinks: false });
  const isChangeable = (path: string) =>
    files.some((rule) => rule.access === "write" && isWithin(path, rule.path));
  const folders = [...sockets, ...(temporary === undefined ? [] : [temporary])];
  return {
    files,
    hidden,
    envFolders,
    home,
    // A task may have replaced what it can write by a symlink.
    sockets: folders.map((path) => (isChangeable(path) ? path : (findRecordedPath(path) ?? path))),
    network,
    hosts,
    isFirst,
  };
}

function listFileRules(profile: Profile, isFirst: boolean): readonly FileRule[] {
  const known = shortenedRules.get(profile);
  if (known) return known;
  const rules = profile.rules.flatMap((rule) => (rule.path === OPT ? replaceOpt(rule, profile) : rule));
  // For one task, the search for spare rules takes longer than the rules themselves.
  const used = isFirst ? rules : rules.filter((rule) => !isCovered(rule, rules));
  const files: FileRule[] = [
    ...ownFiles(),
    ...used.map(({ path, access, source }) => {
      const followsLinks = source === "system" || source === "toolchain";
      return { path, access, followsLinks };
    }),
  ];
  if (!isFirst) shortenedRules.set(profile, files);
  return files;
}

/** Agents of CI services keep their tokens and their projects in a folder of it. */
const OPT = "/opt";

/** Replaces the rule of /opt by rules for its other folders, if the project is deeper in one of them. */
function replaceOpt(rule: ProfileRule, { rules }: Profile): readonly ProfileRule[] {
  const folder = systemTarget(OPT) ?? OPT;
  const root = rules.find(({ source }) => source === "project")!.path;
  const [own, ...below] = isWithin(root, folder) ? root.slice(folder.length + 1).split("/") : [];
  if (below.length === 0) return [rule];
  const names = listFolders(folder).filter((name) => name !== own);
  return names.map((name) => ({ ...rule, path: join(folder, name) }));
}

/** Folders of the system, and those within them, without symlinks. They are looked up once, because no task can change them. */
const systemTargets = new Map<string, string | undefined>();

function systemTarget(path: string): string | undefined {
  if (!systemTargets.has(path)) systemTargets.set(path, findRecordedPath(path));
  return systemTargets.get(path);
}

/** Returns whether another rule of the system includes a folder, as that of /usr includes /bin and /usr/local/bin. */
function isCovered({ path, access }: ProfileRule, rules: readonly ProfileRule[]): boolean {
  if (access !== "read" || !SYSTEM_FOLDERS.some((each) => isWithin(path, each))) return false;
  const target = systemTarget(path);
  const covers = (other: ProfileRule) =>
    other.source === "system" &&
    other.access === "read" &&
    other.path !== path &&
    isWithin(target!, other.path);
  return target !== undefined && rules.some((each) => covers(each) && systemTarget(each.path) === each.path);
}

/**
 * Returns files with credentials in folders that tasks can read. They are looked up for each step, because an earlier task without
 * permissions may have written a token.
 */
function listCredentials({ toolConfigs }: Profile, home: string): string[] {
  const configs = [...toolConfigs, ...listNpmConfigs(home)].filter(mayHaveToken);
  return [...configs, ...AGENT_FOLDERS, ...listBrowserProfiles(home)].flatMap(
    (path) => findRecordedPath(path) ?? [],
  );
}

/** Configuration of CI agents with their tokens. Scripts of a job run as the same user. */
const AGENT_FOLDERS = ["/etc/buildkite-agent", "/etc/circleci-runner", "/etc/gitlab-runner"];

/** Folders of version managers in HOME, and the npm configuration in each version of Node.js below them. */
const NODE_VERSIONS: readonly (readonly [folder: string, config: string])[] = [
  [".nvm/versions/node", "etc/npmrc"],
  [".fnm/node-versions", "installation/etc/npmrc"],
  [".local/share/fnm/node-versions", "installation/etc/npmrc"],
  [".local/share/mise/installs/node", "etc/npmrc"],
  [".local/share/pnpm/nodejs", "etc/npmrc"],
  [".volta/tools/image/node", "etc/npmrc"],
  [".asdf/installs/nodejs", "etc/npmrc"],
];

/** The configurations that `npm config set --global` has written with any version, not only that of PATH. */
function listNpmConfigs(home: string): string[] {
  return NODE_VERSIONS.flatMap(([folder, config]) =>
    listFolders(join(home, folder)).map((version) => join(home, folder, version, config)),
  );
}

/** Returns the names of folders and symlinks. */
function listFolders(path: string): string[] {
  const listing = directories.listDirectory(path);
  return [...(listing?.directories ?? []), ...(listing?.links ?? [])];
}

/** Whether a file may have a token, as one that rt cannot read. Without a token, npm needs its settings. */
function mayHaveToken(path: string): boolean {
  const content = filesystem.readFile(path);
  return typeof content === "string" || /_(?:auth|password)/i.test(new TextDecoder().decode(content));
}

/** Profiles with the sessions of a user, which Playwright's server for assistants keeps beside its browsers. */
function listBrowserProfiles(home: string): string[] {
  const folder = join(home, ".cache/ms-playwright");
  return listFolders(folder).flatMap((name) => (name.startsWith("mcp-") ? [join(folder, name)] : []));
}

/** Makes the folders that the table names and that do not exist, because a rule needs one. @throws UserError */
export function makeWritableFolders({ rules }: Profile, label: string, root: string): void {
  for (const { path, access, source } of rules) {
    if (source !== "table") continue;
    const end = resolveEnd(path);
    if (end.real !== end.written)
      throw new UserError(
        `${oneLine(label)}: "${printable(end.written)}" in permissions is a link to "${printable(end.real)}"`,
        "name the folder that it leads to",
      );
    if (access === "write" && end.written !== path && isWithin(path, root))
      process.getBuiltinModule("node:fs").mkdirSync(path, { recursive: true });
  }
}

/** The longest part of a path that exists, and the same part without symlinks. */
function resolveEnd(path: string): { readonly written: string; readonly real: string } {
  for (let written = path; ; written = join(written, "..")) {
    const real = findRealPath(written);
    if (real !== undefined) return { written, real };
    if (isLink(written)) return { written, real: "" };
  }
}

function isLink(path: string): boolean {
  try {
    process.getBuiltinModule("node:fs").readlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns HOME without symlinks, or a path that does not exist. */
export function findHome(): string {
  const home = host.originalVariable("HOME") ?? "";
  return (home.startsWith("/") ? findRecordedPath(home) : undefined) ?? "/nonexistent";
}

/** Returns the folders in which rt keeps memos and decisions about trust, without symlinks. */
export function listOwnFolders(): string[] {
  const { stateDirectory } =
    require("../../platform/files/state-directory.ts") as typeof import("../../platform/files/state-directory.ts");
  return [cacheDirectory(), stateDirectory()].flatMap((folder) => {
    if (folder === undefined) return [];
    // It may not exist yet, and it may be a link itself.
    const above = findRealPath(dirname(folder)) ?? dirname(folder);
    return [findRealPath(folder) ?? join(above, basename(folder))];
  });
}

/** Files that rt and every program need, wherever they are. */
function ownFiles(): FileRule[] {
  const files = [process.execPath, "/etc/resolv.conf", "/etc/localtime"];
  return [
    ...files.map((path): FileRule => ({ path, access: "read", followsLinks: true })),
    ...listTerminals().map((path): FileRule => ({ path, access: "device", followsLinks: false })),
  ];
}

// Remembers the lifecycle scripts of each dependency of a project, and stops an installation if an update changes them.
//
// Invariants:
// - A changed script does not run before the user has allowed its text: with `rt trust`, or with RT_TRUST.
// - rt compares the text in package.json. Files that a script starts may change.
// - Each text has its own file: scripts of several versions of a package run at the same time.
//
// Non-obvious: the first installation of a package accepts all its versions, so the rt outside of the installer lists what was
// known before.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStateFiles } from "../../../platform/files/state-directory.ts";
import { oneLine } from "../../printable.ts";
import { isGivenTrust } from "../../secrets/trust/trust-variable.ts";

const KIND = "install-scripts";
const PENDING = ".pending";
const EVENTS = ["preinstall", "install", "postinstall"] as const;

/** Lifecycle scripts of one version of a package: one line each. */
interface KnownScripts {
  /** That of the folder. */
  readonly name?: string;
  /** That of package.json; another one for an alias. */
  readonly packageName?: string;
  readonly version: string;
  readonly lines: readonly string[];
  /** When rt has read them, in ms since the epoch. */
  readonly readAt: number;
}

/** Scripts of a version that the user trusts for the first time. */
export interface NewScripts {
  readonly name: string;
  readonly after: KnownScripts;
}

/** A change that the user has not allowed yet. */
export interface ChangedScripts extends NewScripts {
  /** The file that remembers the new text. */
  readonly file: string;
  readonly before: KnownScripts;
}

function hashOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** The beginning of the names of a project's files, or of those of one package. */
function prefixOf(root: string, name?: string): string {
  const own = `${hashOf(root).slice(0, 16)}-`;
  return name === undefined ? own : `${own}${hashOf(name).slice(0, 32)}-`;
}

/**
 * Returns the files of a project's known scripts. Forgets the changes that have stopped earlier installations: the installer
 * removes such a package, so its scripts are checked again.
 */
export function beginInstallation(root: string): readonly string[] {
  const files = openStateFiles(KIND);
  const names = files?.list().filter((name) => name.startsWith(prefixOf(root))) ?? [];
  for (const name of names) if (name.endsWith(PENDING)) files!.remove(name);
  return names.filter((name) => !name.endsWith(PENDING));
}

/**
 * Remembers the scripts of a package that is new, or allowed. Otherwise returns their change.
 * @param known the files before the installation
 */
export function checkScripts(
  { root, name, folder }: { readonly root: string; readonly name: string; readonly folder: string },
  known: readonly string[],
): ChangedScripts | undefined {
  const after = { ...readScripts(folder), name };
  const prefix = prefixOf(root, name);
  const file = `${prefix}${hashOf(JSON.stringify(after.lines)).slice(0, 32)}`;
  if (known.includes(file)) return undefined;
  const earlier = known
    .filter((each) => each.startsWith(prefix))
    .flatMap((each) => readState<KnownScripts>(each));
  const before = earlier.toSorted((one, other) => other.readAt - one.readAt)[0];
  const change = before && { file, name, before, after };
  if (!change || isGivenTrust(fingerprintOf(change))) {
    writeState(file, after);
    return undefined;
  }
  writeState(`${file}${PENDING}`, change);
  return change;
}

/** Returns the packages whose scripts have run for the first time. @param known the files before the installation */
export function listNewScripts(root: string, known: readonly string[]): readonly NewScripts[] {
  const names = openStateFiles(KIND)?.list() ?? [];
  return names
    .filter((file) => file.startsWith(prefixOf(root)) && !file.endsWith(PENDING) && !known.includes(file))
    .flatMap((file) => readState<KnownScripts>(file))
    .flatMap((after) => (after.name === undefined ? [] : [{ name: after.name, after }]))
    .filter(({ name }) => !known.some((file) => file.startsWith(prefixOf(root, name))));
}

/** The hash for RT_TRUST. */
export function fingerprintOf({ name, after }: ChangedScripts): string {
  return hashOf(JSON.stringify([name, after.lines]));
}

export function allow({ file, after }: ChangedScripts): void {
  writeState(file, after);
  openStateFiles(KIND)?.remove(`${file}${PENDING}`);
}

/** Returns the changes of a project that the user has not allowed yet. */
export function listChangedScripts(root: string): readonly ChangedScripts[] {
  const names = openStateFiles(KIND)?.list() ?? [];
  return names
    .filter((name) => name.startsWith(prefixOf(root)) && name.endsWith(PENDING))
    .flatMap((name) => readState<ChangedScripts>(name));
}

/** Without a folder that can be written, as in some containers, nothing is remembered. */
function writeState(name: string, content: KnownScripts | ChangedScripts): void {
  try {
    openStateFiles(KIND)?.write(name, JSON.stringify(content));
  } catch {
    return;
  }
}

/** Returns one element, or none if the file is not readable. */
function readState<Content extends KnownScripts | ChangedScripts>(name: string): Content[] {
  const content = parse(openStateFiles(KIND)?.read(name)) as Content | undefined;
  return content ? [content] : [];
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function readScripts(folder: string): KnownScripts {
  const manifest = (parse(readFileSync(join(folder, "package.json"), "utf8")) ?? {}) as {
    readonly name?: unknown;
    readonly version?: unknown;
    readonly scripts?: Readonly<Record<string, unknown>>;
  };
  const scripts: Readonly<Record<string, unknown>> = {
    // The installer's default.
    ...(existsSync(join(folder, "binding.gyp")) && { install: "node-gyp rebuild" }),
    ...manifest.scripts,
  };
  const lines = EVENTS.filter((event) => scripts[event] !== undefined).map(
    (event) => `${event}: ${String(scripts[event])}`,
  );
  const { name, version } = manifest;
  return { packageName: String(name), version: String(version), lines, readAt: Date.now() };
}

export function describeScripts({ name, after }: NewScripts): string {
  return `install scripts of ${oneLine(name)} ${oneLine(after.version)}: ${after.lines.map(oneLine).join("; ")}`;
}

export function describeChange({ name, before, after }: ChangedScripts): string[] {
  const removed = before.lines.filter((line) => !after.lines.includes(line));
  const added = after.lines.filter((line) => !before.lines.includes(line));
  return [
    `install scripts of ${oneLine(name)} have changed from ${oneLine(before.version)} to ${oneLine(after.version)}`,
    ...removed.map((line) => `- ${oneLine(line)}`),
    ...added.map((line) => `+ ${oneLine(line)}`),
  ];
}

// Builds a cache entry from a trace: recorded dependencies and outputs, by the order of accesses to each path.
//
// Invariants:
// - An input has the same state at the end as at its first access. Otherwise nothing is cached.
// - A run is not cached after a modified input, or after a write outside the project.
// - A source file that matches `outputs` is an input. Otherwise a restore could replace the user's changes.
//
// Non-obvious:
// - A created directory depends on having no other names: the script could delete what another run left in it.
// - A file that the script created and deleted is a negative dependency.
import type { PathState, Trace, TracedPath } from "../../../platform/tracing/contract/tracing.ts";
import { isSame } from "../../../platform/files/path-state.ts";
import type { FileSystemView } from "./entry-validation.ts";
import type { RecordedDependency, RecordedOutput } from "./entry.ts";
import { listFiles, type Matcher } from "../key/rule-globs.ts";
import { isBelow } from "../relocation/stored-path.ts";
import { listingsOf } from "./recorded-listings.ts";
import { ModifiedInputError, NotCacheableError } from "./not-cacheable-error.ts";

export interface ProjectView extends FileSystemView {
  readonly root: string;
  readonly isDeclared: Matcher;
  /** The globs of declared outputs; relative to `packageDirectory`. */
  readonly declared: readonly string[];
  readonly packageDirectory: string;
  /** Returns the paths that git does not ignore; null without a git repository. */
  selectSources(paths: readonly string[]): Promise<ReadonlySet<string> | null>;
  /** Copies a file into the store. Returns the content hash; null if the file changed during the copy. */
  addFile(path: string, state: Extract<PathState, { kind: "file" }>): Promise<string | null>;
}

export interface EntryDraft {
  readonly conditions: RecordedDependency[];
  readonly outputs: RecordedOutput[];
  readonly own: string[];
}

/** @throws NotCacheableError */
export async function buildEntry(
  { paths, incompleteReason }: Trace,
  complete: ProjectView,
): Promise<EntryDraft> {
  if (incompleteReason) throw new NotCacheableError(incompleteReason.kind, incompleteReason.detail);
  const declared = ignoreOuterFolders(paths, complete);
  const listed = await listDeclaredOutputs(declared);
  const sources = await findSources(paths, listed, declared);
  const isDeclared: Matcher = (path) => declared.isDeclared(path) && !sources.has(path);
  const project = sources.size === 0 ? declared : { ...declared, isDeclared };
  const draft: EntryDraft = { conditions: [], outputs: [], own: [] };
  const written = new Set<string>();
  const modified: string[] = [];
  for (const traced of paths) {
    const { path } = traced;
    if (project.isIgnored(path)) continue;
    if (traced.isUnsteady) throw new NotCacheableError("changed", path);
    if (hasWritten(traced)) {
      written.add(path);
      if (isModifiedInput(traced) && !project.isDeclared(path)) modified.push(path);
      else await recordWritten(traced, draft, project);
    } else if (!project.isDeclared(path)) {
      requireSame(traced);
      const hash = hashOf(traced, project);
      // Most hashes are cached. Awaiting each of thousands would double the time.
      recordInput(traced, hash instanceof Promise ? await hash : hash, draft, project);
    }
  }
  if (modified.length > 0) throw new ModifiedInputError(modified, draft);
  await addDeclaredOutputs(draft, listed, project, sources);
  const outputs = new Set(draft.outputs.map(({ path }) => path));
  for (const path of written) if (!outputs.has(path)) draft.own.push(path);
  draft.conditions.push(...(await listingsOf(paths, new Set([...written, ...outputs]), project)));
  return draft;
}

/**
 * Ignores folders outside the project that the script created, or tried to create, for an ignored file. Otherwise no first run of
 * a user would be stored, and later results would be valid only for users with these folders.
 */
function ignoreOuterFolders(paths: readonly TracedPath[], project: ProjectView): ProjectView {
  const { root, isIgnored } = project;
  const isFor = (folder: string) => paths.some(({ path }) => isBelow(path, folder) && isIgnored(path));
  const folders = new Set<string>();
  for (const { path, first, last = first, isWritten, names } of paths) {
    if (!isWritten || last.kind !== "directory" || names) continue;
    if (first.kind !== "absent" && first.kind !== "directory") continue;
    if (!isBelow(path, root) && !isBelow(root, path) && path !== root && isFor(path)) folders.add(path);
  }
  if (folders.size === 0) return project;
  return { ...project, isIgnored: (path) => folders.has(path) || isIgnored(path) };
}

/** Returns whether a path was changed; a failed call changes nothing. */
export function hasWritten({ isWritten, isChangeObserved, last }: TracedPath): boolean {
  return isWritten && (isChangeObserved || last !== undefined);
}

export async function listDeclaredOutputs({
  declared,
  packageDirectory,
}: ProjectView): Promise<readonly string[]> {
  return await listFiles(declared, packageDirectory);
}

/** Returns the declared outputs that are source files: git does not ignore them, and the script only read them. */
async function findSources(
  paths: readonly TracedPath[],
  listed: readonly string[],
  project: ProjectView,
): Promise<ReadonlySet<string>> {
  if (project.declared.length === 0) return new Set();
  const isMeant = (path: string) => project.isDeclared(path) && !project.isIgnored(path);
  const found = new Set<string>();
  const others = new Set<string>();
  for (const traced of paths) {
    const { path, first, isRead } = traced;
    if (!isMeant(path)) continue;
    const isThere = first.kind === "file" || first.kind === "link";
    (isThere && (isRead || !hasWritten(traced)) ? found : others).add(path);
  }
  for (const path of listed)
    if (!others.has(path) && isMeant(path) && project.stat(path).kind === "file") found.add(path);
  return (await project.selectSources([...found])) ?? new Set();
}

/** Returns whether the script read an existing file before it changed it, so that its old content is lost. */
function isModifiedInput({ first, isRead }: TracedPath): boolean {
  return isRead && first.kind !== "absent";
}

/** @throws NotCacheableError if the file changed during the run */
function requireSame({ path, first, last }: TracedPath): void {
  if (last || (first.kind === "file" && first.isFresh)) throw new NotCacheableError("changed", path);
}

/** Returns null if the path is not a file. */
function hashOf(
  { path, first }: TracedPath,
  { hashes }: ProjectView,
): string | null | Promise<string | null> {
  return first.kind === "file" ? (hashes.find(path, first) ?? hashes.hash(path, first)) : null;
}

/** @throws NotCacheableError */
function recordInput(
  { path, first, isRead }: TracedPath,
  hash: string | null,
  { conditions }: EntryDraft,
  { stat }: FileSystemView,
): void {
  if (first.kind === "file") {
    if (hash === null) throw new NotCacheableError(isSame(stat(path), first) ? "unread" : "changed", path);
    conditions.push(["file", path, hash, first.mode]);
  } else if (first.kind === "link") conditions.push(["link", path, first.target]);
  else if (first.kind === "directory") conditions.push(["directory", path, first.mode]);
  else if (first.kind === "other" && isRead) throw new NotCacheableError("pipe", path);
  else conditions.push([first.kind, path]);
}

async function recordWritten(traced: TracedPath, draft: EntryDraft, project: ProjectView) {
  const { path, first, isProbed } = traced;
  const now = traced.last ?? first;
  const isDeclared = project.isDeclared(path);
  if (first.kind === "absent" && now.kind === "absent") {
    if (!isDeclared) draft.conditions.push(["absent", path]);
    return;
  }
  if (!isBelow(path, project.root)) throw new NotCacheableError("outside", path);
  if (first.kind === "other" || now.kind === "other") throw new NotCacheableError("output", path);
  if (!isDeclared) draft.conditions.push(dependencyBefore(path, first, isProbed));
  draft.outputs.push(await outputOf(path, now, project));
}

function dependencyBefore(
  path: string,
  first: Exclude<PathState, { kind: "other" }>,
  isProbed: boolean,
): RecordedDependency {
  switch (first.kind) {
    case "absent":
      // Without a probe, the result does not depend on the earlier content.
      return [isProbed ? "absent" : "any", path];
    case "directory":
      return ["directory", path, first.mode];
    case "link":
      return ["link", path, first.target];
    case "file":
      return isProbed ? ["size", path, first.size, first.mode] : ["any", path];
  }
}

async function outputOf(path: string, now: PathState, project: ProjectView): Promise<RecordedOutput> {
  switch (now.kind) {
    case "absent":
      return { path, kind: "absent" };
    case "directory":
      return { path, kind: "directory", mode: now.mode };
    case "link":
      return { path, kind: "link", target: now.target };
    case "other":
      throw new NotCacheableError("output", path);
    case "file": {
      const hash = await project.addFile(path, now);
      if (hash === null) throw new NotCacheableError("changed", path);
      return { path, kind: "file", hash, mode: now.mode };
    }
  }
}

/** Adds declared outputs that the run did not write: a tool writes nothing if its output is up to date. */
export async function addDeclaredOutputs(
  { outputs, conditions }: EntryDraft,
  listed: readonly string[],
  project: ProjectView,
  sources: ReadonlySet<string> = new Set(),
): Promise<void> {
  const made = new Set(outputs.map(({ path }) => path));
  const seen = new Set(conditions.map(([, path]) => path));
  for (const path of listed) {
    if (made.has(path)) continue;
    if (!isBelow(path, project.root)) throw new NotCacheableError("elsewhere", path);
    const state = project.stat(path);
    if (sources.has(path)) {
      if (!seen.has(path)) conditions.push(await dependencyNow(path, state, project));
    } else if (state.kind !== "absent") outputs.push(await outputOf(path, state, project));
  }
}

async function dependencyNow(
  path: string,
  state: PathState,
  { hashes }: ProjectView,
): Promise<RecordedDependency> {
  const hash = state.kind === "file" ? await hashes.hash(path, state) : null;
  if (state.kind !== "file" || hash === null) throw new NotCacheableError("changed", path);
  return ["file", path, hash, state.mode];
}

// From what was seen of a run to what is kept of it: conditions and outputs, by the order of what happened to each path.
//
// Contract: what was read has to be, at the end, what it was before it was read, unless the script has made it. A path
// that existed, was read and then changed has no state that could be compared later: such a run is not kept, nor is
// one that wrote outside the project, or whose inputs changed under it.
//
// Surprising: a source that outputs name is none, as a formatter's: what git does not ignore, and the script has read or not
// written, counts, so that nobody's work is replaced by what it was before. Of a path that was written, what was there before
// still counts if it was looked at. What was taken away again as it was made must not be there, and is no part of what was
// listed in between. A directory that was made has nothing in it but what the script has put there: what another run has
// left in one of that name, the script might take away.
import { basename } from "node:path";
import type { PathState, Trace, TracedPath } from "../../../platform/tracing/contract/tracing.ts";
import { isSame } from "../../../platform/files/path-state.ts";
import { namesOf, type FileSystemView } from "./entry-validation.ts";
import type { RecordedDependency, RecordedOutput } from "./entry.ts";
import { listFiles, type Matcher } from "../key/rule-globs.ts";
import { isBelow } from "./relocation.ts";
import { collectUsed, stemsFor, isSought } from "./parent-folder-names.ts";
import { ModifiedInputError, NotCacheableError } from "./not-cacheable-error.ts";

export interface ProjectView extends FileSystemView {
  readonly root: string;
  readonly isDeclared: Matcher;
  /** The globs of declared outputs, and what they are relative to. */
  readonly declared: readonly string[];
  readonly packageDirectory: string;
  /** Those of some paths that somebody writes by hand, as far as git knows; null where there is none to know. */
  selectSources(paths: readonly string[]): Promise<ReadonlySet<string> | null>;
  /** Puts a file's content away and gives its hash; null where it changes meanwhile. */
  addFile(path: string, state: Extract<PathState, { kind: "file" }>): Promise<string | null>;
}

export interface EntryDraft {
  readonly conditions: RecordedDependency[];
  readonly outputs: RecordedOutput[];
  readonly own: string[];
}

/** Throws Unkept. */
export async function buildEntry(
  { paths, incompleteReason }: Trace,
  declared: ProjectView,
): Promise<EntryDraft> {
  if (incompleteReason) throw new NotCacheableError(incompleteReason.kind, incompleteReason.detail);
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
      // Of most it is known: waiting for each of thousands takes as long as the rest of it.
      recordInput(traced, hash instanceof Promise ? await hash : hash, draft, project);
    }
  }
  if (modified.length > 0) throw new ModifiedInputError(modified, draft);
  await addDeclaredOutputs(draft, listed, project, sources);
  const outputs = new Set(draft.outputs.map(({ path }) => path));
  for (const path of written) if (!outputs.has(path)) draft.own.push(path);
  const own = new Set([...written, ...outputs]);
  const used = collectUsed(paths, project.root);
  for (const traced of paths) {
    if (!project.isIgnored(traced.path))
      recordListing(traced, own, draft, project, stemsFor(traced, project.root, used));
  }
  return draft;
}

/** Where a call that was to change it has failed, it is what it was. */
export function hasWritten({ isWritten, isChangeObserved, last }: TracedPath): boolean {
  return isWritten && (isChangeObserved || last !== undefined);
}

/** Of all that is declared to be made, what there is now that the script has ended. */
export async function listDeclaredOutputs({
  declared,
  packageDirectory,
}: ProjectView): Promise<readonly string[]> {
  return await listFiles(declared, packageDirectory);
}

/** What is declared to be made, and is rather what is read. */
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

/** Of a path that has been written: what was there before was read, and is gone. */
function isModifiedInput({ first, isRead }: TracedPath): boolean {
  return isRead && first.kind !== "absent";
}

/** Throws Unkept. */
function requireSame({ path, first, last }: TracedPath): void {
  if (last || (first.kind === "file" && first.isFresh)) throw new NotCacheableError("changed", path);
}

/** Null for what is no file. */
function hashOf(
  { path, first }: TracedPath,
  { hashes }: ProjectView,
): string | null | Promise<string | null> {
  return first.kind === "file" ? (hashes.find(path, first) ?? hashes.hash(path, first)) : null;
}

/** Throws Unkept. */
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
      // Written without a look, it would have become the same whatever was there.
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

/** A tool that finds its output up to date writes nothing, and yet it has to be there. */
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

function recordListing(
  { path, names, first, last, unsteadyNames }: TracedPath,
  own: ReadonlySet<string>,
  { conditions }: EntryDraft,
  project: ProjectView,
  stems: readonly string[] | undefined,
): void {
  const isMade = first.kind === "absent" && last?.kind === "directory";
  if (!names && !isMade) return;
  const seen = namesOf(path, { ...project, list: () => names ?? [] }, own, stems)!;
  // In one that the script has made stood nothing but what the script has put there.
  const wanted = isMade ? [] : (namesOf(path, project, own, stems) ?? []);
  // The type of a name that has come and gone is unknown: it counts as a file and as a folder.
  const matters = (each: string) =>
    !stems || ["f", "d"].some((kind) => isSought(kind + basename(each), stems));
  const isUnsteady =
    unsteadyNames?.some((each) => !own.has(each) && !project.isIgnored(each) && matters(each)) ?? false;
  if (isUnsteady || seen.join("/") !== wanted.join("/"))
    throw new NotCacheableError(
      isBelow(path, project.root) || path === project.root ? "changed" : "names",
      path,
    );
  conditions.push(stems ? ["names", path, seen, stems] : ["names", path, seen]);
}

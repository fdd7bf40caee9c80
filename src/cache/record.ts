// From what was seen of a run to what is kept of it: conditions and outputs, by the order of what happened to each path.
//
// Contract: what was read has to be, at the end, what it was before it was read, unless the script has made it. A path
// that existed, was read and then changed has no state that could be compared later: such a run is not kept, nor is
// one that wrote outside the project, or whose inputs changed under it.
//
// Surprising: a source that outputs name is none, as a formatter's: what git does not ignore, and the script has read or not
// written, counts, so that nobody's work is replaced by what it was before. Of a path that was written, what was there before still counts if it was looked at. What was taken away
// again as it was made counts for nothing, but is no part of a listing either.
import { dirname } from "node:path";
import type { PathState, Trace, TracedPath } from "../../platform/contract/tracing.ts";
import { namesOf, type World } from "./check.ts";
import type { Condition, Output } from "./entry.ts";
import { listFiles, type Matcher } from "./patterns.ts";
import { isBelow } from "./place.ts";
import { Unkept } from "./unkept.ts";

export interface Rooted extends World {
  readonly root: string;
  readonly isDeclared: Matcher;
  /** The globs of declared outputs, and what they are relative to. */
  readonly declared: readonly string[];
  readonly packageDirectory: string;
  /** Those of some paths that somebody writes by hand, as far as git knows. */
  sourcesAmong(paths: readonly string[]): Promise<ReadonlySet<string>>;
  /** Puts a file's content away and gives its hash; null where it changes meanwhile. */
  keep(path: string, state: Extract<PathState, { kind: "file" }>): Promise<string | null>;
}

export interface Recorded {
  readonly conditions: Condition[];
  readonly outputs: Output[];
  readonly own: string[];
}

/** Throws Unkept. */
export async function recordRun({ paths, doubt }: Trace, declared: Rooted): Promise<Recorded> {
  if (doubt) throw new Unkept(doubt.kind, doubt.detail);
  const sources = await findSources(paths, declared);
  const isDeclared: Matcher = (path) => declared.isDeclared(path) && !sources.has(path);
  const world = sources.size === 0 ? declared : { ...declared, isDeclared };
  const recorded: Recorded = { conditions: [], outputs: [], own: [] };
  const written = new Set<string>();
  for (const traced of paths) {
    if (world.isIgnored(traced.path)) continue;
    const now = world.look(traced.path);
    if (hasWritten(traced, now)) {
      const why = sources.has(traced.path) ? "source" : "rewritten";
      if (isRewritten(traced, world)) throw new Unkept(why, describeRewritten(traced, paths, world));
      written.add(traced.path);
      await recordWritten(traced, now, recorded, world);
    } else await recordInput(traced, now, recorded, world);
  }
  await addDeclared(recorded, world, sources);
  const outputs = new Set(recorded.outputs.map(({ path }) => path));
  for (const path of written) if (!outputs.has(path)) recorded.own.push(path);
  const own = new Set([...written, ...outputs]);
  for (const { path, names, first } of paths) {
    // One that the script has made had nothing in it but what the script put there.
    if (!names || first.kind === "absent" || world.isIgnored(path)) continue;
    recordNames(path, names, own, recorded, world);
  }
  return recorded;
}

function isSame(one: PathState, other: PathState): boolean {
  if (one.kind === "file") return other.kind === "file" && other.stamp === one.stamp;
  if (one.kind === "link") return other.kind === "link" && other.target === one.target;
  if (one.kind === "directory") return other.kind === "directory" && other.mode === one.mode;
  return one.kind === other.kind;
}

/** Where a call that was to change it has failed, it is what it was. */
export function hasWritten({ isWritten, isConfirmed, first }: TracedPath, now: PathState): boolean {
  return isWritten && (isConfirmed || !isSame(first, now));
}

/** What is declared to be made, and is rather what is read. */
async function findSources(paths: readonly TracedPath[], world: Rooted): Promise<ReadonlySet<string>> {
  if (world.declared.length === 0) return new Set();
  const isMeant = (path: string) => world.isDeclared(path) && !world.isIgnored(path);
  const found = new Set<string>();
  const others = new Set<string>();
  for (const traced of paths) {
    const { path, first, isRead } = traced;
    if (!isMeant(path)) continue;
    const isThere = first.kind === "file" || first.kind === "link";
    const isFound = isThere && (isRead || !hasWritten(traced, world.look(path)));
    (isFound ? found : others).add(path);
  }
  for (const path of await listFiles(world.declared, world.packageDirectory))
    if (!others.has(path) && isMeant(path) && world.look(path).kind === "file") found.add(path);
  return await world.sourcesAmong([...found]);
}

/** Of one that was written. */
function isRewritten({ path, first, isRead }: TracedPath, { isDeclared }: Rooted): boolean {
  return isRead && first.kind !== "absent" && !isDeclared(path);
}

/** The first, how many more there are, and the directory that all are in: a tool's own, perhaps. */
function describeRewritten(found: TracedPath, paths: readonly TracedPath[], world: Rooted): string {
  const isOne = (each: TracedPath) =>
    each !== found &&
    isRewritten(each, world) &&
    !world.isIgnored(each.path) &&
    hasWritten(each, world.look(each.path));
  const others = paths.filter(isOne).map(({ path }) => path);
  let common = dirname(found.path);
  while (common !== dirname(common) && !others.every((each) => isBelow(each, common)))
    common = dirname(common);
  return others.length === 0 ? found.path : `${found.path} and ${others.length} more in ${common}`;
}

async function recordInput(traced: TracedPath, now: PathState, { conditions }: Recorded, world: Rooted) {
  const { path, first, isRead } = traced;
  if (world.isDeclared(path)) return;
  if (!isSame(first, now)) throw new Unkept("changed", path);
  if (first.kind === "file") {
    if (first.isFresh) throw new Unkept("changed", path);
    const hash = await world.hashes.hash(path, first);
    if (hash === null) throw new Unkept("unread", path);
    conditions.push(["file", path, hash, first.mode]);
  } else if (first.kind === "link") conditions.push(["link", path, first.target]);
  else if (first.kind === "other") {
    if (isRead) throw new Unkept("pipe", path);
  } else conditions.push([first.kind, path]);
}

async function recordWritten(traced: TracedPath, now: PathState, recorded: Recorded, world: Rooted) {
  const { path, first, isProbed } = traced;
  if (first.kind === "absent" && now.kind === "absent") return; // of no consequence
  const isDeclared = world.isDeclared(path);
  if (!isBelow(path, world.root)) throw new Unkept("outside", path);
  if (first.kind === "other" || now.kind === "other") throw new Unkept("output", path);
  if (!isDeclared) recorded.conditions.push(conditionBefore(path, first, isProbed));
  recorded.outputs.push(await outputOf(path, now, world));
}

function conditionBefore(
  path: string,
  first: Exclude<PathState, { kind: "other" }>,
  isProbed: boolean,
): Condition {
  switch (first.kind) {
    case "absent":
      // Written without a look, it would have become the same whatever was there.
      return [isProbed ? "absent" : "any", path];
    case "directory":
      return ["directory", path];
    case "link":
      return ["link", path, first.target];
    case "file":
      return isProbed ? ["size", path, first.size, first.mode] : ["any", path];
  }
}

async function outputOf(path: string, now: PathState, world: Rooted): Promise<Output> {
  switch (now.kind) {
    case "absent":
      return { path, kind: "absent" };
    case "directory":
      return { path, kind: "directory", mode: now.mode };
    case "link":
      return { path, kind: "link", target: now.target };
    case "other":
      throw new Unkept("output", path);
    case "file": {
      const hash = await world.keep(path, now);
      if (hash === null) throw new Unkept("changed", path);
      return { path, kind: "file", hash, mode: now.mode };
    }
  }
}

/** A tool that finds its output up to date writes nothing, and yet it has to be there. */
export async function addDeclared(
  { outputs, conditions }: Recorded,
  world: Rooted,
  sources: ReadonlySet<string> = new Set(),
): Promise<void> {
  const made = new Set(outputs.map(({ path }) => path));
  const seen = new Set(conditions.map(([, path]) => path));
  for (const path of await listFiles(world.declared, world.packageDirectory)) {
    if (made.has(path)) continue;
    if (!isBelow(path, world.root)) throw new Unkept("elsewhere", path);
    const state = world.look(path);
    if (sources.has(path)) {
      if (!seen.has(path)) conditions.push(await conditionNow(path, state, world));
    } else if (state.kind !== "absent") outputs.push(await outputOf(path, state, world));
  }
}

async function conditionNow(path: string, state: PathState, { hashes }: Rooted): Promise<Condition> {
  const hash = state.kind === "file" ? await hashes.hash(path, state) : null;
  if (state.kind !== "file" || hash === null) throw new Unkept("changed", path);
  return ["file", path, hash, state.mode];
}

function recordNames(
  path: string,
  names: readonly string[],
  own: ReadonlySet<string>,
  { conditions }: Recorded,
  world: Rooted,
): void {
  const seen = namesOf(path, { ...world, list: () => names }, own)!;
  const now = namesOf(path, world, own) ?? [];
  if (seen.join("/") !== now.join("/"))
    throw new Unkept(isBelow(path, world.root) || path === world.root ? "changed" : "names", path);
  conditions.push(["names", path, seen]);
}

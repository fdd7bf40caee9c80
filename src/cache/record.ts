// From what was seen of a run to what is kept of it: conditions and outputs, by the order of what happened to each path.
//
// Contract: what was read has to be, at the end, what it was before it was read, unless the script has made it. A path
// that existed, was read and then changed has no state that could be compared later: such a run is not kept, nor is
// one that wrote outside the project, or whose inputs changed under it.
//
// Surprising: of a path that was written, what was there before still counts if it was looked at. What was taken away
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
  /** Puts a file's content away and gives its hash; null where it changes meanwhile. */
  keep(path: string, state: Extract<PathState, { kind: "file" }>): Promise<string | null>;
}

export interface Recorded {
  readonly conditions: Condition[];
  readonly outputs: Output[];
  readonly own: string[];
}

/** Throws Unkept. */
export async function recordRun({ paths, doubt }: Trace, world: Rooted): Promise<Recorded> {
  if (doubt) throw new Unkept(doubt.kind, doubt.detail);
  const recorded: Recorded = { conditions: [], outputs: [], own: [] };
  const written = new Set<string>();
  for (const traced of paths) {
    if (world.isIgnored(traced.path)) continue;
    const now = world.look(traced.path);
    if (hasWritten(traced, now)) {
      if (isRewritten(traced, world)) throw new Unkept("rewritten", describeRewritten(traced, paths, world));
      written.add(traced.path);
      await recordWritten(traced, now, recorded, world);
    } else await recordInput(traced, now, recorded, world);
  }
  await addDeclared(recorded, world);
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
export async function addDeclared({ outputs }: Recorded, world: Rooted): Promise<void> {
  const known = new Set(outputs.map(({ path }) => path));
  for (const path of await listFiles(world.declared, world.packageDirectory)) {
    if (known.has(path)) continue;
    if (!isBelow(path, world.root)) throw new Unkept("outside", path);
    const state = world.look(path);
    if (state.kind !== "absent") outputs.push(await outputOf(path, state, world));
  }
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

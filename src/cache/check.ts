// Whether what an earlier run found is what a run would find now. The first condition that is not met is the answer, in
// words.
//
// Contract: what that run made itself may be as it was before, or as it left it: a directory with nothing else in it. Looking
// changes nothing.
import type { List, Look, PathState } from "../../platform/contract/tracing.ts";
import type { Condition, Entry, Output } from "./entry.ts";
import type { Hashes } from "./hashes.ts";
import type { Matcher } from "./patterns.ts";
import type { Sights } from "./sights.ts";
import type { Seen } from "./seen.ts";

export interface World {
  readonly look: Look;
  readonly list: List;
  readonly hashes: Hashes;
  readonly isIgnored: Matcher;
  /** What other scripts of the run have come to as well. */
  readonly seen: Seen;
  /** What was looked at for this one, where somebody wants to know. */
  readonly sights?: Sights | undefined;
}

/** Null when all are met. */
export async function findDifference(entry: Entry, world: World): Promise<string | null> {
  const outputs = new Map(entry.outputs.map((output) => [output.path, output]));
  const own = new Set(outputs.keys());
  for (const condition of entry.conditions) {
    const [kind, path] = condition;
    if (kind === "names") {
      const difference = compareNames(condition[2], namesOf(path, world, own), path);
      // One that was made is made again where something else stands in its place, which may be a link to another.
      if (difference !== null && (condition[2].length > 0 || world.look(path).kind === "directory"))
        return difference;
      continue;
    }
    let difference = world.seen.verdictOf(condition);
    if (difference === undefined) difference = await judge(condition, world);
    else world.look(path); // it has been, for another script, and counts for this one
    if (difference === null) continue;
    const output = outputs.get(path);
    if (!output || !(await isOutput(output, world.look(path), world.hashes))) return difference;
  }
  return null;
}

async function judge(
  condition: Exclude<Condition, { 0: "names" }>,
  { look, hashes, seen }: World,
): Promise<string | null> {
  const { generation } = seen;
  const verdict = await compareState(condition, look(condition[1]), hashes);
  seen.keepVerdict(condition, verdict, generation);
  return verdict;
}

/** Null where there is no such directory. */
export function namesOf(path: string, { list, isIgnored }: World, own: ReadonlySet<string>): string[] | null {
  const base = path === "/" ? "" : path;
  const isCounted = (name: string) =>
    !own.has(`${base}/${name.slice(1)}`) && !isIgnored(`${base}/${name.slice(1)}`);
  return list(path)?.filter(isCounted) ?? null;
}

function compareNames(before: readonly string[], now: readonly string[] | null, path: string): string | null {
  if (now === null) return before.length === 0 ? null : `${path} cannot be listed`;
  const [old, fresh] = [new Set(before), new Set(now)];
  const added = now.find((name) => !old.has(name));
  const removed = before.find((name) => !fresh.has(name));
  if (added !== undefined) return `${path}/${added.slice(1)} is new`;
  return removed === undefined ? null : `${path}/${removed.slice(1)} is not there any more`;
}

export async function compareState(
  condition: Exclude<Condition, { 0: "names" }>,
  state: PathState,
  hashes: Hashes,
) {
  const [kind, path] = condition;
  if (kind === "any")
    return state.kind === "file" || state.kind === "absent" ? null : `${path} is no file any more`;
  if (kind === "absent") return state.kind === "absent" ? null : `${path} is there now`;
  if (state.kind === "absent") return `${path} is not there any more`;
  if (kind === "other") return state.kind === "other" ? null : `${path} is something else now`;
  if (kind === "directory") {
    if (state.kind !== "directory") return `${path} is no directory any more`;
    return state.mode === condition[2] ? null : `${path} has other permissions`;
  }
  if (kind === "link")
    return state.kind === "link" && state.target === condition[2] ? null : `${path} leads elsewhere`;
  if (state.kind !== "file") return `${path} is no file any more`;
  if (state.mode !== condition[3]) return `${path} has other permissions`;
  if (kind === "size") return state.size === condition[2] ? null : `${path} has another size`;
  return (await hashes.hash(path, state)) === condition[2] ? null : `${path} has changed`;
}

/** Whether a path is what the run has left there. */
export async function isOutput(output: Output, state: PathState, hashes: Hashes): Promise<boolean> {
  if (output.kind === "absent") return state.kind === "absent";
  if (output.kind === "directory") return state.kind === "directory" && state.mode === output.mode;
  if (output.kind === "link") return state.kind === "link" && state.target === output.target;
  if (state.kind !== "file" || state.mode !== output.mode) return false;
  return (await hashes.hash(output.path, state)) === output.hash;
}

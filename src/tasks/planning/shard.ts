// Sharding: splits a plan statically over N machines (`--shard 2/5`).
//
// Invariants:
// - Machines with the same commit, command line and recorded times compute the same split, whatever the order of
//   packages.
// - Each script belongs to exactly one shard. A shard also runs the dependencies of its scripts.
// - Without dependencies, no two shards differ by more than the longest script.
//
// Non-obvious: shared dependencies run in several shards unless they are cached. The split minimizes the longest
// shard and counts them.
import { formatDuration } from "../labels.ts";
import { reachable } from "../../workspace/dependencies.ts";
import type { ShardSettings } from "../../config/settings/many.ts";
import type { TaskPlan } from "./plan.ts";
import { readTimes, type RecordedDurations } from "./shard-times.ts";
import type { ScriptTask } from "../task.ts";

/** The tasks of one shard, as ascending positions. */
export interface ShardContents {
  readonly own: readonly number[];
  /** Dependencies that belong to other shards. */
  readonly needed: readonly number[];
  readonly weight: number;
}

export interface Shard {
  /** 1-based. */
  readonly number: number;
  readonly count: number;
  /** Hash of the split; equal on machines that split alike. */
  readonly split: string;
  /** All shards, as tasks of the whole plan; durations in milliseconds if times are recorded. */
  readonly shares: readonly {
    readonly own: readonly ScriptTask[];
    readonly needed: readonly ScriptTask[];
    readonly duration?: number;
  }[];
}

/** The plan of one shard. @throws UserError for unreadable times */
export function takeShard(
  plan: TaskPlan,
  { number, count, times: files }: ShardSettings,
  cwd: string,
): TaskPlan {
  const { tasks, waitsFor, dependsOn } = plan;
  const keys = keysOf(plan);
  const times = readTimes(files, cwd);
  const shares = splitTasks(keys, waitsFor, weigh(tasks, times), count);
  const { own, needed } = shares[number - 1]!;
  const shardTasks = [...own, ...needed].sort((a, b) => a - b);
  const position = new Map(shardTasks.map((index, at) => [index, at]));
  const renumber = (targets: readonly number[] = []) => targets.map((target) => position.get(target)!);
  return {
    ...plan,
    tasks: shardTasks.map((index, at) => ({ ...tasks[index]!, index: at })),
    waitsFor: shardTasks.map((index) => renumber(waitsFor[index])),
    ...(dependsOn && { dependsOn: shardTasks.map((index) => renumber(dependsOn[index])) }),
    shard: {
      number,
      count,
      split: nameSplit(keys, shares),
      shares: shares.map((share) => ({
        own: share.own.map((index) => tasks[index]!),
        needed: share.needed.map((index) => tasks[index]!),
        ...(times.size > 0 && { duration: share.weight }),
      })),
    },
  };
}

/** Returns a key for each task that is equal in every checkout. */
export function keysOf({ tasks, packages }: TaskPlan): string[] {
  const paths = new Map(packages?.workspace.members.map(({ directory, path }) => [directory, path]));
  return tasks.map(
    ({ packageDirectory, scriptName }) => `${paths.get(packageDirectory) ?? "."}\0${scriptName}`,
  );
}

/** `Shard 2/5: 3 of 11 scripts, and 1 that they wait for`. */
export function describeShard({ number, count, split, shares }: Shard): string {
  const { own, needed, duration } = shares[number - 1]!;
  const total = shares.reduce((sum, share) => sum + share.own.length, 0);
  const more = needed.length > 0 ? `, and ${needed.length} that they wait for` : "";
  const expected = duration === undefined ? "" : `, ${formatDuration(duration)} of work`;
  return `Shard ${number}/${count}: ${own.length} of ${total} scripts${more}${expected} (split ${split})`;
}

/**
 * Pure. @param keys identify tasks on every machine @param waitsFor by task, acyclic @param weights integers from 1
 * up
 */
export function splitTasks(
  keys: readonly string[],
  waitsFor: readonly (readonly number[])[],
  weights: readonly number[],
  count: number,
): ShardContents[] {
  const isBefore = (a: number, b: number) => (keys[a]! < keys[b]! ? -1 : 1);
  const sorted = [...keys.keys()].sort(isBefore);
  const isWaitedFor = new Set(waitsFor.flat());
  const last = sorted.filter((index) => !isWaitedFor.has(index));
  const totals = new Map(last.map((index) => [index, sum(reach(index, waitsFor), weights)]));
  const running = Array.from({ length: count }, () => new Set<number>());
  const loads = running.map(() => 0);
  const owns = running.map((): number[] => []);
  // Longest first, each to the shard that then ends first. Tasks that a shard already runs add no cost.
  for (const index of last.sort((a, b) => totals.get(b)! - totals.get(a)! || isBefore(a, b))) {
    const reached = reach(index, waitsFor);
    const sums = running.map((present, at) => {
      const added = reached.filter((each) => !present.has(each));
      return loads[at]! + sum(added, weights);
    });
    const at = sums.indexOf(Math.min(...sums));
    loads[at] = sums[at]!;
    owns[at]!.push(index);
    for (const each of reached) running[at]!.add(each);
  }
  // A dependency belongs to the shard with the fewest tasks among those that run it.
  for (const index of sorted.filter((each) => isWaitedFor.has(each))) {
    const candidates = owns.filter((_, at) => running[at]!.has(index));
    const fewest = Math.min(...candidates.map(({ length }) => length));
    candidates.find(({ length }) => length === fewest)!.push(index);
  }
  return running.map((present, at) => {
    const own = new Set(owns[at]);
    return {
      own: [...own].sort((a, b) => a - b),
      needed: [...present].filter((index) => !own.has(index)).sort((a, b) => a - b),
      weight: loads[at]!,
    };
  });
}

/** A task and all its transitive dependencies. */
function reach(index: number, waitsFor: readonly (readonly number[])[]): number[] {
  const graph = { size: waitsFor.length, edges: (each: number) => waitsFor[each] ?? [] };
  return [...reachable(graph, [index])];
}

function sum(indices: readonly number[], weights: readonly number[]): number {
  return indices.reduce((total, index) => total + weights[index]!, 0);
}

function weigh(tasks: readonly ScriptTask[], times: RecordedDurations): number[] {
  return fillTimes(tasks.map(({ packageName, scriptName }) => times.of(packageName, scriptName)));
}

/** Returns integer milliseconds. Tasks without a recorded duration get the median. */
export function fillTimes(measured: readonly (number | undefined)[]): number[] {
  const known = measured.filter((time) => time !== undefined).sort((a, b) => a - b);
  const usual = known[known.length >> 1] ?? 1;
  return measured.map((time) => Math.max(1, Math.round(time ?? usual)));
}

function nameSplit(keys: readonly string[], shares: readonly ShardContents[]): string {
  const lines = shares.map(({ own }) => own.map((index) => keys[index]!).sort());
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(lines)).digest("hex").slice(0, 8);
}

// `--shard 2/5`: the part of a plan that one of several machines carries out.
//
// Contract: every machine with the same commit, the same words and the same times finds the same split, whatever it is, in
// whichever order it has found the packages. Each script belongs to exactly one shard; a shard runs its own scripts and all
// that these wait for, so that none starts without it. So what much depends on runs in several shards, unless
// the cache has it; the split counts that, and makes the longest shard short. Without dependencies that is as even as
// whole scripts allow: no two shards differ by more than the longest script.
import { formatDuration } from "../labels.ts";
import { reachable } from "../../workspace/dependencies.ts";
import type { ShardSettings } from "../../config/settings/many.ts";
import type { TaskPlan } from "./plan.ts";
import { readTimes, type RecordedDurations } from "./shard-times.ts";
import type { ScriptTask } from "../task.ts";

/** What one machine does. Positions, ascending. */
export interface ShardContents {
  readonly own: readonly number[];
  /** Other shards' scripts that its own wait for. */
  readonly needed: readonly number[];
  readonly weight: number;
}

export interface Shard {
  /** From 1 up. */
  readonly number: number;
  readonly count: number;
  /** The same on machines that split alike. */
  readonly split: string;
  /** Of all shards, the tasks of the whole plan; milliseconds where times are known. */
  readonly shares: readonly {
    readonly own: readonly ScriptTask[];
    readonly needed: readonly ScriptTask[];
    readonly duration?: number;
  }[];
}

/** The plan of one shard. Throws Failure for times that cannot be read. */
export function takeShard(
  plan: TaskPlan,
  { number, count, times: files }: ShardSettings,
  cwd: string,
): TaskPlan {
  const { tasks, waitsFor } = plan;
  const keys = keysOf(plan);
  const times = readTimes(files, cwd);
  const shares = splitTasks(keys, waitsFor, weigh(tasks, times), count);
  const { own, needed } = shares[number - 1]!;
  const kept = [...own, ...needed].sort((a, b) => a - b);
  const position = new Map(kept.map((index, at) => [index, at]));
  return {
    ...plan,
    tasks: kept.map((index, at) => ({ ...tasks[index]!, index: at })),
    waitsFor: kept.map((index) => (waitsFor[index] ?? []).map((target) => position.get(target)!)),
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

/** What tells the tasks apart, the same in every checkout. */
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
 * Pure. @param keys tell the tasks apart, the same on every machine
 * @param waitsFor by task, without circles @param weights whole numbers from 1 up
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
  // The longest first, each to where it ends first: what a shard runs already costs it nothing more.
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
  // What is waited for runs somewhere by now, and belongs to the shard with the fewest of these.
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

/** A task and all that it waits for. */
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

/** Whole milliseconds; what was never measured takes as long as the one in the middle of those that were. */
export function fillTimes(measured: readonly (number | undefined)[]): number[] {
  const known = measured.filter((time) => time !== undefined).sort((a, b) => a - b);
  const usual = known[known.length >> 1] ?? 1;
  return measured.map((time) => Math.max(1, Math.round(time ?? usual)));
}

function nameSplit(keys: readonly string[], shares: readonly ShardContents[]): string {
  const lines = shares.map(({ own }) => own.map((index) => keys[index]!).sort());
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(lines)).digest("hex").slice(0, 8);
}

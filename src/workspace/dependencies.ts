// Which members of a workspace depend on which: the edges that selectors (`foo...`), the schedule and
// `--affected` share.
//
// Contract: dependencies, devDependencies, optionalDependencies and peerDependencies count, by name; an alias
// (`npm:real@1`, `workspace:real@*`) counts for what it stands for, a path (`file:`, `link:`, `portal:`,
// `workspace:./x`) for the member that lives there. Versions do not count: whether a range fits is the
// package manager's decision. A package does not depend on itself.
import type { MemberPackage } from "./members.ts";
import { recordField } from "./package-json.ts";

const FIELDS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;
const ALIAS = /^(?:npm|workspace):((?:@[^/@]+\/)?[^/@]+)@/;
const PATH = /^(?:(?:file|link|portal):|workspace:(?=\.{0,2}\/))(.*)$/;

/** Members by their position in the workspace. */
export interface DependencyGraph {
  readonly size: number;
  /** The positions of those that a member depends on, ascending. */
  edges(node: number): readonly number[];
}

/** Looks at a member's dependencies only when it is asked for them: a selection seldom needs them all. */
export function linkMembers(members: readonly MemberPackage[]): DependencyGraph {
  const known: (readonly number[] | undefined)[] = [];
  let index: MemberIndex | undefined;
  return {
    size: members.length,
    edges(node) {
      index ??= indexMembers(members);
      return (known[node] ??= findTargets(members[node]!, node, index));
    },
  };
}

interface MemberIndex {
  readonly byName: ReadonlyMap<string, number>;
  readonly byDirectory: ReadonlyMap<string, number>;
}

function indexMembers(members: readonly MemberPackage[]): MemberIndex {
  const byName = new Map<string, number>();
  const byDirectory = new Map<string, number>();
  for (const [index, { name, directory }] of members.entries()) {
    if (name !== "" && !byName.has(name)) byName.set(name, index);
    byDirectory.set(directory, index);
  }
  return { byName, byDirectory };
}

function findTargets(
  { manifest, directory }: MemberPackage,
  self: number,
  index: MemberIndex,
): readonly number[] {
  const targets = new Set<number>();
  for (const field of FIELDS) {
    if (manifest[field] === undefined) continue;
    for (const [key, spec] of Object.entries(recordField(manifest, field))) {
      const target = typeof spec === "string" ? resolveTarget(key, spec, directory, index) : undefined;
      if (target !== undefined && target !== self) targets.add(target);
    }
  }
  return [...targets].sort((a, b) => a - b);
}

function resolveTarget(
  key: string,
  spec: string,
  directory: string,
  { byName, byDirectory }: MemberIndex,
): number | undefined {
  const path = PATH.exec(spec)?.[1];
  if (path !== undefined) {
    const { resolve } = process.getBuiltinModule("node:path"); // few need it
    return byDirectory.get(resolve(directory, path)) ?? byName.get(key);
  }
  return byName.get(ALIAS.exec(spec)?.[1] ?? key);
}

/** The same edges seen from the other end. */
export function reverseGraph(graph: DependencyGraph): DependencyGraph {
  let reversed: number[][] | undefined;
  const build = (): number[][] => {
    const lists: number[][] = Array.from({ length: graph.size }, () => []);
    for (let from = 0; from < graph.size; from++) for (const to of graph.edges(from)) lists[to]?.push(from);
    return lists;
  };
  return {
    size: graph.size,
    edges(node) {
      reversed ??= build();
      return reversed[node] ?? [];
    },
  };
}

/** Everything that can be reached from `start`, `start` itself included. */
export function reachable(graph: DependencyGraph, start: Iterable<number>): Set<number> {
  const seen = new Set(start);
  for (const node of seen) for (const next of graph.edges(node)) seen.add(next); // a Set is walked while it grows
  return seen;
}

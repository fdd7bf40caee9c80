// Which members of a workspace depend on which: the edges that selectors (`foo...`), the schedule and
// `--affected` share.
//
// Contract: dependencies, devDependencies, optionalDependencies and peerDependencies count, by name; an alias
// (`npm:real@1`, `workspace:real@*`) counts for what it stands for, a path (`file:`, `link:`, `portal:`,
// `workspace:./x`) for the member that lives there. Versions do not count: whether a range fits is the
// package manager's decision. A package does not depend on itself.
import { resolve } from "node:path";
import type { Member } from "./members.ts";
import { recordField } from "./package-json.ts";

const FIELDS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;
const ALIAS = /^(?:npm|workspace):((?:@[^/@]+\/)?[^/@]+)@/;
const PATH = /^(?:(?:file|link|portal):|workspace:(?=\.{0,2}\/))(.*)$/;

/** For each member, by its position in `members`, the positions of those it depends on, ascending. */
export type DependencyGraph = readonly (readonly number[])[];

export function linkMembers(members: readonly Member[]): DependencyGraph {
  const byName = new Map<string, number>();
  const byDirectory = new Map<string, number>();
  for (const [index, { name, directory }] of members.entries()) {
    if (name !== "" && !byName.has(name)) byName.set(name, index);
    byDirectory.set(directory, index);
  }
  return members.map(({ manifest, directory }, self) => {
    const targets = new Set<number>();
    for (const field of FIELDS) {
      for (const [key, spec] of Object.entries(recordField(manifest, field))) {
        const target = typeof spec === "string" ? resolveTarget(key, spec, directory) : undefined;
        if (target !== undefined && target !== self) targets.add(target);
      }
    }
    return [...targets].sort((a, b) => a - b);
  });

  function resolveTarget(key: string, spec: string, directory: string): number | undefined {
    const path = PATH.exec(spec)?.[1];
    if (path !== undefined) return byDirectory.get(resolve(directory, path)) ?? byName.get(key);
    return byName.get(ALIAS.exec(spec)?.[1] ?? key);
  }
}

/** The same edges seen from the other end. */
export function reverseGraph(graph: DependencyGraph): DependencyGraph {
  const reversed: number[][] = graph.map(() => []);
  for (const [from, targets] of graph.entries()) for (const to of targets) reversed[to]?.push(from);
  return reversed;
}

/** Everything that can be reached from `start`, `start` itself included. */
export function reachable(graph: DependencyGraph, start: Iterable<number>): Set<number> {
  const seen = new Set(start);
  for (const node of seen) for (const next of graph[node] ?? []) seen.add(next); // a Set is walked while it grows
  return seen;
}

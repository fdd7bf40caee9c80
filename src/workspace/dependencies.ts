// Which members of a workspace depend on which: the edges that selectors (`foo...`), the schedule and
// `--affected` share.
//
// Contract: dependencies, devDependencies, optionalDependencies and peerDependencies count, by name; an alias
// (`npm:real@1`, `workspace:real@*`) counts for what it stands for, a path (`file:`, `link:`, `portal:`,
// `workspace:./x`) for the member that lives there. Versions do not count: whether a range fits is the
// package manager's decision. A package does not depend on itself.
import { UserError } from "../user-error.ts";
import type { MemberPackage, Workspace } from "./members.ts";
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
  /** The first member of each name. */
  readonly byName: ReadonlyMap<string, number>;
  /** All members of each name that several share. */
  readonly shared: ReadonlyMap<string, readonly number[]>;
  readonly byDirectory: ReadonlyMap<string, number>;
}

function indexMembers(members: readonly MemberPackage[]): MemberIndex {
  const byName = new Map<string, number>();
  const shared = new Map<string, number[]>();
  const byDirectory = new Map<string, number>();
  for (const [index, { name, directory }] of members.entries()) {
    byDirectory.set(directory, index);
    if (name === "") continue;
    const first = byName.get(name);
    if (first === undefined) byName.set(name, index);
    else shared.set(name, [...(shared.get(name) ?? [first]), index]);
  }
  return { byName, shared, byDirectory };
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
      if (typeof spec !== "string") continue;
      for (const target of resolveTargets(key, spec, directory, index))
        if (target !== self) targets.add(target);
    }
  }
  return [...targets].sort((a, b) => a - b);
}

/** Several members if they share the name. */
function resolveTargets(
  key: string,
  spec: string,
  directory: string,
  { byName, shared, byDirectory }: MemberIndex,
): readonly number[] {
  const named = (name: string): readonly number[] => {
    const first = byName.get(name);
    return first === undefined ? [] : (shared.get(name) ?? [first]);
  };
  const path = PATH.exec(spec)?.[1];
  if (path === undefined) return named(ALIAS.exec(spec)?.[1] ?? key);
  const { resolve } = process.getBuiltinModule("node:path"); // few need it
  const target = byDirectory.get(resolve(directory, path));
  return target === undefined ? named(key) : [target];
}

/**
 * Refuses a selection with two packages of one name, and a dependency on a name that two packages share. Other packages may
 * share names: test fixtures often do.
 *
 * @throws UserError
 */
export function refuseSharedNames(
  { members, isDeclared }: Workspace,
  graph: DependencyGraph,
  selected: readonly number[],
): void {
  if (!isDeclared || new Set(members.map(({ name }) => name)).size === members.length) return;
  refusePair(members, selected);
  for (const node of reachable(graph, selected)) refusePair(members, graph.edges(node));
}

function refusePair(members: readonly MemberPackage[], indices: readonly number[]): void {
  const byName = new Map<string, MemberPackage>();
  for (const index of indices) {
    const member = members[index]!;
    const other = byName.get(member.name);
    if (other && member.name !== "")
      throw new UserError(
        `Two packages are named "${member.name}": ${other.path} and ${member.path}`,
        "rename one of them",
      );
    byName.set(member.name, member);
  }
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

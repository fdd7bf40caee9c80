// Builds the dependency graph of the workspace's members, which selectors (`foo...`), the topological order of runs and
// `--affected` use.
//
// Invariants:
// - dependencies, devDependencies, optionalDependencies and peerDependencies count, by name. An alias (`npm:real@1`,
//   `workspace:real@*`) counts as its target. A path (`file:`, `link:`, `portal:`, `workspace:./x`) counts as the member there.
// - Version ranges are ignored: matching them is up to the package manager. A package does not depend on itself.
import { UserError } from "../user-error.ts";
import type { MemberPackage, Workspace } from "./members.ts";
import { recordField } from "./package-json.ts";

const FIELDS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] as const;
const ALIAS = /^(?:npm|workspace):((?:@[^/@]+\/)?[^/@]+)@/;
const PATH = /^(?:(?:file|link|portal):|workspace:(?=\.{0,2}\/))(.*)$/;

/** A graph of members, by their positions in the workspace. */
export interface DependencyGraph {
  readonly size: number;
  /** Returns the direct dependencies of a member: ascending positions. */
  edges(node: number): readonly number[];
}

/** Creates the graph. Edges are computed on demand and memoized, because a selection seldom needs all of them. */
export function linkMembers(members: readonly MemberPackage[]): DependencyGraph {
  const memo: (readonly number[] | undefined)[] = [];
  let index: MemberIndex | undefined;
  return {
    size: members.length,
    edges(node) {
      index ??= indexMembers(members);
      return (memo[node] ??= findTargets(members[node]!, node, index));
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
  if (!spec.includes(":")) return named(key); // most specs are plain versions
  const path = PATH.exec(spec)?.[1];
  if (path === undefined) return named(ALIAS.exec(spec)?.[1] ?? key);
  const { resolve } = process.getBuiltinModule("node:path"); // lazy: few members need it
  const target = byDirectory.get(resolve(directory, path));
  return target === undefined ? named(key) : [target];
}

/**
 * Rejects a selection with two packages of one name, and a dependency on a name that two packages share. Other packages may
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

/** Returns all nodes that are reachable from `start`, including `start`. */
export function reachable(graph: DependencyGraph, start: Iterable<number>): Set<number> {
  const reached = new Set(start);
  for (const node of reached) for (const next of graph.edges(node)) reached.add(next); // the iteration includes added nodes
  return reached;
}

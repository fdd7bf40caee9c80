// Adds to the requested tasks those that `depends-on` of [tasks] names, transitively.
//
// Invariants:
// - Each task is in the closure once.
// - `lint` is the package's own task, else a command of the root project. `^build` is the `build` of each package
//   that the package depends on.
// - A package without the task has a placeholder: what it would depend on counts instead. `^build` continues
//   through placeholders without `depends-on`.
import type { TaskRule, TaskRules } from "../../config/tasks/task-rules.ts";
import { ownerOf } from "../../config/tasks/task-rules.ts";
import { splitTaskName } from "../../config/tasks/task-name.ts";
import { describeKey, ROOT_PACKAGE } from "../../config/tasks/task-table.ts";
import { oneLine, printable } from "../../printable.ts";
import { UserError } from "../../user-error.ts";
import type { DependencyGraph } from "../../workspace/dependencies.ts";
import type { MemberPackage, Workspace } from "../../workspace/members.ts";
import { scriptNames, scriptOf } from "../../workspace/package-json.ts";
import { breakCycles } from "./graph.ts";

export interface TaskNode {
  /** Position in the workspace's members. */
  readonly member: number;
  readonly name: string;
  readonly rule: TaskRule | undefined;
  /** Positions of tasks in the closure; undefined without `depends-on`. */
  readonly dependsOn: readonly number[] | undefined;
}

/** A task, or a placeholder in a package without it. Positions are those among all nodes. */
interface ClosureNode extends TaskNode {
  readonly isPlaceholder: boolean;
  dependsOn: readonly number[] | undefined;
}

/** The positions of a task's nodes, by member. */
type NodePositions = (number | undefined)[];

export class TaskClosure {
  /** After `close`: the requested tasks first. */
  nodes: readonly TaskNode[] = [];
  /** After `close`: the number of requested tasks. A task that several words name counts once. */
  requestedCount = 0;
  /** Whether a task depends on other packages. */
  crossesPackages = false;
  readonly #workspace: Workspace;
  readonly #graph: DependencyGraph;
  readonly #rules: TaskRules;
  readonly #all: ClosureNode[] = [];
  readonly #positions = new Map<string, NodePositions>();
  readonly #rulesIn: ((name: string) => TaskRule | undefined)[] = [];
  /** The nodes that `^name` of a member means, by name and by member. */
  readonly #upstream = new Map<string, (number[] | undefined)[]>();
  #hasPlaceholders = false;
  #byName: ReadonlyMap<string, number> | undefined;
  #known: ReadonlySet<string> | undefined;

  constructor(workspace: Workspace, graph: DependencyGraph, rules: TaskRules) {
    [this.#workspace, this.#graph, this.#rules] = [workspace, graph, rules];
  }

  /** Requests a task that exists. */
  request(member: number, name: string): void {
    this.#addTask(member, name);
  }

  #positionsOf(name: string): NodePositions {
    let positions = this.#positions.get(name);
    if (!positions) this.#positions.set(name, (positions = []));
    return positions;
  }

  #add(positions: NodePositions, member: number, name: string, isPlaceholder: boolean): number {
    const known = positions[member];
    if (known !== undefined) return known;
    if (isPlaceholder) this.#hasPlaceholders = true;
    const rule = this.#ruleOf(member, name);
    return (positions[member] =
      this.#all.push({ member, name, rule, dependsOn: undefined, isPlaceholder }) - 1);
  }

  /** @throws UserError if a dependency does not exist */
  close(): void {
    this.requestedCount = this.#all.length;
    // The array grows while it is iterated.
    for (const node of this.#all) {
      const { rule, name, isPlaceholder } = node;
      const dependencies = rule?.dependsOn ?? (isPlaceholder ? [`^${name}`] : undefined);
      if (!dependencies) continue;
      node.dependsOn =
        dependencies.length === 1
          ? this.#resolve(node, dependencies[0]!, rule?.dependsOn)
          : [...new Set(dependencies.flatMap((each) => this.#resolve(node, each, rule?.dependsOn)))];
    }
    this.nodes = this.#hasPlaceholders ? this.#withoutPlaceholders() : this.#all;
  }

  #withoutPlaceholders(): readonly TaskNode[] {
    this.#dropBarren();
    const numbers: number[] = [];
    let count = 0;
    for (const [position, { isPlaceholder }] of this.#all.entries())
      if (!isPlaceholder) numbers[position] = count++;
    const nodes: TaskNode[] = [];
    for (const [position, { member, name, rule, dependsOn, isPlaceholder }] of this.#all.entries()) {
      if (isPlaceholder) continue;
      const tasks = dependsOn && this.#findTasks(position).map((each) => numbers[each]!);
      nodes.push({ member, name, rule, dependsOn: tasks });
    }
    return nodes;
  }

  /** Drops edges to placeholders through which no task is reached: often a whole graph of them. */
  #dropBarren(): void {
    const isPlaceholder = (position: number) => this.#all[position]!.isPlaceholder;
    const dependents: number[][] = this.#all.map(() => []);
    const reaching = new Set<number>();
    for (const [position, { dependsOn: targets = [] }] of this.#all.entries()) {
      if (!isPlaceholder(position)) continue;
      for (const target of targets)
        if (isPlaceholder(target)) dependents[target]!.push(position);
        else reaching.add(position);
    }
    for (const position of reaching) for (const dependent of dependents[position]!) reaching.add(dependent);
    for (const node of this.#all)
      node.dependsOn = node.dependsOn?.filter((target) => !isPlaceholder(target) || reaching.has(target));
  }

  /** Returns the tasks that a task depends on, also through placeholders. */
  #findTasks(position: number): readonly number[] {
    const { dependsOn: targets = [] } = this.#all[position]!;
    if (!targets.some((target) => this.#all[target]!.isPlaceholder)) return targets;
    const found = new Set(targets.filter((target) => !this.#all[target]!.isPlaceholder));
    const visited = new Set(targets.filter((target) => this.#all[target]!.isPlaceholder));
    for (const placeholder of visited)
      for (const target of this.#all[placeholder]!.dependsOn ?? [])
        if (this.#all[target]!.isPlaceholder) visited.add(target);
        // Without a second package that has the task, a cycle of packages is not one of tasks.
        else if (target !== position) found.add(target);
    return [...found];
  }

  has(member: number, name: string): boolean {
    return scriptOf(this.#workspace.members[member]!.manifest, name) !== null;
  }

  /** Returns the member of a name, of a path for a package without a name, or the root for "//". */
  memberNamed(name: string): number | undefined {
    this.#byName ??= indexNames(this.#workspace.members);
    return this.#byName.get(name);
  }

  /** @param written the list in rtfig.toml that contains the dependency */
  #resolve(node: ClosureNode, dependency: string, written: readonly string[] | undefined): readonly number[] {
    const { member } = node;
    if (dependency[0] === "^") {
      const name = dependency.slice(1);
      if (written && !this.has(member, name)) this.#requireKnown(node, dependency, name);
      return this.#resolveUpstream(member, name);
    }
    if (this.has(member, dependency)) return [this.#addTask(member, dependency)];
    const { package: owner, task } = splitTaskName(dependency);
    if (owner !== undefined) return [this.#resolveNamed(node, dependency, owner, task)];
    const root = this.#rules.isRootCommand(dependency) ? this.memberNamed(ROOT_PACKAGE) : undefined;
    if (root !== undefined) return [this.#addTask(root, dependency)];
    this.#requireKnown(node, dependency, dependency);
    return this.#ruleOf(member, dependency)?.dependsOn ? [this.#addTask(member, dependency, true)] : [];
  }

  /** Several tasks of a package often have the same dependencies, so these are found once. */
  #resolveUpstream(member: number, name: string): readonly number[] {
    this.crossesPackages = true;
    let targets = this.#upstream.get(name);
    if (!targets) this.#upstream.set(name, (targets = []));
    return (targets[member] ??= this.#findUpstream(member, name));
  }

  #findUpstream(member: number, name: string): number[] {
    const positions = this.#positionsOf(name);
    const found: number[] = [];
    for (const each of this.#graph.edges(member))
      found.push(positions[each] ?? this.#add(positions, each, name, !this.has(each, name)));
    return found;
  }

  #addTask(member: number, name: string, isPlaceholder = false): number {
    return this.#add(this.#positionsOf(name), member, name, isPlaceholder);
  }

  #ruleOf(member: number, name: string): TaskRule | undefined {
    return (this.#rulesIn[member] ??= this.#rules.rulesIn(ownerOf(this.#workspace.members[member]!)))(name);
  }

  #resolveNamed(node: ClosureNode, dependency: string, owner: string, task: string): number {
    this.crossesPackages = true;
    const member = this.memberNamed(owner);
    if (member === undefined)
      throw this.#unknown(node, dependency, `No package is named "${owner}"`, owner, [
        ...this.#byName!.keys(),
      ]);
    if (this.has(member, task)) return this.#addTask(member, task);
    const names = scriptNames(this.#workspace.members[member]!.manifest);
    throw this.#unknown(
      node,
      dependency,
      `Package "${owner}" has no task "${task}"`,
      dependency,
      names.map((name) => `${owner}#${name}`),
    );
  }

  /** A task that only other packages have, or that [tasks] describes, is skipped where it does not exist. */
  #requireKnown(node: ClosureNode, dependency: string, name: string): void {
    const { members, broken } = this.#workspace;
    this.#known ??= new Set([
      ...members.flatMap(({ manifest }) => scriptNames(manifest)),
      ...this.#rules.table.rows.map(({ task }) => task),
    ]);
    if (this.#known.has(name) || broken.length > 0) return;
    const start = dependency.startsWith("^") ? "^" : "";
    throw this.#unknown(
      node,
      dependency,
      `No package has a task "${name}"`,
      dependency,
      [...this.#known].map((each) => start + each),
    );
  }

  #unknown(
    { rule }: ClosureNode,
    dependency: string,
    problem: string,
    word: string,
    names: readonly string[],
  ): UserError {
    const row = rule!.sources.dependsOn!;
    const { suggestNames } = require("../../did-you-mean.ts") as typeof import("../../did-you-mean.ts");
    const [similar] = suggestNames(word, names);
    return new UserError(
      `${this.#rules.table.locate(row, "depends-on")}: ${describeKey(row, "depends-on")} has "${oneLine(dependency)}": ${oneLine(problem)}`,
      similar === undefined ? "list the tasks: rt run --workspaces" : `did you mean "${oneLine(similar)}"?`,
    );
  }

  /** Returns the error that shows a cycle of dependencies, which must exist. */
  cycleError(): UserError {
    const edges = (node: number) => this.nodes[node]!.dependsOn ?? [];
    const cycle = breakCycles({ edges }, this.nodes.keys()).cycles[0]!;
    const last = this.nodes[cycle.at(-1)!]!;
    const names = [...cycle, cycle[0]!].map((position) => this.nameOf(position));
    return new UserError(
      `Tasks depend on each other: ${names.join(" -> ")}`,
      `remove one of them from depends-on, for example at ${this.#rules.table.locate(last.rule!.sources.dependsOn!, "depends-on")}`,
    );
  }

  /** Returns `web#build`, or `build` without a workspace. */
  nameOf(position: number): string {
    const { member, name } = this.nodes[position]!;
    const { name: owner, path } = this.#workspace.members[member]!;
    return printable(this.#workspace.members.length === 1 ? name : `${owner || path}#${name}`);
  }
}

function indexNames(members: readonly MemberPackage[]): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  for (const [index, { name, path }] of members.entries()) {
    if (path === ".") names.set(ROOT_PACKAGE, index);
    const key = name || path;
    if (!names.has(key)) names.set(key, index);
  }
  return names;
}

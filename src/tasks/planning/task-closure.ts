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

/** A task, or a placeholder in a package without it. */
interface ClosureNode extends Pick<TaskNode, "member" | "name" | "rule"> {
  readonly isPlaceholder: boolean;
  targets: readonly number[] | undefined;
}

export class TaskClosure {
  /** After `close`: the requested tasks first. */
  nodes: readonly TaskNode[] = [];
  /** Whether a task depends on other packages. */
  crossesPackages = false;
  readonly #workspace: Workspace;
  readonly #graph: DependencyGraph;
  readonly #rules: TaskRules;
  readonly #all: ClosureNode[] = [];
  readonly #positions: Map<string, number>[] = [];
  #byName: ReadonlyMap<string, number> | undefined;
  #known: ReadonlySet<string> | undefined;

  constructor(workspace: Workspace, graph: DependencyGraph, rules: TaskRules) {
    [this.#workspace, this.#graph, this.#rules] = [workspace, graph, rules];
  }

  /** Requests a task that exists. */
  request(member: number, name: string): void {
    this.#add(member, name, false);
  }

  #add(member: number, name: string, isPlaceholder: boolean): number {
    const own = (this.#positions[member] ??= new Map<string, number>());
    const known = own.get(name);
    if (known !== undefined) return known;
    const rule = this.#ruleOf(member, name);
    const position = this.#all.push({ member, name, rule, isPlaceholder, targets: undefined }) - 1;
    own.set(name, position);
    return position;
  }

  /** @throws UserError if a dependency does not exist */
  close(): void {
    // The array grows while it is iterated.
    for (const node of this.#all) {
      const { rule, name, isPlaceholder } = node;
      const dependencies = rule?.dependsOn ?? (isPlaceholder ? [`^${name}`] : undefined);
      if (dependencies)
        node.targets = [
          ...new Set(dependencies.flatMap((dependency) => this.#resolve(node, dependency, rule?.dependsOn))),
        ];
    }
    this.#dropBarren();
    const tasks = this.#all.flatMap(({ isPlaceholder }, position) => (isPlaceholder ? [] : [position]));
    const numbers = new Map(tasks.map((position, number) => [position, number]));
    this.nodes = tasks.map((position) => {
      const { member, name, rule, targets } = this.#all[position]!;
      const dependsOn = targets && this.#findTasks(position).map((each) => numbers.get(each)!);
      return { member, name, rule, dependsOn };
    });
  }

  /** Drops edges to placeholders through which no task is reached: often a whole graph of them. */
  #dropBarren(): void {
    const isPlaceholder = (position: number) => this.#all[position]!.isPlaceholder;
    const dependents: number[][] = this.#all.map(() => []);
    const reaching = new Set<number>();
    for (const [position, { targets = [] }] of this.#all.entries()) {
      if (!isPlaceholder(position)) continue;
      for (const target of targets)
        if (isPlaceholder(target)) dependents[target]!.push(position);
        else reaching.add(position);
    }
    for (const position of reaching) for (const dependent of dependents[position]!) reaching.add(dependent);
    for (const node of this.#all)
      node.targets = node.targets?.filter((target) => !isPlaceholder(target) || reaching.has(target));
  }

  /** Returns the tasks that a task depends on, also through placeholders. */
  #findTasks(position: number): number[] {
    const { targets = [] } = this.#all[position]!;
    const found = new Set(targets.filter((target) => !this.#all[target]!.isPlaceholder));
    const visited = new Set(targets.filter((target) => this.#all[target]!.isPlaceholder));
    for (const placeholder of visited)
      for (const target of this.#all[placeholder]!.targets ?? [])
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
  #resolve(node: ClosureNode, dependency: string, written: readonly string[] | undefined): number[] {
    const { member } = node;
    if (dependency.startsWith("^")) {
      const name = dependency.slice(1);
      this.crossesPackages = true;
      if (written) this.#requireKnown(node, dependency, name);
      return this.#graph.edges(member).map((each) => this.#add(each, name, !this.has(each, name)));
    }
    if (this.has(member, dependency)) return [this.#add(member, dependency, false)];
    const { package: owner, task } = splitTaskName(dependency);
    if (owner !== undefined) return [this.#resolveNamed(node, dependency, owner, task)];
    const root = this.#rules.isRootCommand(dependency) ? this.memberNamed(ROOT_PACKAGE) : undefined;
    if (root !== undefined) return [this.#add(root, dependency, false)];
    this.#requireKnown(node, dependency, dependency);
    return this.#ruleOf(member, dependency)?.dependsOn ? [this.#add(member, dependency, true)] : [];
  }

  #ruleOf(member: number, name: string): TaskRule | undefined {
    return this.#rules.ruleFor(ownerOf(this.#workspace.members[member]!), name);
  }

  #resolveNamed(node: ClosureNode, dependency: string, owner: string, task: string): number {
    this.crossesPackages = true;
    const member = this.memberNamed(owner);
    if (member === undefined)
      throw this.#unknown(node, dependency, `No package is named "${owner}"`, owner, [
        ...this.#byName!.keys(),
      ]);
    if (this.has(member, task)) return this.#add(member, task, false);
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

  /** @throws UserError that shows a cycle of dependencies */
  refuseCycles(): void {
    const edges = (node: number) => this.nodes[node]!.dependsOn ?? [];
    const [cycle] = breakCycles({ edges }, this.nodes.keys()).cycles;
    if (!cycle) return;
    const last = this.nodes[cycle.at(-1)!]!;
    const names = [...cycle, cycle[0]!].map((position) => this.nameOf(position));
    throw new UserError(
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

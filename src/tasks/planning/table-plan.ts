// Plans a run in a project with [tasks]: the requested tasks, and those that they depend on.
//
// Invariants:
// - A task with `depends-on` waits for exactly those tasks. Any other waits for the tasks of the same word in the
//   packages that its package depends on, as without [tasks].
// - `--parallel` and `--sequential` respect `depends-on`.
// - Only requested tasks get the arguments.
import { addCommands } from "../../config/tasks/project-tasks.ts";
import { ownerOf, type TaskRules } from "../../config/tasks/task-rules.ts";
import { splitTaskName } from "../../config/tasks/task-name.ts";
import { ROOT_PACKAGE } from "../../config/tasks/task-table.ts";
import { choosesPackages } from "../../config/settings/many.ts";
import { oneLine } from "../../printable.ts";
import { UserError } from "../../user-error.ts";
import { linkMembers, refuseSharedNames } from "../../workspace/dependencies.ts";
import { existsOnDisk } from "../../workspace/filter.ts";
import { isGlob } from "../../workspace/glob.ts";
import { type MemberPackage, openOwnWorkspace, type Workspace } from "../../workspace/members.ts";
import { findPackageJson } from "../../workspace/package-json.ts";
import { realPath } from "../../../platform/files/real-path.ts";
import type { ScriptTask, TaskRequest } from "../task.ts";
import { collapseGraph, orderPackages } from "./graph.ts";
import {
  createTask,
  displayName,
  hintFor,
  matchScripts,
  requireScripts,
  scriptNotFound,
  type SelectedPackages,
  selectPackages,
  type TaskPlan,
} from "./plan.ts";
import { TaskClosure } from "./task-closure.ts";
import { orderTasks } from "./task-order.ts";

/** @throws UserError @throws PackageJsonError */
export async function planTable(request: TaskRequest, rules: TaskRules): Promise<TaskPlan> {
  const adapt = (workspace: Workspace) => addCommands(workspace, rules);
  const packages = choosesPackages(request)
    ? await selectPackages(request, adapt)
    : openOwnPackage(request, adapt);
  return new TablePlanner(request, rules, packages).plan();
}

function openOwnPackage({ cwd }: TaskRequest, adapt: (workspace: Workspace) => Workspace): SelectedPackages {
  const workspace = adapt(openOwnWorkspace(cwd));
  const { members, broken } = workspace;
  const directory = findPackageJson(cwd)?.directory;
  const own = directory === undefined ? undefined : realPath(directory);
  const index = members.findIndex((member) =>
    own === undefined ? member.path === "." : member.directory === own,
  );
  if (index < 0) throw new UserError(`No package.json in ${cwd} or above`);
  return {
    workspace,
    graph: linkMembers(members),
    selected: [index],
    eligible: [index],
    notices: broken.map(({ message }) => message),
    unreadable: [],
  };
}

interface RequestedTask {
  readonly member: number;
  readonly name: string;
}

class TablePlanner {
  readonly #request: TaskRequest;
  readonly #rules: TaskRules;
  readonly #packages: SelectedPackages;
  readonly #closure: TaskClosure;
  readonly #words: readonly string[];
  readonly #args: readonly string[];
  readonly #notices: string[];

  constructor(request: TaskRequest, rules: TaskRules, packages: SelectedPackages) {
    [this.#request, this.#rules, this.#packages] = [request, rules, packages];
    this.#closure = new TaskClosure(packages.workspace, packages.graph, rules);
    this.#notices = packages.notices;
    [this.#words, this.#args] = this.#splitWords();
  }

  plan(): TaskPlan {
    const { workspace, graph, selected, unreadable } = this.#packages;
    const { members, broken } = workspace;
    const closure = this.#closure;
    const requested = this.#findRequested();
    for (const { member, name } of requested) closure.request(member, name);
    closure.close();
    const missing = closure.crossesPackages ? broken.find(existsOnDisk) : undefined;
    if (missing && !this.#request.noExitOnError) throw missing;
    closure.refuseCycles();
    if (closure.crossesPackages)
      refuseSharedNames(workspace, graph, [...new Set(closure.nodes.map(({ member }) => member))]);
    if (choosesPackages(this.#request)) this.#notices.push(...(this.#request.adviseOn?.(workspace) ?? []));
    const { nodes } = closure;
    const { order, waitsFor, cycles } = this.#order();
    const positions: number[] = [];
    for (const [index, node] of order.entries()) positions[node] = index;
    const renumber = (targets: readonly number[]) =>
      targets.map((target) => positions[target]!).sort((a, b) => a - b);
    return {
      tasks: this.#createTasks(order, requested.length),
      waitsFor: order.map((node) => renumber(waitsFor[node]!)),
      dependsOn: order.map((node) => renumber(nodes[node]!.dependsOn ?? [])),
      cycles: cycles.map((cycle) => cycle.map((node) => displayName(members[node]!))),
      packageCount: selected.length,
      notices: this.#notices,
      isIncomplete: unreadable.length > 0 || missing !== undefined,
      packages: this.#packages,
    };
  }

  /** Returns the words that name tasks, and the arguments. */
  #splitWords(): [words: readonly string[], args: readonly string[]] {
    const { scripts, args, isSeparated, parallel, sequential } = this.#request;
    const [first] = scripts;
    if (parallel || sequential || isSeparated || first === undefined) return [scripts, args];
    const end = args.indexOf("--");
    const words = end < 0 ? args : args.slice(0, end);
    if (words.length > 0 && [first, ...words].every((word) => this.#isTask(word)))
      return [[first, ...words], end < 0 ? [] : args.slice(end + 1)];
    const other = words.find((word) => this.#isTask(word));
    if (other !== undefined)
      this.#notices.push(
        `"${oneLine(other)}" is an argument of "${oneLine(first)}" here, but also a task; put -- before arguments, and tasks before it`,
      );
    return [scripts, args];
  }

  /** Returns whether a word names a task of the selected packages. */
  #isTask(word: string): boolean {
    if (word.startsWith("-")) return false;
    const { workspace, eligible } = this.#packages;
    return (
      eligible.some((member) => this.#match(workspace.members[member]!, word).length > 0) ||
      this.#findNamed(word) !== undefined
    );
  }

  /** Finds a command of the root project, or `package#task`. */
  #findNamed(word: string): RequestedTask | undefined {
    const isCommand = this.#rules.isRootCommand(word);
    const { package: owner, task: name } = isCommand
      ? { package: ROOT_PACKAGE, task: word }
      : splitTaskName(word);
    const member = owner === undefined ? undefined : this.#closure.memberNamed(owner);
    return member !== undefined && this.#closure.has(member, name) ? { member, name } : undefined;
  }

  /** The tasks of a package that a word matches, globs in alphabetical order. */
  #match(member: MemberPackage, word: string): string[] {
    const { manifest } = member;
    const { filters, affected } = this.#request;
    const selectsAll = choosesPackages(this.#request) && filters.length === 0 && affected === undefined;
    const isExcluded = (name: string) =>
      (selectsAll || name !== word) && this.#rules.ruleFor(ownerOf(member), name)?.when === "never";
    return matchScripts(manifest, word).filter((name) => !isExcluded(name));
  }

  /** Finds the tasks of the words in the selected packages. @throws UserError for a word without a task */
  #findRequested(): RequestedTask[] {
    const { workspace, graph, selected } = this.#packages;
    const { members } = workspace;
    const isSelected = new Set(selected);
    const requested: RequestedTask[] = [];
    const tasksOf = new Map<number, readonly string[]>();
    for (const member of orderPackages(graph, selected).order.filter((each) => isSelected.has(each))) {
      const names = new Set(this.#words.flatMap((word) => this.#match(members[member]!, word)));
      if (names.size === 0) continue;
      tasksOf.set(member, [...names]);
      for (const name of names) requested.push({ member, name });
    }
    const isFound = (word: string) =>
      [...tasksOf.keys()].some((member) => this.#match(members[member]!, word).length > 0);
    const others: string[] = [];
    for (const word of this.#words) {
      const named = isFound(word) ? undefined : this.#findNamed(word);
      if (named) requested.push(named);
      else others.push(word);
    }
    this.#requireTasks(others, tasksOf);
    return requested;
  }

  #requireTasks(words: readonly string[], tasksOf: ReadonlyMap<number, readonly string[]>): void {
    const { workspace, eligible } = this.#packages;
    const { members } = workspace;
    if (this.#request.ifPresent) return;
    for (const word of words) {
      const excluded = eligible.find((member) => this.#closure.has(member, word));
      if (excluded === undefined || eligible.some((member) => this.#match(members[member]!, word).length > 0))
        continue;
      throw new UserError(
        `--workspaces does not select "${oneLine(word)}", which has when = "never" in [tasks]`,
        `select its packages: --filter ${oneLine(this.#request.quote(displayName(members[excluded]!)))}`,
      );
    }
    if (choosesPackages(this.#request)) {
      requireScripts(workspace, eligible, tasksOf, { ...this.#request, scripts: words });
      return;
    }
    const { manifest } = members[eligible[0]!]!;
    const missing = words.find(
      (word) => !tasksOf.get(eligible[0]!)?.some((name) => this.#isMatch(word, name)),
    );
    if (missing !== undefined) throw scriptNotFound(missing, [manifest], "", hintFor(missing));
  }

  #isMatch(word: string, name: string): boolean {
    return word === name || (isGlob(word) && new Bun.Glob(word).match(name));
  }

  #order() {
    const { graph } = this.#packages;
    const { nodes } = this.#closure;
    const isOrdered = !this.#request.parallel && !this.#request.sequential;
    const { order, acyclic, cycles } = orderPackages(
      graph,
      [...new Set(nodes.map(({ member }) => member))].sort((a, b) => a - b),
    );
    const places = new Map(order.map((member, place) => [member, place]));
    // Within a package, the order of words counts.
    const ranks = nodes.map(({ member }, node) => places.get(member)! * nodes.length + node);
    const isUsed = isOrdered && nodes.some(({ dependsOn }) => !dependsOn);
    const preferred = isUsed ? this.#findPackageOrder(order, acyclic) : [];
    const { order: sorted, waitsFor } = orderTasks(
      nodes.map(({ dependsOn }) => dependsOn ?? []),
      preferred,
      ranks,
    );
    return { order: sorted, waitsFor, cycles: isUsed ? cycles : [] };
  }

  /** For each task without `depends-on`, those of the same word in the packages that its package depends on. */
  #findPackageOrder(
    order: readonly number[],
    acyclic: Parameters<typeof collapseGraph>[0],
  ): readonly (readonly number[])[] {
    const { nodes } = this.#closure;
    const groups = Map.groupBy(nodes.keys(), (node) => this.#wordOf(nodes[node]!.name));
    const preferred: (readonly number[])[] = nodes.map(() => []);
    for (const group of groups.values()) {
      if (group.every((node) => nodes[node]!.dependsOn)) continue;
      const byMember = Map.groupBy(group, (node) => nodes[node]!.member);
      const nearest = collapseGraph(acyclic, new Set(byMember.keys()), order);
      for (const node of group)
        if (!nodes[node]!.dependsOn)
          preferred[node] = (nearest.get(nodes[node]!.member) ?? []).flatMap((member) =>
            byMember.get(member)!,
          );
    }
    return preferred;
  }

  readonly #wordsOf = new Map<string, string>();

  #wordOf(name: string): string {
    let word = this.#wordsOf.get(name);
    if (word === undefined)
      this.#wordsOf.set(name, (word = this.#words.find((each) => this.#isMatch(each, name)) ?? name));
    return word;
  }

  #createTasks(order: readonly number[], requestedCount: number): ScriptTask[] {
    const { selected, workspace } = this.#packages;
    const { members } = workspace;
    const { nodes } = this.#closure;
    const { parallel, sequential } = this.#request;
    const isShort = !choosesPackages(this.#request) && nodes.every(({ member }) => member === selected[0]);
    return order.map((node, index) => {
      const { member, name, rule } = nodes[node]!;
      const { directory, manifest } = members[member]!;
      const packageName = isShort ? "" : displayName(members[member]!);
      const label = isShort ? name : `${packageName}${parallel || sequential ? ":" : " "}${name}`;
      const isDependency = node >= requestedCount;
      const task = { index, packageName, packageDirectory: directory, manifest, scriptName: name, label };
      return createTask(
        { ...task, ...(isDependency && { isDependency }), ...(rule && { rule }) },
        { args: isDependency ? [] : this.#args, secrets: this.#request.secrets },
      );
    });
  }
}

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
import { compileScriptPattern, isScriptPattern } from "../../config/tasks/script-pattern.ts";
import { type MemberPackage, openOwnWorkspace, type Workspace } from "../../workspace/members.ts";
import { findPackageJson, scriptOf } from "../../workspace/package-json.ts";
import { realPath } from "../../../platform/files/real-path.ts";
import { type ScriptTask, taskId, type TaskRequest } from "../task.ts";
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
import { beforeSeparator } from "./script-argument.ts";
import { TaskClosure } from "./task-closure.ts";
import { orderTasks } from "./task-order.ts";

/** @throws UserError @throws PackageJsonError */
export async function planTable(request: TaskRequest, rules: TaskRules): Promise<TaskPlan> {
  const adapt = (workspace: Workspace) => addCommands(workspace, rules);
  const packages = choosesPackages(request)
    ? await selectPackages(request, adapt)
    : openOwnPackage(request, adapt);
  return planSelected(request, rules, packages);
}

/** Plans the tasks of the selected packages. @param selects returns whether a requested task is planned, by `taskId` */
export function planSelected(
  request: TaskRequest,
  rules: TaskRules,
  packages: SelectedPackages,
  selects: (id: string) => boolean = () => true,
): TaskPlan {
  return new TablePlanner(request, rules, packages, selects).plan();
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
    matched: [index],
    notices: broken.map(({ message }) => message),
    unreadable: [],
  };
}

interface NamedTask {
  readonly member: number;
  readonly name: string;
}

class TablePlanner {
  readonly #request: TaskRequest;
  readonly #rules: TaskRules;
  readonly #packages: SelectedPackages;
  readonly #selects: (id: string) => boolean;
  readonly #closure: TaskClosure;
  readonly #words: readonly string[];
  readonly #args: readonly string[];
  readonly #notices: string[];
  readonly #hasExcluded: boolean;
  readonly #hasServices: boolean;

  constructor(
    request: TaskRequest,
    rules: TaskRules,
    packages: SelectedPackages,
    selects: (id: string) => boolean,
  ) {
    [this.#request, this.#rules, this.#packages, this.#selects] = [request, rules, packages, selects];
    this.#closure = new TaskClosure(packages.workspace, packages.graph, rules);
    this.#notices = packages.notices;
    this.#hasExcluded = rules.table.rows.some(({ options }) => options.when === "never");
    this.#hasServices = rules.table.rows.some(({ options }) => options.service);
    const [words, args] = this.#splitWords();
    [this.#words, this.#args] = [[...new Set(words)], args];
  }

  plan(): TaskPlan {
    const { workspace, graph, selected, unreadable } = this.#packages;
    const { members, broken } = workspace;
    const closure = this.#closure;
    this.#requestTasks();
    closure.close();
    const missing = closure.crossesPackages ? broken.find(existsOnDisk) : undefined;
    if (missing && !this.#request.noExitOnError) throw missing;
    const { order, waitsFor, cycles } = this.#order();
    if (closure.crossesPackages) refuseSharedNames(workspace, graph, this.#findMembers());
    if (choosesPackages(this.#request)) this.#notices.push(...(this.#request.adviseOn?.(workspace) ?? []));
    const { nodes } = closure;
    const renumber = createRenumbering(order);
    return {
      tasks: this.#createTasks(order),
      waitsFor: order.map((node) => renumber(waitsFor[node]!)),
      dependsOn: order.map((node) => renumber(nodes[node]!.dependsOn ?? NONE)),
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
    const words = beforeSeparator(args);
    if (words.length > 0 && [first, ...words].every((word) => this.#isTask(word)))
      return [[first, ...words], args.slice(words.length + 1)];
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
  #findNamed(word: string): NamedTask | undefined {
    const isCommand = this.#rules.isRootCommand(word);
    const { package: owner, task: name } = isCommand
      ? { package: ROOT_PACKAGE, task: word }
      : splitTaskName(word);
    const member = owner === undefined ? undefined : this.#closure.memberNamed(owner);
    return member !== undefined && this.#closure.has(member, name) ? { member, name } : undefined;
  }

  /** The tasks of a package that a word matches, those of a pattern in alphabetical order. */
  #match(member: MemberPackage, word: string): string[] {
    const { manifest } = member;
    const names = matchScripts(manifest, word);
    if (!this.#hasExcluded) return names;
    const { filters, affected } = this.#request;
    const selectsAll = choosesPackages(this.#request) && filters.length === 0 && affected === undefined;
    const isExcluded = (name: string) =>
      (selectsAll || name !== word) && this.#rules.ruleFor(ownerOf(member), name)?.when === "never";
    return names.filter((name) => !isExcluded(name));
  }

  /** Requests the tasks of the words in the selected packages. @throws UserError for a word without a task */
  #requestTasks(): void {
    const { workspace, selected } = this.#packages;
    const { members } = workspace;
    const tasksOf = new Map<number, readonly string[]>();
    // Most plans have thousands of tasks of few words, so an exact word costs one lookup in each package.
    const isExact = !this.#hasExcluded && !this.#words.some(isScriptPattern);
    for (const member of selected) {
      const { directory, manifest } = members[member]!;
      const names = isExact
        ? this.#words.filter((word) => scriptOf(manifest, word) !== null)
        : new Set(this.#words.flatMap((word) => this.#match(members[member]!, word)));
      for (const name of names)
        if (this.#selects(taskId({ packageDirectory: directory, scriptName: name })))
          this.#closure.request(member, name);
      const list = [...names];
      if (list.length > 0) tasksOf.set(member, list);
    }
    const isFound = (word: string) =>
      [...tasksOf.keys()].some((member) => this.#match(members[member]!, word).length > 0);
    const others: string[] = [];
    for (const word of this.#words) {
      const named = isFound(word) ? undefined : this.#findNamed(word);
      if (named) this.#closure.request(named.member, named.name);
      else others.push(word);
    }
    this.#requireTasks(others, tasksOf);
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
    return word === name || (isScriptPattern(word) && compileScriptPattern(word)(name));
  }

  /** Returns the members that have tasks, ascending. */
  #findMembers(): readonly number[] {
    const members = new Set<number>();
    for (const { member } of this.#closure.nodes) members.add(member);
    return [...members].sort((a, b) => a - b);
  }

  #order() {
    const { graph } = this.#packages;
    const { nodes } = this.#closure;
    const isOrdered = !this.#request.parallel && !this.#request.sequential;
    const { order, acyclic, cycles } = orderPackages(graph, this.#findMembers());
    const places: number[] = [];
    for (const [place, member] of order.entries()) places[member] = place;
    // Within a package, the order of words counts.
    const ranks = nodes.map(({ member }, node) => places[member]! * nodes.length + node);
    const isUsed = isOrdered && nodes.some(({ dependsOn }) => !dependsOn);
    const { order: sorted, waitsFor } = orderTasks(
      nodes.map(({ dependsOn }) => dependsOn ?? NONE),
      isUsed ? this.#findPackageOrder(order, acyclic) : undefined,
      ranks,
    );
    if (sorted.length < nodes.length) throw this.#closure.cycleError();
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

  #createTasks(order: readonly number[]): ScriptTask[] {
    const { selected, workspace } = this.#packages;
    const { members } = workspace;
    const { nodes, requestedCount } = this.#closure;
    const { parallel, sequential, secrets } = this.#request;
    const isShort = !choosesPackages(this.#request) && nodes.every(({ member }) => member === selected[0]);
    const separator = parallel || sequential ? ":" : " ";
    const requested = { args: this.#args, secrets };
    const dependency = { args: NONE, secrets };
    const created: ScriptTask[] = [];
    return order.map((node, index) => {
      const { member, name, rule, dependsOn = NONE } = nodes[node]!;
      const { directory, manifest } = members[member]!;
      const packageName = isShort ? "" : displayName(members[member]!);
      const isDependency = node >= requestedCount;
      const task = {
        index,
        packageName,
        packageDirectory: directory,
        manifest,
        scriptName: name,
        label: isShort ? name : packageName + separator + name,
        isDependency,
        service: this.#hasServices ? findService(dependsOn, created) : undefined,
        rule,
      };
      return (created[node] = createTask(task, isDependency ? dependency : requested));
    });
  }
}

const NONE: readonly never[] = [];

/** Returns a function from nodes to their positions in the order, ascending. Tasks often share their dependencies. */
function createRenumbering(order: readonly number[]): (nodes: readonly number[]) => readonly number[] {
  const positions: number[] = [];
  for (const [index, node] of order.entries()) positions[node] = index;
  const renumbered = new Map<readonly number[], readonly number[]>();
  return (nodes) => {
    let result = renumbered.get(nodes);
    if (!result) {
      result = nodes.map((node) => positions[node]!).sort((a, b) => a - b);
      renumbered.set(nodes, result);
    }
    return result;
  };
}

/** Returns the label of the first service among the dependencies. @param created the tasks by node */
function findService(dependsOn: readonly number[], created: readonly ScriptTask[]): string | undefined {
  for (const target of dependsOn) {
    const service = serviceOf(created[target]!);
    if (service !== undefined) return service;
  }
  return undefined;
}

/** Returns the service that dependents of a task need. */
function serviceOf({ rule, label, service }: ScriptTask): string | undefined {
  return rule?.service ? label : service;
}

// Plans a run: selects packages and scripts and builds the dependency graph of the tasks. Starts nothing.
//
// Invariants:
// - `--filter` and `--workspaces` respect dependencies; `--sequential` runs one task after another, dependencies
//   first.
// - `--parallel` starts everything at once, because scripts in watch mode never end.
// - A package without the script is skipped. It is an error if no package has it, or with `--workspaces` without
//   `--filter`.
import type { AffectedReason } from "../../workspace/affected.ts";
import type { ChangeSet } from "../../workspace/changes.ts";
import {
  allMembers,
  type ChangedMembers,
  existsOnDisk,
  type Selection,
  selectMembers,
  workspacePackages,
} from "../../workspace/filter.ts";
import { revisionsOf } from "../../workspace/filter-syntax.ts";
import { type DependencyGraph, linkMembers, refuseSharedNames } from "../../workspace/dependencies.ts";
import { type MemberPackage, openWorkspace, type Workspace } from "../../workspace/members.ts";
import {
  findPackageJson,
  isMisdeclaredScript,
  type PackageJson,
  type PackageJsonError,
  scriptNames,
  scriptOf,
  stepsOf,
} from "../../workspace/package-json.ts";
import { compileScriptPattern, isScriptPattern } from "../../config/tasks/script-pattern.ts";
import { choosesPackages } from "../../config/settings/many.ts";
import { UserError } from "../../user-error.ts";
import { collapseGraph, orderPackages } from "./graph.ts";
import type { TaskSelection } from "./affected-tasks.ts";
import { describeScriptArgument } from "./script-argument.ts";
import type { Shard } from "./shard.ts";
import { taskId, type TaskStep, type ScriptTask, type TaskRequest } from "../task.ts";

export interface TaskPlan {
  readonly tasks: readonly ScriptTask[];
  /** By task index, ascending. */
  readonly waitsFor: readonly (readonly number[])[];
  /** The dependencies that [tasks] declares, by task index; a part of `waitsFor`. Absent without [tasks]. */
  readonly dependsOn?: readonly (readonly number[])[] | undefined;
  /** Package names along each cycle. */
  readonly cycles: readonly (readonly string[])[];
  /** Number of selected packages, with or without the scripts. */
  readonly packageCount: number;
  /** Warnings that do not stop the run. */
  readonly notices: readonly string[];
  /** Packages with an unreadable package.json were left out; the run cannot succeed. */
  readonly isIncomplete: boolean;
  /** The selection that the tasks are from. */
  readonly packages?: SelectedPackages;
  /** With `--affected`: why tasks were selected or left out. Absent if packages were selected. */
  readonly selection?: TaskSelection;
  /** Set if the tasks are those of one shard. */
  readonly shard?: Shard;
}

/** @throws UserError @throws PackageJsonError */
export async function planTasks(request: TaskRequest): Promise<TaskPlan> {
  if (request.selectsTasks) return await (await import("./affected-tasks.ts")).planAffected(request);
  const plan = request.taskRules
    ? await (await import("./table-plan.ts")).planTable(request, request.taskRules)
    : choosesPackages(request)
      ? planMembers(request, await selectPackages(request))
      : planPackage(request);
  if (!request.shard) return plan;
  return (await import("./shard.ts")).takeShard(plan, request.shard, request.cwd);
}

/** Plans scripts of the package that contains the working directory. */
function planPackage(request: TaskRequest): TaskPlan {
  const found = findPackageJson(request.cwd);
  if (!found) throw new UserError(`No package.json in ${request.cwd} or above`);
  const { directory, manifest } = found;
  const names = request.scripts.flatMap((script) => {
    const matches = matchScripts(manifest, script);
    if (matches.length === 0 && !request.ifPresent)
      throw scriptNotFound(script, [manifest], "", hintFor(script));
    return matches;
  });
  const tasks = [...new Set(names)].map((scriptName, index) =>
    createTask(
      { index, packageName: "", packageDirectory: directory, manifest, scriptName, label: scriptName },
      request,
    ),
  );
  return {
    tasks,
    waitsFor: tasks.map(() => []),
    cycles: [],
    packageCount: 1,
    notices: [],
    isIncomplete: false,
  };
}

export function hintFor(script: string): string {
  if (script.startsWith("-")) return "put options before the first script";
  if (/^\.{0,2}\/|\.[cm]?[jt]sx?$/.test(script))
    return "options for several scripts work with package.json scripts, not files; add a script that runs the file";
  return "`rt run` lists the scripts";
}

export interface SelectedPackages {
  readonly workspace: Workspace;
  readonly graph: DependencyGraph;
  /** Positions in the workspace's members, ascending. */
  readonly selected: readonly number[];
  /** The selection if every package had changed. */
  readonly eligible: readonly number[];
  /** The selection without `--affected`. */
  readonly matched: readonly number[];
  /** With `--affected`: the reason for each affected package. */
  readonly affected?: ReadonlyMap<number, AffectedReason> | undefined;
  /** With `--affected`. */
  readonly changes?: ChangeSet | undefined;
  /** With git revisions in filters. */
  readonly changed?: ChangedMembers | undefined;
  readonly notices: string[];
  readonly unreadable: readonly PackageJsonError[];
}

type SelectionRequest = Pick<TaskRequest, "filters" | "affected" | "cwd" | "noExitOnError" | "ifPresent">;

/**
 * Selects the packages of a request. @param adapt adds what [tasks] declares
 * @throws UserError @throws PackageJsonError
 */
export async function selectPackages(
  request: SelectionRequest,
  adapt: (workspace: Workspace) => Workspace = (workspace) => workspace,
): Promise<SelectedPackages> {
  const workspace = adapt(openWorkspace(request.cwd));
  const { members, broken } = workspace;
  const graph = linkMembers(members);
  const defaultPackages = request.affected === undefined ? workspacePackages : allMembers;
  const selection: Selection =
    request.filters.length > 0
      ? selectMembers(workspace, graph, request.filters, request.cwd, request.ifPresent)
      : { indices: defaultPackages(members), unmatched: [], unreadable: broken.filter(existsOnDisk) };
  const { unreadable } = selection;
  const isRequired = request.filters.length === 0 && request.affected === undefined && !request.ifPresent;
  if (isRequired && !workspace.isDeclared && selection.indices.length === 0 && unreadable.length === 0)
    throw new UserError(
      "--workspaces found no packages below this folder",
      'list them in package.json, as in "workspaces": ["packages/*"], or leave out --workspaces',
    );
  let affected: SelectedPackages["affected"];
  let changes: ChangeSet | undefined;
  if (unreadable.length > 0 && !request.noExitOnError) throw unreadable[0]!;
  const notices = broken.map(({ message }) => message);
  for (const filter of selection.unmatched)
    notices.push(`No workspace packages matched the filter "${filter}"`);
  let selected = selection.indices;
  let changed: ChangedMembers | undefined;
  const revisions = revisionsOf(request.filters);
  if (revisions.length > 0) {
    const { changedMembers } = await import("../../workspace/affected.ts");
    changed = await changedMembers(workspace, revisions);
    selected = selectMembers(workspace, graph, request.filters, request.cwd, true, changed).indices;
  }
  const matched = selected;
  if (request.affected !== undefined) {
    const { affectedMembers } = await import("../../workspace/affected.ts");
    const found = await affectedMembers(workspace, graph, request.affected);
    selected = selected.filter((index) => found.reasons.has(index));
    [affected, changes] = [found.reasons, found.changes];
  }
  refuseSharedNames(workspace, graph, selected);
  const eligible = selection.indices;
  return { workspace, graph, selected, eligible, matched, affected, changes, changed, notices, unreadable };
}

/** Plans the scripts of the selected packages. @param selects returns whether a script is planned, by `taskId` */
export function planMembers(
  request: TaskRequest,
  packages: SelectedPackages,
  selects?: (id: string) => boolean,
): TaskPlan {
  const { workspace, graph, selected, eligible, notices, unreadable } = packages;
  const { order, acyclic, cycles } = orderPackages(graph, selected);
  const isSelected = new Set(selected);
  const tasks: ScriptTask[] = [];
  const tasksOf = new Map<number, ScriptTask[]>();
  for (const node of order.filter((node) => isSelected.has(node))) {
    const member = workspace.members[node]!;
    const names = new Set(request.scripts.flatMap((script) => matchScripts(member.manifest, script)));
    const own = [...names]
      .filter((name) => selects?.(taskId({ packageDirectory: member.directory, scriptName: name })) ?? true)
      .map((scriptName, offset) => createMemberTask(member, scriptName, tasks.length + offset, request));
    if (own.length === 0) continue;
    tasks.push(...own);
    tasksOf.set(node, own);
  }
  requireScripts(workspace, eligible, tasksOf, request);
  const scriptArgument = describeScriptArgument(
    request,
    eligible.map((index) => workspace.members[index]!.manifest),
  );
  if (scriptArgument !== undefined) notices.push(scriptArgument);
  notices.push(...(request.adviseOn?.(workspace) ?? []));
  const isOrdered = !request.parallel && !request.sequential;
  const nearestTasks = isOrdered
    ? collapseGraph(acyclic, new Set(tasksOf.keys()), order)
    : new Map<number, readonly number[]>();
  const waitsFor: number[][] = [];
  for (const [node, own] of tasksOf) {
    const indices = (nearestTasks.get(node) ?? []).flatMap(
      (other) => tasksOf.get(other)?.map(({ index }) => index) ?? [],
    );
    for (const { index } of own) waitsFor[index] = indices;
  }
  const cycleNames = cycles.map((cycle) => cycle.map((node) => displayName(workspace.members[node]!)));
  return {
    tasks,
    waitsFor,
    cycles: cycleNames,
    packageCount: selected.length,
    notices,
    isIncomplete: unreadable.length > 0,
    packages,
  };
}

/** Even with `--affected`, a script has to exist in one of the eligible packages. */
export function requireScripts(
  { members }: Workspace,
  selected: readonly number[],
  tasksOf: ReadonlyMap<number, unknown>,
  request: Omit<TaskRequest, "args">,
): void {
  if (request.ifPresent || selected.length === 0) return;
  const chosen = selected.map((index) => members[index]!);
  const needsAll = request.workspaces && request.filters.length === 0 && request.affected === undefined;
  const missing = needsAll ? selected.find((index) => !tasksOf.has(index)) : undefined;
  if (missing !== undefined) {
    const { manifest, path, name } = members[missing]!;
    throw scriptNotFound(
      request.scripts[0] ?? "",
      [manifest],
      ` in package "${name || path}"`,
      "pass --if-present to leave such packages out",
    );
  }
  for (const script of request.scripts) {
    if (chosen.some(({ manifest }) => matchScripts(manifest, script).length > 0)) continue;
    const where =
      chosen.length === 1 ? ` in package "${displayName(chosen[0]!)}"` : ` in ${chosen.length} packages`;
    const filters =
      request.filters.length > 0
        ? ` matching ${request.filters.map((filter) => `"${filter}"`).join(", ")}`
        : "";
    throw scriptNotFound(
      script,
      chosen.map(({ manifest }) => manifest),
      where + filters,
    );
  }
}

export function scriptNotFound(
  script: string,
  manifests: readonly PackageJson[],
  where: string,
  hint?: string,
): UserError {
  const misdeclared = manifests.find((manifest) => isMisdeclaredScript(manifest, script));
  if (misdeclared)
    return new UserError(`Script "${script}"${where} is not a string`, "write the command as a string");
  const names = new Set(manifests.flatMap(scriptNames));
  const { suggestNames } = require("../../did-you-mean.ts") as typeof import("../../did-you-mean.ts");
  const suggestions = suggestNames(script, names).map((name) => `"${name}"`);
  return new UserError(
    `Script "${script}" not found${where}`,
    suggestions.length > 0 ? `did you mean ${suggestions.join(" or ")}?` : hint,
  );
}

/** The scripts that a name or pattern matches, those of a pattern in alphabetical order. @throws UserError */
export function matchScripts(manifest: PackageJson, script: string): string[] {
  if (scriptOf(manifest, script) !== null) return [script];
  if (!isScriptPattern(script)) return [];
  return scriptNames(manifest).filter(compileScriptPattern(script)).sort();
}

function createMemberTask(
  member: MemberPackage,
  scriptName: string,
  index: number,
  request: TaskRequest,
): ScriptTask {
  const packageName = displayName(member);
  const isLabelled = request.parallel || request.sequential;
  const label = `${packageName}${isLabelled ? ":" : " "}${scriptName}`;
  return createTask(
    { index, packageName, packageDirectory: member.directory, manifest: member.manifest, scriptName, label },
    request,
  );
}

export function createTask(
  task: Omit<ScriptTask, "steps" | "args">,
  { args, secrets: all }: Pick<TaskRequest, "args" | "secrets">,
): ScriptTask {
  const { scriptName, manifest, isDependency = false } = task;
  let steps: TaskStep[] = stepsOf(manifest, scriptName);
  if (all)
    steps = steps.map((step) => {
      const secrets = all.of(manifest, step.scriptName, step.isMain, isDependency);
      return secrets.length > 0 ? { ...step, secrets } : step;
    });
  return { ...task, steps, args };
}

export function displayName({ name, path }: MemberPackage): string {
  return name === "" ? path : name;
}

// Selects the tasks that changes since a commit affect (`--affected`): those whose inputs have changed, and their dependents.
//
// Invariants:
// - The inputs of a task are those that its last run is recorded to have read, if these are in the same state now. Otherwise they are
//   the files of its package and of the packages that this one depends on, and what the record has.
// - Always inputs are the package's package.json, the task's settings in rtfig.toml, lockfiles, and files named .env*.
// - A task that has read files that git ignores depends on the task that makes them. If that is unknown, it depends on their package.
//
// Non-obvious: the plan of all matching tasks comes first, because a task may read files of any package. A second plan has the affected
// ones, and what they depend on.
import type { InputRecord } from "../../cache/cached-script.ts";
import { addCommands } from "../../config/tasks/project-tasks.ts";
import { ownerOf } from "../../config/tasks/task-rules.ts";
import { type AffectedReason, findOwners } from "../../workspace/affected.ts";
import type { ChangeSet } from "../../workspace/changes.ts";
import { refuseSharedNames } from "../../workspace/dependencies.ts";
import { keepUnignored } from "../../workspace/package-files.ts";
import { realPath } from "../../../platform/files/real-path.ts";
import { type ScriptTask, taskId, type TaskRequest } from "../task.ts";
import { planMembers, type SelectedPackages, selectPackages, type TaskPlan } from "./plan.ts";
import { planSelected } from "./table-plan.ts";

/** Why a task is affected: a changed file (absolute path), a package (position) or a task. */
export type TaskCause = AffectedReason | { readonly task: ScriptTask };

export interface TaskSelection {
  /** By `taskId`. */
  readonly causes: ReadonlyMap<string, TaskCause>;
  readonly leftOut: readonly LeftOutTask[];
}

export interface LeftOutTask {
  readonly task: ScriptTask;
  /** Whether recorded inputs decided, and not the package. */
  readonly isRecorded: boolean;
}

/** @throws UserError @throws PackageJsonError */
export async function planAffected(request: TaskRequest): Promise<TaskPlan> {
  const { taskRules: rules } = request;
  const packages = await selectPackages(request, rules && ((workspace) => addCommands(workspace, rules)));
  const { workspace, graph, affected, notices } = packages;
  const plan = (from: TaskRequest, selected: readonly number[], selects?: (id: string) => boolean) => {
    const selection = { ...packages, selected, notices: [...notices] };
    return rules ? planSelected(from, rules, selection, selects) : planMembers(from, selection, selects);
  };
  const all = plan({ ...request, noExitOnError: true }, packages.matched);
  const selection = await selectTasks(all, packages, request);
  const directories = new Set(
    all.tasks.filter((task) => selection.causes.has(taskId(task))).map((task) => task.packageDirectory),
  );
  const selected = packages.matched.filter(
    (index) => affected!.has(index) || directories.has(workspace.members[index]!.directory),
  );
  refuseSharedNames(workspace, graph, selected);
  return { ...plan(request, selected, (id) => selection.causes.has(id)), selection };
}

async function selectTasks(
  { tasks, waitsFor, dependsOn }: TaskPlan,
  packages: SelectedPackages,
  request: TaskRequest,
): Promise<TaskSelection> {
  const records = await findRecords(tasks, request);
  const causes = new Map<string, TaskCause>();
  const leftOut: LeftOutTask[] = [];
  const inputs = await AffectedInputs.open(packages, packages.changes!, records, tasks, request);
  const affectedOf = (indices: readonly number[] = []) => {
    const index = indices.find((each) => causes.has(taskId(tasks[each]!)));
    return index === undefined ? undefined : { task: tasks[index]! };
  };
  for (const task of tasks) {
    const record = records[task.index];
    const isRecorded = record?.isValid ?? false;
    const cause =
      inputs.findCommon(task) ??
      (record && inputs.findRead(record, task)) ??
      (isRecorded ? undefined : inputs.findPackage(task)) ??
      affectedOf(isRecorded ? dependsOn?.[task.index] : waitsFor[task.index]) ??
      (isRecorded ? inputs.findIgnored(record!, task, causes) : undefined);
    if (cause) causes.set(taskId(task), cause);
    else if (!task.isDependency) leftOut.push({ task, isRecorded });
  }
  return { causes, leftOut };
}

/** Returns the records by task index. */
async function findRecords(
  tasks: readonly ScriptTask[],
  { cache }: TaskRequest,
): Promise<readonly (InputRecord | undefined)[]> {
  if (!cache) return [];
  const find = await cache.openRecords();
  const records: (InputRecord | undefined)[] = [];
  // One after another: a record is compared with the outputs of earlier tasks.
  for (const task of tasks) records.push(cache.mayHit(task) ? await find(task) : undefined);
  return records;
}

/** Finds the inputs that have changed. */
class AffectedInputs {
  readonly #packages: SelectedPackages;
  readonly #files: readonly string[];
  /** Files and directories that exist only before or only after the changes. */
  readonly #existence: ReadonlySet<string>;
  /** Nested repositories with changes. */
  readonly #repositories: readonly string[];
  readonly #hasOtherSettings: (task: ScriptTask) => boolean;
  readonly #configFile: string;
  readonly #ownerOf: ReturnType<typeof findOwners>;
  readonly #positions: ReadonlyMap<string, number>;
  readonly #root: number;
  /** Files that are inputs of all tasks of their package, by its position; those of the root are inputs of all tasks. */
  readonly #common = new Map<number, string>();
  readonly #shared: string | undefined;
  /** The read paths that git does not ignore; null if git cannot answer. */
  #unignored: ReadonlySet<string> | null = null;
  /** The task that makes a path, for tasks with a record. */
  readonly #makers = new Map<string, ScriptTask>();

  static async open(
    packages: SelectedPackages,
    changes: ChangeSet,
    records: readonly (InputRecord | undefined)[],
    tasks: readonly ScriptTask[],
    request: TaskRequest,
  ): Promise<AffectedInputs> {
    const inputs = new AffectedInputs(
      packages,
      changes,
      await changes.listExistence(),
      await openSettings(packages, changes, request),
    );
    const read = new Set<string>();
    for (const [index, record] of records.entries()) {
      if (!record?.isValid) continue;
      for (const path of record.read) read.add(path);
      for (const path of record.outputs) inputs.#makers.set(path, tasks[index]!);
    }
    inputs.#unignored = await keepUnignored(packages.workspace.root, [...read]);
    return inputs;
  }

  private constructor(
    packages: SelectedPackages,
    { files }: ChangeSet,
    existence: ReadonlySet<string>,
    { file, isChanged }: Settings,
  ) {
    const { lstatSync } = process.getBuiltinModule("node:fs");
    const { basename, join } = process.getBuiltinModule("node:path");
    const { workspace } = packages;
    [this.#packages, this.#files, this.#existence] = [packages, files, existence];
    [this.#hasOtherSettings, this.#configFile] = [isChanged, file];
    this.#ownerOf = findOwners(workspace);
    this.#positions = new Map(workspace.members.map(({ directory }, index) => [directory, index]));
    this.#root = workspace.members.findIndex(({ isRoot }) => isRoot);
    this.#repositories = files.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
    this.#shared = files.find((path) => this.#ownerOf(path) === "all");
    for (const path of files) {
      const owner = this.#ownerOf(path);
      if (typeof owner !== "number" || this.#common.has(owner)) continue;
      // A record has no files below node_modules.
      const isCommon =
        path === join(workspace.members[owner]!.directory, "package.json") ||
        basename(path).startsWith(".env") ||
        /[\\/]node_modules[\\/]/.test(path);
      if (isCommon) this.#common.set(owner, path);
    }
  }

  /** Finds an input that no record has. */
  findCommon(task: ScriptTask): TaskCause | undefined {
    const position = this.#positions.get(task.packageDirectory)!;
    const file = this.#shared ?? this.#common.get(position) ?? this.#common.get(this.#root);
    if (file !== undefined) return { file };
    return this.#hasOtherSettings(task) ? { file: this.#configFile } : undefined;
  }

  findPackage(task: ScriptTask): TaskCause | undefined {
    return this.#packages.affected!.get(this.#positions.get(task.packageDirectory)!);
  }

  findRead(record: InputRecord, task: ScriptTask): TaskCause | undefined {
    // An output that git tracks counts, too: the task would replace the change.
    for (const file of this.#files)
      if (record.isAffectedBy(file, this.#existence.has(file)) || this.#makers.get(file) === task)
        return { file };
    // Directories that are not files of git.
    for (const file of this.#existence) if (record.isAffectedBy(file, true)) return { file };
    for (const file of this.#repositories)
      if (record.read.some((path) => path.startsWith(`${file}/`))) return { file };
    return undefined;
  }

  /** Finds files that git ignores: they may change although no file of git has changed. */
  findIgnored(
    { read }: InputRecord,
    task: ScriptTask,
    causes: ReadonlyMap<string, TaskCause>,
  ): TaskCause | undefined {
    for (const path of read) {
      if (this.#unignored?.has(path)) continue;
      const maker = this.#makers.get(path);
      // A later task has not been decided on yet.
      if (maker && maker.index <= task.index) {
        if (maker !== task && causes.has(taskId(maker))) return { task: maker };
        continue;
      }
      const owner = this.#ownerOf(path);
      if (typeof owner !== "number") continue;
      const reason = this.#packages.affected!.get(owner);
      if (reason) return owner === this.#positions.get(task.packageDirectory) ? reason : { dependsOn: owner };
    }
    return undefined;
  }
}

interface Settings {
  readonly file: string;
  /** Whether rtfig.toml has other settings for the task now. */
  readonly isChanged: (task: ScriptTask) => boolean;
}

async function openSettings(
  { workspace }: SelectedPackages,
  changes: ChangeSet,
  { config, cwd }: TaskRequest,
): Promise<Settings> {
  const { existsSync } = process.getBuiltinModule("node:fs");
  const { join, resolve } = process.getBuiltinModule("node:path");
  const given = config ? resolve(cwd, config.file) : join(workspace.root, "rtfig.toml");
  const file = existsSync(given) ? realPath(given) : given;
  if (!changes.files.includes(file)) return { file, isChanged: () => false };
  if (!config) return { file, isChanged: () => true };
  const { compareRules } = await import("../../config/tasks/changed-rules.ts");
  const isOther = compareRules(config, await changes.readBefore(file), cwd);
  const owners = new Map(workspace.members.map((member) => [member.directory, ownerOf(member)]));
  return {
    file,
    isChanged: ({ packageDirectory, scriptName }) => isOther(owners.get(packageDirectory)!, scriptName),
  };
}

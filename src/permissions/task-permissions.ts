// Gives the tasks of a run their permissions: rules, variables, temporary folder, trust and explanations.
//
// Invariants:
// - A task with permissions never starts without them: an unsupported system or missing trust ends the run before.
import { mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import { findSupport } from "../../platform/permissions/permissions.ts";
import { makeTemporaryFolder, removeTemporaryFolder } from "../../platform/files/temporary-folder.ts";
import type { Child, ChildRequest } from "../../platform/processes/contract/process-tree.ts";
import { host } from "../../platform/processes/process.ts";
import type { Trace, TracingOperations } from "../../platform/tracing/contract/tracing.ts";
import { type PermissionSettings, permissionsFor } from "../config/settings/permissions.ts";
import { findRoot } from "../config/root-project.ts";
import type { PermissionTable } from "../config/tasks/permission-table.ts";
import { wideningsOf } from "../config/tasks/permission-table.ts";
import type { TaskRule } from "../config/tasks/task-rules.ts";
import { reportLine } from "../output.ts";
import { oneLine } from "../printable.ts";
import { requirePermissionConsent } from "../secrets/trust/permission-consent.ts";
import { openOwnWorkspace } from "../workspace/members.ts";
import { computeProfile, describeProfile, type Profile } from "./profile.ts";
import { LearnedNeeds } from "./learned-needs.ts";
import { findHome, makeWritableFolders, resolveRules } from "./child-rules.ts";
import { openTracing, startObserved } from "./observed-start.ts";
import { describeFailure, describeLockedFailure, explainRefusal } from "./refusal-text.ts";
import type { ExplainedRefusal, StepPermissions } from "./step-permissions.ts";
import { checkSupport } from "./support-check.ts";
import type { EntryBase } from "./table-entries.ts";
import { findConnectionNeeds, findFileNeeds } from "./trace-needs.ts";
import { resolverVariables, selectVariables, type VariableRecord } from "./variables.ts";

/** A task, as far as its permissions depend on it. */
export interface PermittedTask {
  readonly packageDirectory: string;
  readonly scriptName: string;
  readonly label: string;
  readonly rule?: TaskRule | undefined;
  /** Only other tasks need it. */
  readonly isDependency?: boolean | undefined;
  /** Set for a file, code or a program, which has no row. `readable`: files that the user has named. */
  readonly target?: { readonly readable: readonly string[] } | undefined;
}

/** Counts when the defaults change, because they are part of the cache key. */
const VERSION_OF_DEFAULTS = 1;

/** Lines about refusals of one task. Malicious code may cause thousands. */
const MAX_EXPLAINED = 30;

export class TaskPermissions {
  readonly #settings: PermissionSettings;
  readonly #root: string;
  /** HOME without symlinks. */
  readonly #home: string;
  /** Private folder of the run, with a folder of temporary files for each task; made before the first task starts. */
  #temporary: string | undefined;
  /** The refusals that have been explained, for each task. */
  readonly #explained = new Map<string, Set<string>>();
  /** Set after `prepare` if steps are traced. */
  #tracing: TracingOperations | undefined;
  /** Set if the run proposes or checks tables. */
  readonly #learned: LearnedNeeds | undefined;
  #packages: readonly string[] | undefined;
  /** Most tasks of a package have the same. */
  readonly #profiles = new Map<string, Profile>();
  #isWarned = false;

  /** @param root folder of the root project */
  constructor(settings: PermissionSettings, root: string) {
    this.#settings = settings;
    this.#root = realpathSync(root);
    const { observation, config } = settings;
    if (observation && observation !== "explain")
      this.#learned = new LearnedNeeds(observation, config, this.#root);
    this.#home = findHome();
  }

  /** Returns the table of a task; undefined for a task without permissions. */
  tableOf({ rule, isDependency }: Pick<PermittedTask, "rule" | "isDependency">): PermissionTable | undefined {
    const isOwn = isDependency === true && this.#observesFreely;
    return permissionsFor(isOwn ? { ...this.#settings, asked: undefined } : this.#settings, rule);
  }

  /** Whether the named tasks run without limits. */
  get #observesFreely(): boolean {
    const { observation } = this.#settings;
    return observation === "learn" || observation === "write";
  }

  #isFree({ isDependency }: Pick<PermittedTask, "isDependency">): boolean {
    return this.#observesFreely && isDependency !== true;
  }

  isRestricted(task: Pick<PermittedTask, "rule" | "isDependency">): boolean {
    return this.tableOf(task) !== undefined;
  }

  /** Checks the system and trust before these tasks start. @throws UserError */
  async prepare(tasks: readonly PermittedTask[]): Promise<void> {
    const all = tasks.filter((task) => this.tableOf(task) !== undefined);
    if (this.#settings.observation) this.#tracing = await openTracing(`--${this.#settings.asked}`);
    await this.#prepareRestricted(all.filter((task) => !this.#isFree(task)));
    if (all.length === 0) return;
    this.#temporary ??= makeTemporaryFolder();
    for (const task of all) mkdirSync(this.temporaryOf(task)!, { recursive: true });
  }

  /** @throws UserError */
  async #prepareRestricted(restricted: readonly PermittedTask[]): Promise<void> {
    if (restricted.length === 0) return;
    const warning = checkSupport(await findSupport(), restricted, this.#settings.isLocked);
    if (warning !== undefined && !this.#isWarned) reportLine(warning);
    this.#isWarned = true;
    const widens = restricted.some((task) => wideningsOf("", this.tableOf(task)!).length > 0);
    if (widens) requirePermissionConsent(this.#settings.config!, this.#root);
    for (const task of restricted) {
      const table = this.tableOf(task)!;
      if (table.read || table.write)
        makeWritableFolders(this.#profileOf(task, table, ""), task.label, this.#root);
    }
  }

  /** Selects the variables and rules of a step; undefined for a task without permissions. @throws UserError */
  forStep(
    task: PermittedTask,
    environment: VariableRecord,
    original: VariableRecord,
    named: readonly string[],
  ): { readonly env: Record<string, string>; readonly permissions: StepPermissions } | undefined {
    const table = this.tableOf(task);
    if (!table) return undefined;
    const isFree = this.#isFree(task);
    const declared = [...named, ...(task.rule?.env ?? [])];
    // The user's git configuration is in HOME, which is closed.
    const env: Record<string, string> = {
      GIT_CONFIG_GLOBAL: "/dev/null",
      ...selectVariables(environment, original, declared),
      ...(!isFree && { RT_PERMISSIONS: "1" }),
    };
    // A task without a table of its own is learned against a project that it cannot write.
    const own = typeof task.rule?.permissions === "object" ? table : undefined;
    const limits = isFree && !own ? { ...table, write: [] } : table;
    const readRules = () =>
      resolveRules(this.#profileOf(task, limits, environment.PATH ?? ""), this.#home, temporary);
    const temporary = this.temporaryOf(task);
    let isRefused = false;
    const { isLocked } = this.#settings;
    const isTraced = this.#tracing !== undefined;
    const permissions: StepPermissions = {
      // Read when the step starts: a cache hit needs none, and an earlier task may have made a file that is hidden.
      get rules() {
        return readRules();
      },
      variables: {
        ...(temporary !== undefined && temporaryVariables(temporary)),
        ...resolverVariables(table.hosts, env),
      },
      explain: (refusal) => {
        const explained = this.#explain(task, table, refusal);
        isRefused ||= explained !== "unimportant";
        return typeof explained === "object" ? explained : undefined;
      },
      get lockedFailure() {
        return isLocked && isRefused ? describeLockedFailure(task) : undefined;
      },
      start: this.#tracing && ((request) => this.#startTraced(request, task, own)),
      get failure() {
        return isFree ? undefined : describeFailure(task, isTraced);
      },
      // An entry of a run without --locked may have had refusals.
      digest: JSON.stringify([VERSION_OF_DEFAULTS, table, ...(isLocked ? ["locked"] : [])]),
      ...(this.#settings.observation === "check" && this.#reviewOf(task, table, environment.PATH ?? "")),
    };
    return { env, permissions };
  }

  /** Other machines, and other packages in the project, may give a task with the same table other rules. */
  #reviewOf(
    task: PermittedTask,
    table: PermissionTable,
    path: string,
  ): Pick<StepPermissions, "digest" | "review"> {
    const [row, { packageDirectory }] = [rowOf(task), this.#baseOf(task)];
    const profile = JSON.stringify(this.#profileOf(task, table, path));
    const learned = this.#learned!;
    return {
      digest: `checked ${VERSION_OF_DEFAULTS} ${profile.replaceAll(this.#root, ".").replaceAll(this.#home, "~")}`,
      review: {
        findNeeds: (trace, rules) => findFileNeeds(trace, rules, this.#root),
        get hasRefusals() {
          return learned.has(row, packageDirectory);
        },
      },
    };
  }

  #startTraced(request: ChildRequest, task: PermittedTask, table: PermissionTable | undefined): Child {
    const { rules } = request.permissions!;
    const isEnforced = !this.#isFree(task);
    const findNeeds = (trace: Trace) => {
      const files = findFileNeeds(trace, rules, this.#root);
      if (isEnforced) return files;
      const calls = [...files, ...findConnectionNeeds(trace, rules)];
      this.#learned?.add(rowOf(task), { table, base: this.#baseOf(task), calls });
      return [];
    };
    return startObserved(request, { tracing: this.#tracing!, isEnforced, findNeeds });
  }

  #baseOf({ packageDirectory }: PermittedTask): EntryBase {
    return { root: this.#root, packageDirectory: realpathSync(packageDirectory), home: this.#home };
  }

  /** Returns "repeated" if the same line has been shown, or as many as are shown. */
  #explain(
    task: PermittedTask,
    table: PermissionTable,
    refusal: RefusedCall,
  ): ExplainedRefusal | "repeated" | "unimportant" {
    const [row, base] = [rowOf(task), this.#baseOf(task)];
    const otherPackages = this.#packagesBeside(base.packageDirectory);
    const explained = explainRefusal(
      {
        label: oneLine(task.label),
        section: task.target ? undefined : ["tasks", row, "permissions"],
        table,
        base,
        otherPackages,
      },
      refusal,
    );
    if (!explained) return "unimportant";
    const own = typeof task.rule?.permissions === "object" ? table : {};
    if (this.#settings.observation === "check")
      this.#learned!.add(row, { table: own, base, calls: [refusal] });
    const known = this.#explained.get(task.label) ?? new Set();
    this.#explained.set(task.label, known);
    const { kind, target, allow } = explained;
    // One line of rtfig.toml allows many files.
    const key = kind === "host" || kind === "name" || allow === undefined ? `${kind} ${target}` : allow;
    if (known.has(key) || known.size > MAX_EXPLAINED) return "repeated";
    known.add(key);
    if (known.size <= MAX_EXPLAINED) return explained;
    return { ...explained, message: `${oneLine(task.label)}: further refusals are not shown` };
  }

  /** Ends the run: proposes or checks tables. Returns the exit code of a run that was a success. @throws UserError */
  async conclude(ending: "success" | "failure" | "interrupt"): Promise<number> {
    if (!this.#learned) return 0;
    if (this.#observesFreely && ending === "failure") {
      reportLine("warning: no permissions are proposed, because the run failed");
      return 1;
    }
    if (this.#observesFreely && ending === "interrupt")
      reportLine("note: the run was interrupted, so these are the permissions that it needed until then");
    return await this.#learned.conclude();
  }

  #packagesBeside(packageDirectory: string): string[] {
    return this.#packageFolders().filter((folder) => folder !== packageDirectory);
  }

  /** Describes the permissions of a task for `--dry-run`; undefined for a task without. @throws UserError */
  describe(task: PermittedTask): readonly string[] | undefined {
    const table = this.tableOf(task);
    return (
      table && describeProfile(this.#profileOf(task, table, host.originalVariable("PATH") ?? ""), this.#root)
    );
  }

  /** Removes the temporary files. */
  close(): void {
    if (this.#temporary !== undefined) removeTemporaryFolder(this.#temporary);
    this.#temporary = undefined;
  }

  #profileOf({ packageDirectory, target }: PermittedTask, table: PermissionTable, path: string): Profile {
    const own = realpathSync(packageDirectory);
    const key = JSON.stringify([own, table, path, target?.readable]);
    const known = this.#profiles.get(key);
    if (known) return known;
    const profile = computeProfile(table, {
      named: target?.readable ?? [],
      root: this.#root,
      packageDirectory: own,
      home: this.#home,
      path: path.split(":"),
      otherPackages: this.#packagesBeside(own),
      isRoot: process.getuid?.() === 0,
    });
    this.#profiles.set(key, profile);
    return profile;
  }

  /** The root and its packages, also those whose package.json is invalid. */
  #packageFolders(): readonly string[] {
    if (this.#packages) return this.#packages;
    const { members, broken } = openOwnWorkspace(this.#root);
    const invalid = broken.filter(({ isFolder }) => !isFolder).map(({ file }) => dirname(file));
    this.#packages = [...new Set([this.#root, ...members.map(({ directory }) => directory), ...invalid])];
    return this.#packages;
  }

  /** Returns the folder of temporary files, which the task can write; undefined before `prepare`. */
  temporaryOf({ packageDirectory, scriptName }: PermittedTask): string | undefined {
    const name = Bun.hash(`${packageDirectory}\0${scriptName}`).toString(36);
    return this.#temporary === undefined ? undefined : join(this.#temporary, name);
  }
}

function rowOf({ rule, scriptName }: PermittedTask): string {
  return rule?.sources.permissions ?? scriptName;
}

/** Opens the permissions of the root project's tasks. @throws UserError, PackageJsonError */
export function openTaskPermissions(settings: PermissionSettings, cwd: string): TaskPermissions {
  return new TaskPermissions(settings, findRoot(cwd) ?? cwd);
}

function temporaryVariables(folder: string): Record<string, string> {
  return {
    TMPDIR: folder,
    TMP: folder,
    TEMP: folder,
    // Programs make it, as on a new machine.
    XDG_CONFIG_HOME: join(folder, "config"),
    // nx refuses the folder of temporary files itself.
    NX_SOCKET_DIR: join(folder, "nx"),
    // By default nx copies its library to /tmp.
    NX_NATIVE_FILE_CACHE_DIRECTORY: join(folder, "nx-library"),
  };
}

// Gives the tasks of a run their permissions: rules, variables, temporary folder, trust and explanations.
//
// Invariants:
// - A task with permissions never starts without them: an unsupported system or missing trust ends the run before.
// Non-obvious:
// - Observation, consent and explanations are imported on demand, because loading them takes longer than a start.
import { dirname, join } from "node:path";
import type { RefusedCall } from "../../platform/permissions/contract/permissions.ts";
import { findSupport } from "../../platform/permissions/permissions.ts";
import { realPath } from "../../platform/files/real-path.ts";
import { host } from "../../platform/processes/process.ts";
import { type PermissionSettings, permissionsFor } from "../config/settings/permissions.ts";
import { findRoot } from "../config/root-project.ts";
import { type PermissionTable, wideningsOf } from "../config/tasks/permission-table.ts";
import type { TaskRule } from "../config/tasks/task-rules.ts";
import { reportLine } from "../output.ts";
import { openOwnWorkspace } from "../workspace/members.ts";
import { computeProfile, describeProfile, type Profile } from "./profile.ts";
import { findHome, listOwnFolders, makeWritableFolders, resolveRules } from "./child-rules.ts";
import type { RefusalExplainer } from "./refusal-explainer.ts";
import type { ExplainedRefusal, StepPermissions } from "./step-permissions.ts";
import { checkRepository } from "./repository-credentials.ts";
import { checkSupport } from "./support-check.ts";
import type { EntryBase } from "./table-entries.ts";
import type { TaskObservation } from "./task-observation.ts";
import { TemporaryFolders } from "./temporary-folders.ts";
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
const VERSION_OF_DEFAULTS = 2;

export class TaskPermissions {
  readonly #settings: PermissionSettings;
  readonly #root: string;
  /** HOME without symlinks. */
  readonly #home: string;
  /** Set before the first task starts. */
  #temporary: TemporaryFolders | undefined;
  /** Set after the first refusal. */
  #explainer: RefusalExplainer | undefined;
  /** Set after `prepare` if steps are traced. */
  #observation: TaskObservation | undefined;
  #packages: readonly string[] | undefined;
  /** Most tasks of a package have the same. */
  readonly #profiles = new Map<string, Profile>();
  #isWarned = false;

  /** @param root folder of the root project */
  constructor(settings: PermissionSettings, root: string) {
    this.#settings = settings;
    this.#root = realPath(root);
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
    await this.#openObservation();
    await this.#prepareRestricted(all.filter((task) => !this.#isFree(task)));
    if (all.length === 0) return;
    this.#temporary ??= new TemporaryFolders();
  }

  /** @throws UserError */
  async #openObservation(): Promise<void> {
    if (!this.#settings.observation || this.#observation) return;
    const { openObservation } = await import("./task-observation.ts");
    this.#observation = openObservation(this.#settings, this.#root);
  }

  /** @throws UserError */
  async #prepareRestricted(restricted: readonly PermittedTask[]): Promise<void> {
    if (restricted.length === 0) return;
    const { isLocked } = this.#settings;
    const warnings = [
      checkSupport(await findSupport(), restricted, isLocked),
      checkRepository(this.#root, isLocked),
    ];
    for (const warning of warnings) if (warning !== undefined && !this.#isWarned) reportLine(warning);
    this.#isWarned = true;
    const widens = restricted.some((task) => wideningsOf("", this.tableOf(task)!).length > 0);
    if (widens) {
      const { requirePermissionConsent } = await import("../secrets/trust/permission-consent.ts");
      requirePermissionConsent(this.#settings.config!, this.#root);
    }
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
    start?: StepPermissions["start"],
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
    const observation = this.#observation;
    const observed = () => ({ row: rowOf(task), base: this.#baseOf(task), table: own, isFree });
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
        if (explained === "unimportant") return undefined;
        isRefused = true;
        observation?.addRefusal(observed(), refusal);
        return explained === "repeated" ? undefined : explained;
      },
      get lockedFailure() {
        return isLocked && isRefused ? refusalTexts().describeLockedFailure(task) : undefined;
      },
      start: observation ? (request) => observation.start(request, observed()) : start,
      get failure() {
        return isFree ? undefined : refusalTexts().describeFailure(task, observation !== undefined);
      },
      // An entry of a run without --locked may have had refusals.
      digest: JSON.stringify([VERSION_OF_DEFAULTS, table, ...(isLocked ? ["locked"] : [])]),
      ...observation?.reviewOf(observed(), VERSION_OF_DEFAULTS, () =>
        this.#profileOf(task, table, environment.PATH ?? ""),
      ),
    };
    return { env, permissions };
  }

  #baseOf({ packageDirectory }: PermittedTask): EntryBase {
    return { root: this.#root, packageDirectory: realPath(packageDirectory), home: this.#home };
  }

  #explain(
    task: PermittedTask,
    table: PermissionTable,
    refusal: RefusedCall,
  ): ExplainedRefusal | "repeated" | "unimportant" {
    this.#explainer ??= new (refusalExplainers().RefusalExplainer)();
    const base = this.#baseOf(task);
    const { label } = task;
    const section = task.target ? undefined : ["tasks", rowOf(task), "permissions"];
    const otherPackages = this.#packagesBeside(base.packageDirectory);
    return this.#explainer.explain({ label, section, table, base, otherPackages }, refusal);
  }

  /** Ends the run: proposes or checks tables. Returns the exit code of a run that was a success. @throws UserError */
  async conclude(ending: "success" | "failure" | "interrupt"): Promise<number> {
    await this.#openObservation();
    return this.#observation ? await this.#observation.conclude(ending) : 0;
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
    this.#temporary?.remove();
    this.#temporary = undefined;
  }

  #profileOf({ packageDirectory, target }: PermittedTask, table: PermissionTable, path: string): Profile {
    const own = realPath(packageDirectory);
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
      ownFolders: table.write ? listOwnFolders() : [],
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
  temporaryOf(task: PermittedTask): string | undefined {
    return this.#temporary?.of(keyOf(task));
  }

  /** Gives the folder of a task that has ended, and is not traced, to other tasks. On macOS, processes of the task may be left. */
  release(task: PermittedTask): void {
    if (host.system.startsWith("linux") && !this.#settings.observation) this.#temporary?.release(keyOf(task));
  }
}

function keyOf({ packageDirectory, scriptName }: PermittedTask): string {
  return `${packageDirectory}\0${scriptName}`;
}

function rowOf({ rule, scriptName }: PermittedTask): string {
  return rule?.sources.permissions ?? scriptName;
}

/** Synchronous, as the report of a refusal is. */
function refusalExplainers() {
  return require("./refusal-explainer.ts") as typeof import("./refusal-explainer.ts");
}

function refusalTexts() {
  return require("./refusal-text.ts") as typeof import("./refusal-text.ts");
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

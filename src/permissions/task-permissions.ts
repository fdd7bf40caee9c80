// Gives the tasks of a run their permissions: rules, variables, temporary folder, trust and explanations.
//
// Invariants:
// - A task with permissions never starts without them: an unsupported system or missing trust ends the run before.
// - A rule of the table or the project is for the folder itself. A symlink in its place is an error, because an earlier task may
//   have made it.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { FileRule, PermissionRules } from "../../platform/permissions/contract/permissions.ts";
import { findSupport, listTerminals } from "../../platform/permissions/permissions.ts";
import { temporaryDirectory } from "../../platform/files/temporary-directory.ts";
import { host } from "../../platform/processes/process.ts";
import { type PermissionSettings, permissionsFor } from "../config/settings/permissions.ts";
import { findRoot } from "../config/root-project.ts";
import type { PermissionTable } from "../config/tasks/permission-table.ts";
import { wideningsOf } from "../config/tasks/permission-table.ts";
import type { TaskRule } from "../config/tasks/task-rules.ts";
import { reportLine } from "../output.ts";
import { oneLine, printable } from "../printable.ts";
import { requirePermissionConsent } from "../secrets/trust/permission-consent.ts";
import { UserError } from "../user-error.ts";
import { isWithin } from "../workspace/member-match.ts";
import { openOwnWorkspace } from "../workspace/members.ts";
import { computeProfile, describeProfile, type Profile } from "./profile.ts";
import { describeFailure, describeRefusal } from "./refusal-text.ts";
import type { StepPermissions } from "./step-permissions.ts";
import { selectVariables, type VariableRecord } from "./variables.ts";

/** A task, as far as its permissions depend on it. */
export interface PermittedTask {
  readonly packageDirectory: string;
  readonly scriptName: string;
  readonly label: string;
  readonly rule?: TaskRule | undefined;
}

/** Counts when the defaults change, because they are part of the cache key. */
const VERSION_OF_DEFAULTS = 1;

/** `.env`, `.env.local` and so on; examples have no secrets. */
const ENV_FILE = /^\.env(?:\.(?!example$|sample$|template$|defaults$|schema$).+)?$/;

export class TaskPermissions {
  readonly #settings: PermissionSettings;
  readonly #root: string;
  /** HOME without symlinks. */
  readonly #home: string;
  /** Private folder of the run, with a folder of temporary files for each task; made before the first task starts. */
  #temporary: string | undefined;
  readonly #explained = new Set<string>();
  #packages: readonly string[] | undefined;
  #isWarned = false;

  /** @param root folder of the root project */
  constructor(settings: PermissionSettings, root: string) {
    this.#settings = settings;
    this.#root = realpathSync(root);
    const home = host.originalVariable("HOME") ?? "";
    this.#home = (home.startsWith("/") ? resolved(home) : undefined) ?? "/nonexistent";
  }

  /** Returns the table of a task; undefined for a task without permissions. */
  tableOf({ rule }: Pick<PermittedTask, "rule">): PermissionTable | undefined {
    return permissionsFor(this.#settings, rule);
  }

  isRestricted(task: Pick<PermittedTask, "rule">): boolean {
    return this.tableOf(task) !== undefined;
  }

  /** Checks the system and trust before these tasks start. @throws UserError */
  async prepare(tasks: readonly PermittedTask[]): Promise<void> {
    const restricted = tasks.filter((task) => this.tableOf(task) !== undefined);
    if (restricted.length === 0) return;
    const { obstacle, missing } = await findSupport();
    if (obstacle !== undefined)
      throw new UserError(
        `The permissions of ${restricted.map(({ label }) => oneLine(label)).join(", ")} cannot be enforced: ${obstacle}`,
        "to run without permissions: rt run --no-permissions",
      );
    if (missing.length > 0 && !this.#isWarned)
      reportLine(`warning: permissions do not cover ${missing.join(", ")} on this kernel`);
    this.#isWarned = true;
    const widens = restricted.some((task) => wideningsOf("", this.tableOf(task)!).length > 0);
    if (widens) requirePermissionConsent(this.#settings.config!, this.#root);
    this.#temporary ??= mkdtempSync(join(realpathSync(temporaryDirectory()), "rt-"));
    for (const task of restricted) {
      mkdirSync(configFolder(this.#temporaryOf(task)!), { recursive: true });
      this.#makeWritableFolders(task);
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
    const declared = [...named, ...(task.rule?.env ?? [])];
    // The user's git configuration is in HOME, which is closed.
    const env: Record<string, string> = {
      GIT_CONFIG_GLOBAL: "/dev/null",
      ...selectVariables(environment, original, declared),
      RT_PERMISSIONS: "1",
    };
    const readRules = () =>
      this.#resolveRules(this.#profileOf(task, table, environment.PATH ?? ""), temporary);
    const row = task.rule?.sources.permissions ?? task.scriptName;
    const temporary = this.#temporaryOf(task);
    const permissions: StepPermissions = {
      // Read when the step starts: a cache hit needs none, and an earlier task may have made a file that is hidden.
      get rules() {
        return readRules();
      },
      variables: temporary === undefined ? {} : temporaryVariables(temporary),
      explain: (refusal) => {
        const key = JSON.stringify([task.label, refusal.kind, refusal.target]);
        if (this.#explained.has(key)) return undefined;
        this.#explained.add(key);
        return describeRefusal(oneLine(task.label), row, refusal);
      },
      failure: describeFailure(oneLine(task.label)),
      digest: JSON.stringify([VERSION_OF_DEFAULTS, table]),
    };
    return { env, permissions };
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
    if (this.#temporary === undefined) return;
    try {
      rmSync(this.#temporary, { recursive: true, force: true });
    } catch {
      // Files that cannot be removed stay in the system's temporary folder.
    }
    this.#temporary = undefined;
  }

  #profileOf({ packageDirectory }: PermittedTask, table: PermissionTable, path: string): Profile {
    const own = realpathSync(packageDirectory);
    return computeProfile(table, {
      root: this.#root,
      packageDirectory: own,
      home: this.#home,
      path: path.split(":"),
      otherEnvFiles: this.#packageFolders()
        .filter((folder) => folder !== own)
        .flatMap(listEnvFiles),
      isRoot: process.getuid?.() === 0,
    });
  }

  /** The root and its packages. */
  #packageFolders(): readonly string[] {
    this.#packages ??= [
      ...new Set([this.#root, ...openOwnWorkspace(this.#root).members.map(({ directory }) => directory)]),
    ];
    return this.#packages;
  }

  /** Undefined before `prepare`. */
  #temporaryOf({ packageDirectory, scriptName }: PermittedTask): string | undefined {
    const name = Bun.hash(`${packageDirectory}\0${scriptName}`).toString(36);
    return this.#temporary === undefined ? undefined : join(this.#temporary, name);
  }

  #resolveRules(
    { rules, hidden, sockets, network }: Profile,
    temporary: string | undefined,
  ): PermissionRules {
    const files: FileRule[] = [...ownFiles()];
    for (const rule of rules) {
      const path = rule.source === "project" || rule.source === "table" ? rule.path : resolved(rule.path);
      if (path !== undefined && !isWithin(this.#home, path)) files.push({ path, access: rule.access });
    }
    if (temporary !== undefined) files.push({ path: temporary, access: "write" });
    const folders = [...sockets, ...(temporary === undefined ? [] : [temporary])];
    return {
      files,
      hidden: hidden.filter((path) => existsSync(path)),
      sockets: folders.map((path) => resolved(path) ?? path),
      network,
    };
  }

  /** Makes the folders that the table names and that do not exist, because a rule needs one. @throws UserError */
  #makeWritableFolders(task: PermittedTask): void {
    const table = this.tableOf(task)!;
    if (!table.read && !table.write) return;
    const { rules } = this.#profileOf(task, table, "");
    for (const { path, access, source } of rules) {
      if (source !== "table") continue;
      const end = resolveEnd(path);
      if (end.real !== end.written)
        throw new UserError(
          `${oneLine(task.label)}: "${printable(end.written)}" in permissions is a link to "${printable(end.real)}"`,
          "name the folder that it leads to",
        );
      if (access === "write" && end.written !== path && isWithin(path, this.#root))
        mkdirSync(path, { recursive: true });
    }
  }
}

/** Opens the permissions of the root project's tasks. @throws UserError, PackageJsonError */
export function openTaskPermissions(settings: PermissionSettings, cwd: string): TaskPermissions {
  return new TaskPermissions(settings, findRoot(cwd) ?? cwd);
}

/** The longest part of a path that exists, and the same part without symlinks. */
function resolveEnd(path: string): { readonly written: string; readonly real: string } {
  for (let written = path; ; written = join(written, "..")) {
    const real = resolved(written);
    if (real !== undefined) return { written, real };
    if (isLink(written)) return { written, real: "" };
  }
}

function isLink(path: string): boolean {
  try {
    readlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns undefined for a path that does not exist. */
function resolved(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Files that rt and every program need, wherever they are. */
function ownFiles(): FileRule[] {
  const files = [process.execPath, "/etc/resolv.conf", "/etc/localtime"].map((path) => resolved(path));
  const readable = files.flatMap((path): FileRule[] =>
    path === undefined ? [] : [{ path, access: "read" }],
  );
  const terminals = listTerminals().map((path): FileRule => ({ path, access: "device" }));
  return [...readable, ...terminals];
}

function listEnvFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => ENV_FILE.test(name))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function configFolder(temporary: string): string {
  return join(temporary, "config");
}

function temporaryVariables(folder: string): Record<string, string> {
  return {
    TMPDIR: folder,
    TMP: folder,
    TEMP: folder,
    XDG_CONFIG_HOME: configFolder(folder),
    NX_SOCKET_DIR: folder,
  };
}

// Tasks and hits that are restored from a run memo, with only what reporters need.
//
// Non-obvious: package.json is read again only for a task that runs normally. Tasks that are still pending when the
// first script starts read it before, because the script may change it.
import type { CacheHit, CachedRun } from "../../../cache/cached-script.ts";
import type { ScriptTask } from "../../../tasks/task.ts";
import { withCommands } from "../../../config/tasks/task-rules.ts";
import type { TaskPlan } from "../../../tasks/planning/plan.ts";
import { type PackageJson, readPackageJson } from "../../../workspace/package-json.ts";

/** A plan without data that is not needed for hits. */
export interface MemoizedPlan extends Pick<TaskPlan, "waitsFor" | "packageCount"> {
  readonly tasks: readonly (Omit<ScriptTask, "index" | "manifest" | "args"> & {
    /** Number of arguments, which are the last words of the command line. */
    readonly argCount: number;
  })[];
}

/** Reads package.json on demand. */
export class MemoizedTask implements ScriptTask {
  readonly index: number;
  readonly packageName: string;
  readonly packageDirectory: string;
  readonly scriptName: string;
  readonly label: string;
  readonly steps: ScriptTask["steps"];
  readonly args: readonly string[];
  readonly isDependency: boolean;
  readonly service: string | undefined;
  readonly rule: ScriptTask["rule"];
  #manifest: PackageJson | undefined;

  constructor(
    {
      packageName,
      packageDirectory,
      scriptName,
      label,
      steps,
      isDependency = false,
      service,
      rule,
      argCount,
    }: MemoizedPlan["tasks"][number],
    index: number,
    args: readonly string[],
  ) {
    this.index = index;
    this.packageName = packageName;
    this.packageDirectory = packageDirectory;
    this.scriptName = scriptName;
    this.label = label;
    this.steps = steps;
    this.args = args.slice(args.length - argCount);
    this.isDependency = isDependency;
    this.service = service;
    this.rule = rule;
  }

  get manifest(): PackageJson {
    return (this.#manifest ??= withCommands(readPackageJson(this.packageDirectory) ?? {}, this.#commands));
  }

  /** A command of [tasks] is not in package.json. */
  get #commands(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.steps.filter(({ isMain }) => isMain).map(({ scriptName, command }) => [scriptName, command]),
    );
  }
}

export class MemoizedHitTask implements CachedRun {
  readonly inputs = undefined;
  readonly basis = undefined;
  readonly outdatedBy = undefined;
  readonly isFaulty = false;
  readonly isShared = false;
  readonly why: string;
  readonly hit: CacheHit;

  constructor(why: string, hit: CacheHit) {
    this.why = why;
    this.hit = hit;
  }

  start(): never {
    throw new Error("a hit starts nothing");
  }

  keepOutput(): void {}

  environmentOf(): Readonly<Record<string, string>> {
    return {};
  }

  async close(): Promise<readonly string[]> {
    return [];
  }

  async take(): Promise<boolean> {
    return false;
  }

  async readFailure(): Promise<undefined> {
    return undefined;
  }
}

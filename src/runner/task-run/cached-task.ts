// Scripts that are not run again when nothing has changed: what src/cache has to know of how they would be started.
//
// Surprising: a script that is kept is not rt's successor, as others are: rt stands by, sees what it does, and passes on
// what it writes. So it has pipes instead of the terminal, and an empty standard input.
import { openCached, whyRuleFails } from "../../cache/cache.ts";
import type { CachedScript } from "../../cache/cached-script.ts";
import type { SharedCache } from "../../cache/shared-cache.ts";
import { type CacheSettings, ruleFor } from "../../config/settings/cache.ts";
import type { CachedTask, CacheReason, SpawnCommand, CommandRequest, ScriptTask } from "../../tasks/task.ts";
import { textField } from "../../workspace/package-json.ts";
import type { ExecutionPlan } from "../plan.ts";
import { taskOf } from "../single-task.ts";

export { invalidateStatCache, saveFileHashes } from "../../cache/cache.ts";

/** How scripts would be started. */
export interface StepFactory {
  commandFor(request: CommandRequest): SpawnCommand;
  /** Variables that they are given because options name them. */
  readonly named: readonly string[];
}

interface Notice {
  readonly notice: string;
}

/** As `TaskRequest.openCached`. */
export async function openCachedTask(
  task: ScriptTask,
  extra: Readonly<Record<string, string>>,
  settings: CacheSettings,
  starting: StepFactory,
  shared: SharedCache | undefined,
): Promise<CachedTask | Notice | undefined> {
  const script = describeScript(task, extra, settings, starting);
  return script && "notice" in script ? script : script && (await openCached(script, settings, shared));
}

/** As `TaskRequest.explainCached`. */
export async function explainTask(
  task: ScriptTask,
  extra: Readonly<Record<string, string>>,
  settings: CacheSettings,
  starting: StepFactory,
  shared: SharedCache | undefined,
): Promise<CacheReason | undefined> {
  const script = describeScript(task, extra, settings, starting);
  const opened =
    script && "notice" in script ? script : script && (await openCached(script, settings, shared, "look"));
  if (!opened) return undefined;
  if ("notice" in opened) return { isHit: false, why: opened.notice };
  const remote = settings.remote && (shared ? (shared.isRead ? "asked" : "no answer") : "not asked");
  return { isHit: opened.hit !== undefined, why: opened.why, remote };
}

function describeScript(
  task: ScriptTask,
  extra: Readonly<Record<string, string>>,
  settings: CacheSettings,
  starting: StepFactory,
): CachedScript | Notice | undefined {
  const { packageDirectory, manifest, scriptName, label } = task;
  const packageName = textField(manifest, "name");
  if (!ruleFor(settings, packageName, scriptName)) return undefined;
  const steps = [];
  for (const step of task.steps) {
    const command = starting.commandFor({
      packageDirectory,
      manifest,
      scriptName: step.scriptName,
      args: step.isMain ? task.args : [],
      isMain: step.isMain,
      isCollected: false,
    });
    // What it writes would be kept with them in it.
    if (step.secrets) return { notice: `${label} is not cached, since it is given secrets` };
    if (command.program === undefined) return undefined;
    const { program, argv, env } = command;
    steps.push({ event: step.scriptName, program, argv, env: { ...extra, ...env } });
  }
  return { label, packageName, packageDirectory, scriptName, steps, named: starting.named };
}

/** Why a script of those is not cached; "" where nobody has to be told. */
export async function whyNotCached(
  { manifest, scriptName }: ScriptTask,
  settings: CacheSettings,
): Promise<string | undefined> {
  const rule = ruleFor(settings, textField(manifest, "name"), scriptName);
  return rule && (await whyRuleFails(rule));
}

/** Undefined for a script that is none of those. */
export function planCached(
  plan: Extract<ExecutionPlan, { mode: "script" }>,
  settings: CacheSettings,
): ScriptTask | undefined {
  const { name, package: located } = plan.target;
  return ruleFor(settings, textField(located.manifest, "name"), name) && taskOf(plan);
}

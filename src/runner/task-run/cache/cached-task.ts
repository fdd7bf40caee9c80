// Connects tasks with the script cache (src/cache): describes how a script would be started.
//
// Non-obvious: rt does not become a cached script, because it traces the script and records its output. The script
// has pipes instead of the terminal, and an empty standard input.
import { forbidReplay } from "../../../../platform/files/lookup-recorder.ts";
import { type Notice, type RunCache, whyRuleFails } from "../../../cache/run-cache.ts";
import { InputRecordFinder } from "../../../cache/tracing/input-records.ts";
import type { CachedScript } from "../../../cache/cached-script.ts";
import { type CacheSettings, ruleFor } from "../../../config/settings/cache.ts";
import { packageOf } from "../../../config/script-package.ts";
import type { CachedRun } from "../../../cache/cached-script.ts";
import type { CacheReason } from "../../../tasks/task-cache.ts";
import type { SpawnCommand, CommandRequest, ScriptTask } from "../../../tasks/task.ts";
import { textField } from "../../../workspace/package-json.ts";
import type { ScriptPlan } from "../../plan.ts";
import { taskOf } from "../../single-task.ts";

export { RunCache } from "../../../cache/run-cache.ts";

export interface StepFactory {
  commandFor(request: CommandRequest): SpawnCommand;
  /** Variables that scripts get because options name them. */
  readonly named: readonly string[];
}

/** Implements `TaskCache.open`. */
export async function openCachedTask(
  task: ScriptTask,
  extra: Readonly<Record<string, string>>,
  cache: RunCache,
  starting: StepFactory,
): Promise<CachedRun | Notice | undefined> {
  const script = describeScript(task, extra, cache.settings, starting);
  return script && "notice" in script ? script : script && (await cache.open(script, "use"));
}

/** Implements `TaskCache.explain`. */
export async function explainTask(
  task: ScriptTask,
  extra: Readonly<Record<string, string>>,
  cache: RunCache,
  starting: StepFactory,
): Promise<CacheReason | undefined> {
  const { settings, shared } = cache;
  const script = describeScript(task, extra, settings, starting);
  const opened = script && "notice" in script ? script : script && (await cache.open(script, "look"));
  if (!opened) return undefined;
  if ("notice" in opened) return { isHit: false, why: opened.notice };
  const remote = settings.remote && (shared ? (shared.isRead ? "asked" : "no answer") : "not asked");
  return { isHit: opened.hit !== undefined, why: opened.why, remote };
}

export function openRecords(cache: RunCache, starting: StepFactory) {
  const finder = new InputRecordFinder();
  return async (task: ScriptTask, extra: Readonly<Record<string, string>>) => {
    const script = describeScript(task, extra, cache.settings, starting);
    return script && !("notice" in script) ? await cache.findRecord(script, finder) : undefined;
  };
}

function describeScript(
  task: ScriptTask,
  extra: Readonly<Record<string, string>>,
  settings: CacheSettings,
  starting: StepFactory,
): CachedScript | Notice | undefined {
  const { packageDirectory, manifest, scriptName, label } = task;
  const packageName = textField(manifest, "name");
  if (!ruleFor(settings, packageOf(task), scriptName)) return undefined;
  const steps = [];
  let permissions: SpawnCommand["permissions"];
  for (const step of task.steps) {
    const command = starting.commandFor({
      task,
      packageDirectory,
      manifest,
      scriptName: step.scriptName,
      args: step.isMain ? task.args : [],
      isMain: step.isMain,
      isDependency: task.isDependency ?? false,
      isCollected: false,
    });
    // The secrets would be in the recorded output.
    if (step.secrets) return { notice: `${label} is not cached: it receives secrets` };
    if (command.program === undefined) return undefined;
    const { program, argv, env } = command;
    steps.push({ event: step.scriptName, program, argv, env: { ...extra, ...env } });
    ({ permissions } = command);
  }
  const { named } = starting;
  const { digest, review } = permissions ?? {};
  const described = { label, packageName, packageDirectory, scriptName, steps, named };
  return { ...described, permissions: digest, review };
}

/** The reason why a script with a cache rule cannot be cached; "" if it needs no message. */
export async function whyNotCached(task: ScriptTask, settings: CacheSettings): Promise<string | undefined> {
  forbidReplay(); // what the system can trace is not recorded
  const rule = ruleFor(settings, packageOf(task), task.scriptName);
  return rule && whyRuleFails(rule);
}

/** Undefined for a script without a cache rule. */
export function planCached(plan: ScriptPlan, settings: CacheSettings): ScriptTask | undefined {
  const task = taskOf(plan);
  return ruleFor(settings, packageOf(task), task.scriptName) && task;
}

// Creates the cache of a run for src/tasks.
//
// Non-obvious: src/cache is loaded for the first task that is looked up, because a memoized run does not need it.
import type { RunCache } from "../../../cache/run-cache.ts";
import type { Config } from "../../../config/rtfig.ts";
import { type CacheSettings, ruleFor } from "../../../config/settings/cache.ts";
import { packageOf } from "../../../config/script-package.ts";
import type { ManySettings } from "../../../config/settings/many.ts";
import { environmentOfCached } from "../../../reporters/reporter-selection.ts";
import type { TaskRequest } from "../../../tasks/task.ts";
import type { TaskCache } from "../../../tasks/task-cache.ts";
import type { StepFactory } from "./cached-task.ts";

interface TaskCacheOptions {
  readonly many: Pick<ManySettings, "dryRun" | "share">;
  readonly config: Config | undefined;
  readonly cwd: string;
  readonly starting: StepFactory;
  /** The environment of rt. */
  readonly env: TaskRequest["env"];
  /** The cache, if the caller has opened it. */
  readonly opened: RunCache | undefined;
}

export function createTaskCache(
  settings: CacheSettings,
  { many, config, cwd, starting, env, opened }: TaskCacheOptions,
): TaskCache {
  let cache = opened;
  let hasStarted = false;
  let loading: Promise<typeof import("./cached-task.ts")> | undefined;
  const load = async () => {
    const module = await (loading ??= import("./cached-task.ts"));
    return { module, cache: (cache ??= new module.RunCache(settings)) };
  };
  return {
    isExplained: settings.isExplained,
    async connect(tasks, printLine) {
      if (!settings.remote || (many.dryRun !== undefined && !settings.asksWhenDry)) return undefined;
      const { openRemoteCache } = await import("../remote/remote-cache.ts");
      const shared = await openRemoteCache(settings, tasks, config, cwd, many.share !== undefined);
      shared?.listen(printLine);
      (await load()).cache.shared = shared;
      return shared;
    },
    async open(task, extra) {
      const { module, cache } = await load();
      if (hasStarted) cache.invalidateStats();
      return await module.openCachedTask(task, extra, cache, starting);
    },
    mayHit(task) {
      const isRead = settings.isRead || (settings.remote?.isRead ?? false);
      const hasSecrets = task.steps.some(({ secrets }) => secrets !== undefined);
      return isRead && !hasSecrets && ruleFor(settings, packageOf(task), task.scriptName) !== undefined;
    },
    async explain(task, extra) {
      const { module, cache } = await load();
      return await module.explainTask(task, extra, cache, starting);
    },
    async openRecords() {
      const { module, cache } = await load();
      const find = module.openRecords(cache, starting);
      return async (task) => await find(task, environmentOfCached({ env }));
    },
    beforeStart() {
      hasStarted = true;
      cache?.invalidateStats();
    },
    close: () => cache?.save(),
  };
}

// Creates what src/tasks needs to run tasks on a server; src/remote-execution runs them.
import type { Config } from "../../../config/rtfig.ts";
import { packageOf } from "../../../config/script-package.ts";
import { type CacheSettings, ruleFor } from "../../../config/settings/cache.ts";
import { type RemoteSettings, remoteScript } from "../../../config/settings/remote.ts";
import type { ScriptSettings } from "../../../config/settings/script.ts";
import type { RemoteRunner } from "../../../tasks/execution/placement.ts";
import type { ScriptTask, TaskRestrictions } from "../../../tasks/task.ts";

interface RemoteRunnerOptions {
  readonly cache: CacheSettings | undefined;
  readonly script: ScriptSettings;
  readonly config: Config | undefined;
  readonly cwd: string;
  readonly permissions: TaskRestrictions | undefined;
}

export function createRemoteRunner(
  remote: RemoteSettings,
  { cache, script, config, cwd, permissions }: RemoteRunnerOptions,
): RemoteRunner {
  function obstacleOf(task: ScriptTask): string | undefined {
    if (task.steps.some(({ secrets }) => secrets !== undefined))
      return "it receives secrets, which are never sent to another machine";
    if (permissions?.isRestricted(task)) return "it has permissions, which servers do not enforce";
    if (task.rule?.service) return "it is a service";
    if (task.rule?.interactive) return "it is interactive";
    return task.service && `it needs the service "${task.service}", which runs on this machine`;
  }
  return {
    eligibilityOf(task) {
      const { scriptName } = task;
      return {
        server: remote.url,
        isAsked: remote.isAsked,
        isDeclared: remoteScript(remote, packageOf(task), scriptName).isRemote,
        isCached: cache !== undefined && ruleFor(cache, packageOf(task), scriptName) !== undefined,
        obstacle: obstacleOf(task),
      };
    },
    async open(tasks, order) {
      const { authorizeRemote } = await import("./remote-consent.ts");
      const allowed = await authorizeRemote(remote, config, cwd);
      const { openRemote } = await import("../../../remote-execution/remote-run.ts");
      return await openRemote(tasks, order, allowed, script);
    },
    async preview(tasks, order) {
      const { withoutSecrets } = await import("./remote-consent.ts");
      const allowed = withoutSecrets(remote, config, cwd, false);
      const { previewRemote } = await import("../../../remote-execution/remote-run.ts");
      return await previewRemote(tasks, order, allowed, script);
    },
  };
}

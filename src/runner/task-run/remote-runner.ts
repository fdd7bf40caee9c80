// Creates what src/tasks needs to run tasks on a server; src/remote-execution runs them.
import type { Config } from "../../config/rtfig.ts";
import { packageOf } from "../../config/script-package.ts";
import { type CacheSettings, ruleFor } from "../../config/settings/cache.ts";
import { type RemoteSettings, remoteScript } from "../../config/settings/remote.ts";
import type { ScriptSettings } from "../../config/settings/script.ts";
import type { RemoteRunner } from "../../tasks/execution/placement.ts";
import type { TaskRestrictions } from "../../tasks/task.ts";

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
  return {
    eligibilityOf(task) {
      const { scriptName, steps } = task;
      const hasSecrets = steps.some(({ secrets }) => secrets !== undefined);
      return {
        server: remote.url,
        isAsked: remote.isAsked,
        isDeclared: remoteScript(remote, packageOf(task), scriptName).isRemote,
        isCached: cache !== undefined && ruleFor(cache, packageOf(task), scriptName) !== undefined,
        obstacle: hasSecrets
          ? "it receives secrets, which are never sent to another machine"
          : permissions?.isRestricted(task)
            ? "it has permissions, which servers do not enforce"
            : undefined,
      };
    },
    async open(tasks, order) {
      const { authorizeRemote } = await import("./remote-consent.ts");
      const allowed = await authorizeRemote(remote, config, cwd);
      const { openRemote } = await import("../../remote-execution/remote-run.ts");
      return await openRemote(tasks, order, allowed, script);
    },
    async preview(tasks, order) {
      const { withoutSecrets } = await import("./remote-consent.ts");
      const allowed = withoutSecrets(remote, config, cwd, false);
      const { previewRemote } = await import("../../remote-execution/remote-run.ts");
      return await previewRemote(tasks, order, allowed, script);
    },
  };
}

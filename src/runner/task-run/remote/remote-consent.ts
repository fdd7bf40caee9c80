// Checks a person's consent for the server of [run.remote], and resolves the variables in its headers.
import type { Config } from "../../../config/rtfig.ts";
import { oneLine } from "../../../printable.ts";
import { type RemoteSettings, scriptVariables } from "../../../config/settings/remote.ts";
import { fillHeader, variablesIn } from "../../../config/settings/remote-server.ts";
import { remoteUse } from "../../../config/settings/server-uses.ts";
import { TaskRules } from "../../../config/tasks/task-rules.ts";
import { findMapping } from "../../../secrets/grants/mapping-file.ts";
import { readVariables } from "./remote-cache.ts";
import { reportLine } from "../../../output.ts";

/** Returns the settings with header values filled in. @throws UserError, also without consent */
export async function authorizeRemote(
  settings: RemoteSettings,
  config: Config | undefined,
  directory: string,
): Promise<RemoteSettings> {
  const names = Object.values(settings.headers).flatMap(variablesIn);
  const values = await readVariables(remoteUse(settings), config, directory, names);
  const headers = Object.fromEntries(
    Object.entries(settings.headers).map(([name, value]) => [
      name,
      fillHeader(value, `run.remote.headers.${name}`, (variable) => values.get(variable)),
    ]),
  );
  return { ...withoutSecrets(settings, config, directory, true), headers };
}

/** Returns the settings without script variables that are in [secrets]. Those are never sent. */
export function withoutSecrets(
  settings: RemoteSettings,
  config: Config | undefined,
  directory: string,
  warns: boolean,
): RemoteSettings {
  const { scripts, tasks } = settings;
  if (scriptVariables(settings).length === 0) return settings;
  const secrets = findMapping(directory, config)?.secrets;
  if (!secrets) return settings;
  const sendable = (section: string, row: string, env: readonly string[]) => {
    const kept = env.filter((name) => secrets.has(name));
    if (kept.length > 0 && warns)
      reportLine(
        `warning: ${kept.join(", ")} of ${section}.${oneLine(row)}.env is not sent: it is in [secrets]`,
      );
    return env.filter((name) => !secrets.has(name));
  };
  const rows = tasks?.table.rows.map(({ options, ...row }) => ({
    ...row,
    options: { ...options, ...(options.env && { env: sendable("tasks", row.name, options.env) }) },
  }));
  return {
    ...settings,
    scripts: scripts.map((script) => ({
      ...script,
      env: sendable("run.remote.scripts", script.name, script.env),
    })),
    tasks: rows && new TaskRules({ ...tasks!.table, rows }),
  };
}

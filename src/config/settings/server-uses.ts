// Lists the variables that the servers of [cache.remote] and [run.remote] receive.
import type { Config } from "../rtfig.ts";
import type { ServerUse } from "../server-use.ts";
import { findRootConfig } from "../root-config.ts";
import { readTaskRules } from "../tasks/task-rules.ts";
import { readCacheSettings } from "./cache.ts";
import { type RemoteCacheSettings, variablesOf } from "./remote-cache.ts";
import { variablesIn } from "./remote-server.ts";
import { readRemoteSettings, type RemoteSettings, scriptVariables } from "./remote.ts";

export function cacheUse(settings: RemoteCacheSettings): ServerUse {
  const { url, named } = settings;
  return { server: `the shared cache ${url}`, names: variablesOf(settings), named };
}

export function remoteUse(settings: RemoteSettings): ServerUse {
  const { url, headers } = settings;
  const names = [...Object.values(headers).flatMap(variablesIn), ...scriptVariables(settings)];
  const each = [...new Set(names)].sort();
  return { server: `the server ${url}, which runs scripts,`, names: each, named: each };
}

/** Returns the servers of a project's files, for commands that run no script. @throws UserError */
export function readServerUses(config: Config | undefined, cwd: string): ServerUse[] {
  const none = new Map();
  const cached = findRootConfig(config, cwd);
  const tasks = cached && readTaskRules(cached, cwd);
  const cache = cached && readCacheSettings(cached, none, cwd, tasks)?.remote;
  const hasRemote = config?.content.run?.remote?.url !== undefined;
  const remote = hasRemote
    ? readRemoteSettings(
        config,
        new Map([["remote", { all: [], last: undefined, isOnLine: false }]]),
        cwd,
        tasks,
      )
    : undefined;
  return [...(cache ? [cacheUse(cache)] : []), ...(remote ? [remoteUse(remote)] : [])];
}

// Connects a shared run (`--share`) to its coordinator, and decides which scripts can be shared.
//
// Invariants: the password comes from the address, RT_SHARE_PASSWORD or [secrets], in this order, and is sent to
// that server only. A project's .env does not affect it.
import { basename } from "node:path";
import { resetEnvironment } from "../../../../platform/processes/dotenv-reset.ts";
import { host } from "../../../../platform/processes/process.ts";
import { whyRuleFails } from "../../../cache/run-cache.ts";
import type { Config } from "../../../config/rtfig.ts";
import { configHint } from "../../../config-hint.ts";
import { UserError } from "../../../user-error.ts";
import { type CacheSettings, ruleFor } from "../../../config/settings/cache.ts";
import { packageOf } from "../../../config/script-package.ts";
import type { ShareSettings } from "../../../config/settings/share.ts";
import type { RunCoordinator } from "../../../distributed/coordinator.ts";
import { openRedisCoordinator } from "../../../distributed/redis-coordinator.ts";
import type { ScriptTask } from "../../../tasks/task.ts";
import { findRoot } from "../../../config/root-project.ts";
import { readVariables } from "./remote-cache.ts";

const PASSWORD = "RT_SHARE_PASSWORD";
/** Milliseconds. */
const DEFAULT_LEASE_TIME = 30_000;
const DEFAULT_RETRY_TIMEOUT = 60_000;

/** @throws UserError @param plan hash that identifies the plan @param directory absolute */
export async function openCoordinator(
  { server, id, name }: ShareSettings,
  plan: string,
  config: Config | undefined,
  directory: string,
): Promise<RunCoordinator> {
  // The engine reads certificate variables from process.env, and a project's .env must not redirect a password.
  resetEnvironment();
  const { url, user } = server;
  const password =
    server.password ??
    (
      await readVariables({ server: `the Redis ${url}`, names: [PASSWORD], named: [] }, config, directory)
    ).get(PASSWORD);
  return await openRedisCoordinator({
    server: { url, user, password: password ?? "" },
    id,
    plan,
    machine: name ?? process.getBuiltinModule("node:os").hostname(),
    project: basename(findRoot(directory) ?? directory),
    leaseTime: duration("RT_SHARE_LIFE", DEFAULT_LEASE_TIME),
    retryTimeout: duration("RT_SHARE_PATIENCE", DEFAULT_RETRY_TIMEOUT),
  });
}

/** Overrides for tests, which cannot wait that long; docs/guides/ci.md documents the defaults. */
function duration(variable: string, otherwise: number): number {
  const value = Number(host.originalVariable(variable));
  return value >= 1 ? value : otherwise;
}

/** Why a script cannot be shared; undefined if it can. @throws UserError if no script can be shared */
export async function whyUnshared(
  task: ScriptTask,
  cache: CacheSettings | undefined,
): Promise<string | undefined> {
  const remote = cache?.remote;
  if (!cache || !remote)
    throw new UserError(
      "--share needs cached scripts and [cache.remote], which transfer outputs between machines",
      [
        ...(cache ? [] : [configHint(["tasks", task.scriptName, "cache"], true)]),
        configHint(["cache", "remote", "url"], "https://cache.example.com"),
        "rt help ci",
      ],
    );
  if (!remote.isRead || !remote.isWritten)
    throw new UserError(
      "--share needs a shared cache that is read and written",
      "remove --cache and TURBO_CACHE",
    );
  if (task.rule?.service) return "is a service";
  if (task.rule?.interactive) return "is interactive";
  const rule = ruleFor(cache, packageOf(task), task.scriptName);
  if (!rule) return "not cached";
  if (!rule.isShared) return "shared = false";
  if (task.steps.some(({ secrets }) => secrets)) return "receives secrets";
  return whyRuleFails(rule) === undefined ? undefined : "cannot be traced on this system";
}

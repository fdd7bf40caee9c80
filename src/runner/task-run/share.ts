// `--share`: the board over which the machines of a run speak, with the password for it; and what they can share.
//
// Contract: the password comes from the address, RT_SHARE_PASSWORD or [secrets], whichever has it first, and goes to that
// server alone. A project's .env has no say in any of it.
import { basename } from "node:path";
import { resetEnvironment } from "../../../platform/processes/dotenv-reset.ts";
import { host } from "../../../platform/processes/process.ts";
import { whyRuleFails } from "../../cache/cache.ts";
import type { Config } from "../../config/rtfig.ts";
import { UserError } from "../../user-error.ts";
import { type CacheSettings, ruleFor } from "../../config/settings/cache.ts";
import type { ShareSettings } from "../../config/settings/share.ts";
import type { RunCoordinator } from "../../distributed/coordinator.ts";
import { openRedisCoordinator } from "../../distributed/redis-coordinator.ts";
import type { ScriptTask } from "../../tasks/task.ts";
import { textField } from "../../workspace/package-json.ts";
import { findRoot } from "../../config/root-project.ts";
import { readVariables } from "./remote-cache.ts";

const PASSWORD = "RT_SHARE_PASSWORD";
/** Milliseconds. */
const LIFE = 30_000;
const PATIENCE = 60_000;

/** Throws Failure. @param plan what no other plan is called. @param directory absolute */
export async function openCoordinator(
  { server, id, name }: ShareSettings,
  plan: string,
  config: Config | undefined,
  directory: string,
): Promise<RunCoordinator> {
  // The engine asks process.env for certificates, and a project's files have no say in whom a password goes to.
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
    leaseTime: duration("RT_SHARE_LIFE", LIFE),
    retryTimeout: duration("RT_SHARE_PATIENCE", PATIENCE),
  });
}

/** Of tests, which cannot wait for so long; docs/ci.md has the values that count. */
function duration(variable: string, otherwise: number): number {
  const value = Number(host.originalVariable(variable));
  return value >= 1 ? value : otherwise;
}

/** Undefined for what other machines can have. Throws Failure where none of it can be shared. */
export async function whyUnshared(
  { manifest, scriptName, steps }: ScriptTask,
  cache: CacheSettings | undefined,
): Promise<string | undefined> {
  const remote = cache?.remote;
  if (!cache || !remote)
    throw new UserError(
      "--share needs [run.cache] and [cache.remote], by which machines have what others have made",
      "rt help ci",
    );
  if (!remote.isRead || !remote.isWritten)
    throw new UserError(
      "--share needs a shared cache that is read and written",
      "leave --cache out, and TURBO_CACHE",
    );
  const rule = ruleFor(cache, textField(manifest, "name"), scriptName);
  if (!rule) return "not in [run.cache]";
  if (!rule.isShared) return "shared = false";
  if (steps.some(({ secrets }) => secrets)) return "given secrets";
  return (await whyRuleFails(rule)) === undefined ? undefined : "cannot be followed here";
}

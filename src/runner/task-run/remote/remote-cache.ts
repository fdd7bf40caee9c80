// Opens the shared cache of a run with credentials and key from the environment or from [secrets] in rtfig.toml.
//
// Invariants:
// - A value of the environment is not fetched from the credential store.
// - A person must have allowed a server to get a variable, wherever the value is from, unless the environment sets
//   both. This also holds for a dry run.
// - Otherwise scripts run without the shared cache, and a warning gives the reason; it is never an error.
import { host } from "../../../../platform/processes/process.ts";
import { resetEnvironment } from "../../../../platform/processes/dotenv-reset.ts";
import { type OpenBackend, RemoteCache } from "../../../cache/remote/remote-cache.ts";
import { TurboBackend } from "../../../cache/remote/turbo-backend.ts";
import type { Config } from "../../../config/rtfig.ts";
import type { ServerUse } from "../../../config/server-use.ts";
import { configHint } from "../../../config-hint.ts";
import { UserError } from "../../../user-error.ts";
import { oneLine } from "../../../printable.ts";
import { fetchSecrets } from "../../../secrets/grants/secret-fetch.ts";
import { findMapping } from "../../../secrets/grants/mapping-file.ts";
import { missingFailure } from "../../../secrets/grants/missing-secrets.ts";
import { requireConsent } from "../../../secrets/trust/server-consent.ts";
import { type CacheSettings, ruleFor } from "../../../config/settings/cache.ts";
import { packageOf } from "../../../config/script-package.ts";
import { type RemoteCacheSettings, variablesOf } from "../../../config/settings/remote-cache.ts";
import { fillHeader } from "../../../config/settings/remote-server.ts";
import { cacheUse } from "../../../config/settings/server-uses.ts";
import type { ScriptTask } from "../../../tasks/task.ts";
import { reportLine } from "../../../output.ts";

/**
 * Undefined if no task is cached, or if the cache cannot be used, which is reported. @throws UserError if the cache
 * is required
 * @param directory absolute
 */
export async function openRemoteCache(
  settings: CacheSettings,
  tasks: readonly ScriptTask[],
  config: Config | undefined,
  directory: string,
  isNeeded: boolean,
): Promise<RemoteCache | undefined> {
  const isCached = (task: ScriptTask) => ruleFor(settings, packageOf(task), task.scriptName) !== undefined;
  if (!settings.remote || !tasks.some(isCached)) return undefined;
  const opened = await open(settings.remote, config, directory);
  if (opened instanceof RemoteCache) return opened;
  const [first, ...hints] = opened;
  if (isNeeded) throw new UserError(`--share needs the shared cache: ${first}`, hints);
  reportLine(`warning: ${first}`);
  for (const hint of hints) reportLine(`hint: ${hint}`);
  return undefined;
}

/** Returns the cache, or lines for people. */
async function open(
  settings: RemoteCacheSettings,
  config: Config | undefined,
  directory: string,
): Promise<RemoteCache | readonly string[]> {
  // The engine reads proxy variables at each request, and a project's .env must not redirect a token.
  resetEnvironment();
  const { signatureKey } = settings;
  const names = variablesOf(settings);
  try {
    const values = await readVariables(cacheUse(settings), config, directory);
    const missing = names.find((name) => !values.get(name));
    if (missing !== undefined) return describeMissing(missing, missing === signatureKey);
    const identity = {
      signatureKey: signatureKey && values.get(signatureKey),
      teamId: (settings.protocol === "turbo" ? settings.teamId : settings.instance) ?? "",
    };
    return new RemoteCache(settings, identity, openerFor(settings, values));
  } catch (error) {
    const { name, message, hint } = error as Error & { hint?: string | readonly string[] };
    if (!["UserError", "PackageJsonError"].includes(name)) throw error;
    return [`shared cache disabled: ${oneLine(message)}`, ...[hint ?? []].flat().map(oneLine)];
  }
}

/** @throws UserError for values that cannot be sent */
function openerFor(settings: RemoteCacheSettings, values: ReadonlyMap<string, string>): OpenBackend {
  if (settings.protocol === "turbo") {
    const token = values.get(settings.token)!;
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new UserError(`${settings.token} contains characters that are invalid in a token`);
    return async (seal, tell) => new TurboBackend(settings, token, seal, tell);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(settings.headers))
    headers[name] = fillHeader(value, `cache.remote.headers.${name}`, (variable) => values.get(variable));
  return async (seal, tell) => {
    const { ReapiBackend } = await import("../../../cache/remote/reapi-backend.ts");
    return new ReapiBackend(settings, headers, seal, tell);
  };
}

function describeMissing(name: string, isKey: boolean): string[] {
  const help = isKey
    ? `set it to the same value for all users of the cache; if the cache is trusted, ${configHint(["cache", "remote", "signature"], false)}`
    : `set it, or ${configHint(["secrets", name, "from"], `service/${name}`)}`;
  return [`shared cache disabled: ${name} is not set`, help];
}

/**
 * Returns the values of variables that a server gets, from the environment and [secrets]. @throws UserError if that
 * is not allowed
 * @param names the variables that are needed
 */
export async function readVariables(
  use: ServerUse,
  config: Config | undefined,
  directory: string,
  names = use.names,
): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  for (const name of names) {
    const value = host.originalVariable(name);
    if (value !== undefined) values.set(name, value);
  }
  const needsConsent = use.named.some((name) => host.originalVariable(name) !== undefined);
  const mapping = values.size < names.length || needsConsent ? findMapping(directory, config) : undefined;
  requireConsent(use, { mapping, config, directory });
  const secrets = names.flatMap((name) => (values.has(name) ? [] : (mapping?.secrets.get(name) ?? [])));
  if (!mapping || secrets.length === 0) return values;
  host.hideMemory?.();
  const { values: fetched, missing } = await fetchSecrets(secrets, mapping.folder);
  try {
    const required = missing.filter(({ secret }) => !secret.isOptional);
    if (required.length > 0) throw missingFailure(required);
    for (const [name, value] of fetched) values.set(name, new TextDecoder().decode(value));
  } finally {
    for (const value of fetched.values()) value.fill(0);
  }
  return values;
}

// The way into this room: a script, and whether it is one of those that are not run again.
import { realpathSync } from "node:fs";
import type { TracingOperations } from "../../platform/contract/tracing.ts";
import { host } from "../../platform/process.ts";
import { findTracing } from "../../platform/tracing.ts";
import { type CacheRule, type CacheSettings, ruleFor } from "../settings/cache.ts";
import { MARK } from "./environment.ts";
import { Run } from "./run.ts";
import type { CachedRun, CachedScript } from "./script.ts";
import type { SharedCache } from "./shared.ts";
import { Store, storeDirectory } from "./store.ts";

const NOT_HERE =
  "[run.cache] has no effect here: only on Linux, from 5.9 on, can rt see what a script reads; elsewhere its rule has to say " +
  'what it makes, as in outputs = ["dist/**"]';

/** Why a script is not cached, for people; "" where nobody has to be told, as when another rt follows this one. */
export async function whyRuleFails(rule: CacheRule): Promise<string | undefined> {
  if (host.originalVariable(MARK) !== undefined) return "";
  return rule.saysOutputs || (await tracingFor(rule)) ? undefined : NOT_HERE;
}

async function tracingFor(rule: CacheRule): Promise<TracingOperations | undefined> {
  return rule.isTraced ? await findTracing() : undefined;
}

export type Opening = CachedRun | { readonly notice: string } | undefined;

/**
 * Undefined for a script that is not cached; a notice where it cannot be.
 *
 * @param shared what others have as well
 * @param purpose "look" changes nothing, neither in the project nor in what is known of the script
 */
export async function openCached(
  script: CachedScript,
  settings: CacheSettings,
  shared: SharedCache | undefined,
  purpose: "use" | "look" = "use",
): Promise<Opening> {
  const rule = ruleFor(settings, script.packageName, script.scriptName);
  if (!rule || host.originalVariable(MARK) !== undefined) return undefined;
  const tracing = settings.isVerified ? await findTracing() : await tracingFor(rule);
  if (!tracing && !rule.saysOutputs) return tellOnce(NOT_HERE);
  const directory = storeDirectory();
  if (directory === undefined) return tellOnce("Nothing is cached: set HOME or XDG_CACHE_HOME, to say where");
  try {
    const root = realpathSync(settings.root);
    const packageDirectory = realpathSync(script.packageDirectory);
    const rooted = { ...settings, root };
    const run = new Run(script, rule, rooted, packageDirectory, tracing, openStore(directory), shared);
    return await run.find(purpose);
  } catch (error) {
    return tellOnce(`Nothing is cached: ${(error as Error).message}`);
  }
}

// A run of many has hundreds of scripts, and they share it.
const stores = new Map<string, Store>();

function openStore(directory: string): Store {
  const store = stores.get(directory) ?? new Store(directory);
  stores.set(directory, store);
  return store;
}

const told = new Set<string>();

/** A run of many has the same to say of each script. */
function tellOnce(notice: string): Opening {
  if (told.has(notice)) return undefined;
  told.add(notice);
  return { notice };
}

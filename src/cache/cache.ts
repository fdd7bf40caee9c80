// Opens the cache for a script, and holds the state that all scripts of a run share.
import { realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errorCode, errorMessage } from "../../platform/caught-error.ts";
import type { TracingOperations } from "../../platform/tracing/contract/tracing.ts";
import { OWNER_ADVICE } from "../../platform/files/path-ownership.ts";
import { host } from "../../platform/processes/process.ts";
import { findTracing } from "../../platform/tracing/tracing.ts";
import { type CacheRule, type CacheSettings, ruleFor } from "../config/settings/cache.ts";
import { oneLine } from "../printable.ts";
import { TRACED_VARIABLE } from "./key/environment.ts";
import { EntrySnapshot } from "./entry/entry-snapshot.ts";
import { writeHashes } from "./store/file-hash-persistence.ts";
import { isBelow } from "./entry/relocation.ts";
import { CachedScriptRun } from "./cached-run.ts";
import { ScriptContext } from "./script-context.ts";
import type { CachedRun, CachedScript } from "./cached-script.ts";
import { StatCache } from "./memo/stat-cache.ts";
import type { SharedCache } from "./shared-cache.ts";
import { CacheStore, storeDirectory } from "./store/cache-store.ts";

const NOT_HERE =
  'Caching has no effect here: a rule needs outputs, as in outputs = ["dist/**"], or tracing (Linux 5.9 or later)';

/** Returns why a rule has no effect; "" if a message is unnecessary, because an outer rt traces this one. */
export async function whyRuleFails(rule: CacheRule): Promise<string | undefined> {
  if (host.originalVariable(TRACED_VARIABLE) !== undefined) return "";
  return rule.saysOutputs || (await tracingFor(rule)) ? undefined : NOT_HERE;
}

async function tracingFor(rule: CacheRule): Promise<TracingOperations | undefined> {
  return rule.isTraced ? await findTracing() : undefined;
}

export type OpenedScript = CachedRun | { readonly notice: string } | undefined;

/**
 * Returns undefined if the script is not cached, and a notice if it cannot be cached.
 *
 * @param shared the shared cache of the run
 * @param purpose "look" changes neither the project nor the cache
 */
export async function openCached(
  script: CachedScript,
  settings: CacheSettings,
  shared: SharedCache | undefined,
  purpose: "use" | "look" = "use",
): Promise<OpenedScript> {
  const rule = ruleFor(
    settings,
    { name: script.packageName, directory: script.packageDirectory },
    script.scriptName,
  );
  if (!rule || host.originalVariable(TRACED_VARIABLE) !== undefined) return undefined;
  const tracing = settings.isVerified ? await findTracing() : await tracingFor(rule);
  if (!tracing && !rule.saysOutputs) return noticeOnce(NOT_HERE);
  const directory = storeDirectory();
  if (directory === undefined)
    return noticeOnce("Scripts are not cached: no cache directory; set HOME or XDG_CACHE_HOME");
  try {
    const root = (realRoots[settings.root] ??= realpathSync(settings.root));
    const packageDirectory = realDirectory(script.packageDirectory, root);
    const rooted = { ...settings, root };
    const store = openStore(directory);
    original ??= host.originalEnvironment();
    const snapshot = openSnapshot(store, root);
    const ofRun = {
      tracing,
      store,
      shared,
      statCache,
      snapshot,
      original,
      isEvidenceRecorded: isEvidenceRecorded,
    };
    const context = new ScriptContext(script, rule, rooted, packageDirectory, ofRun);
    return await new CachedScriptRun(context).find(purpose);
  } catch (error) {
    const code = errorCode(error);
    const message = errorMessage(error);
    const advice = code === undefined ? `; ${OWNER_ADVICE}` : "";
    return noticeOnce(`Scripts are not cached: ${oneLine(message)}${advice}`);
  }
}

// Shared by all scripts of a run.
const statCache = new StatCache();
const realRoots: Record<string, string> = {};
let original: Readonly<Record<string, string>> | undefined;
const snapshots = new Map<string, EntrySnapshot>();
const stores = new Map<string, CacheStore>();

let isEvidenceRecorded = false;

/** Records the evidence of hits from now on, for a run memo. */
export function recordHitEvidence(): void {
  isEvidenceRecorded = true;
}

/** Resolves symlinks. Without a symlink in the path, no system call is needed. */
function realDirectory(directory: string, root: string): string {
  if (resolve(directory) !== directory) return realpathSync(directory);
  for (let at = directory; at !== root; at = dirname(at))
    if (!isBelow(at, root) || statCache.stat(at).kind !== "directory") return realpathSync(directory);
  return directory;
}

function openSnapshot(store: CacheStore, root: string): EntrySnapshot {
  const snapshot = snapshots.get(root) ?? new EntrySnapshot(store, root);
  snapshots.set(root, snapshot);
  return snapshot;
}

/** Returns one store per process and directory. @throws an Error with a complete sentence, or the system's error */
export function openStore(directory: string): CacheStore {
  const store = stores.get(directory) ?? new CacheStore(directory);
  stores.set(directory, store);
  return store;
}

/** Call this before a script starts, whether it is cached or not. */
export function invalidateStatCache(): void {
  statCache.end();
}

/** Saves file hashes and entry snapshots at the end of a run. */
export function saveFileHashes(): void {
  for (const store of stores.values()) writeHashes(store);
  try {
    for (const snapshot of snapshots.values()) snapshot.write();
  } catch {
    // The next run reads the files again.
  }
}

const printed = new Set<string>();

/** Returns a notice once per run. */
function noticeOnce(notice: string): OpenedScript {
  if (printed.has(notice)) return undefined;
  printed.add(notice);
  return { notice };
}

// Looks up the cache entries of a script, and applies the first one that is valid.
//
// Invariants:
// - The purpose "look" restores nothing and does not mark the entry as used.
// - If the outputs of an entry cannot be restored, the lookup continues with the next entry.
import type { CacheEntry } from "./entry/entry.ts";
import { type EntryCandidate, findCandidates, type SharedLookup } from "./entry/candidates.ts";
import { validateEntry } from "./entry/entry-validation.ts";
import { describeForeignPlace, describeHit } from "./entry/explanation.ts";
import { parseOutputLog } from "./entry/output-log.ts";
import { relocateEntry } from "./entry/relocation.ts";
import type { CacheHit } from "./cached-script.ts";
import { restoreOutputs } from "./restore/restore.ts";
import { StaleOutputs } from "./restore/stale-outputs.ts";
import type { ScriptContext } from "./script-context.ts";

/** A hit, and the entry that it applied. */
export interface AppliedEntry {
  readonly hit: CacheHit;
  readonly entry: CacheEntry;
  /** The entry's file; undefined if it comes from a shared cache. */
  readonly file: string | undefined;
  /** Explains the hit to the user. */
  readonly why: string;
}

export interface EntryLookup {
  /** The key of the local cache. */
  readonly key: string;
  readonly access: { readonly isRead: boolean; readonly isWritten: boolean };
  readonly shared: SharedLookup | undefined;
  readonly purpose: "use" | "look";
}

const NOT_APPLIED: CacheHit = { pieces: [], saved: 0, restored: 0 };

/** Returns the applied entry, or the cache miss reason of the first entry; undefined if there is no entry. */
export async function lookUpEntry(
  context: ScriptContext,
  { key, access, shared, purpose }: EntryLookup,
): Promise<AppliedEntry | string | undefined> {
  const { project, store, snapshot } = context;
  const request = { store, snapshot: snapshot, access, key, scope: project, statCache: project.statCache };
  const stale = new StaleOutputs(() => context.localEntries(key), project);
  let mismatch: string | undefined;
  for await (const candidate of findCandidates(request, shared)) {
    const applied = await applyCandidate(context, candidate, stale, purpose);
    if (typeof applied !== "string") return applied;
    mismatch ??= applied;
  }
  return mismatch;
}

async function applyCandidate(
  context: ScriptContext,
  { stored, isRemote, file, prepare, use }: EntryCandidate,
  stale: StaleOutputs,
  purpose: "use" | "look",
): Promise<AppliedEntry | string> {
  const { root } = context.settings;
  const entry = relocateEntry(stored, root, context.isMachinePath);
  if (!entry) return describeForeignPlace(stored);
  const { mismatch, staleOutputs } = await validateEntry(entry, context.project, stale);
  if (mismatch !== null) return mismatch;
  const hit =
    purpose === "look"
      ? NOT_APPLIED
      : ((await prepare(entry)) ?? (await restoreHit(context, entry, staleOutputs)));
  if (typeof hit === "string") return hit;
  const checkout = stored.root === root ? undefined : `from ${stored.root}`;
  if (purpose === "use") use();
  return { hit, entry, file, why: describeHit(entry, isRemote ? "from the shared cache" : checkout) };
}

/** Restores the outputs of an entry. Returns the reason as text if that fails. */
async function restoreHit(
  { project, settings, store, announce }: ScriptContext,
  entry: CacheEntry,
  staleOutputs: readonly string[],
): Promise<CacheHit | string> {
  const log = store.readBlob(entry.log);
  if (!log) return "its output log is missing from the cache, or damaged";
  const deletions = staleOutputs.map((path) => ({ path, kind: "absent" as const }));
  const wanted = { ...entry, outputs: [...entry.outputs, ...deletions] };
  const restored = await restoreOutputs(wanted, settings.root, store, project, announce);
  return typeof restored === "string"
    ? restored
    : { pieces: parseOutputLog(log), saved: entry.duration, restored };
}

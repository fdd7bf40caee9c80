// Looks up the cache entries of a script, and applies the first one that is valid.
//
// Invariants:
// - The purpose "look" restores nothing and does not mark the entry as used.
// - If the outputs of an entry cannot be restored, the lookup continues with the next entry.
import type { CacheEntry, StoredEntry } from "./entry/entry.ts";
import { type EntryCandidate, findCandidates, type SharedLookup } from "./entry/candidates.ts";
import { listDifferences, validateEntry } from "./entry/entry-validation.ts";
import { describeDifferences, describeHit, describeMention } from "./entry/explanation.ts";
import { parseOutputLog, replacePath, withoutColors } from "./entry/output-log.ts";
import { findForeignMention } from "./entry/mention-detector.ts";
import { isColored } from "./key/environment.ts";
import { isOtherUser } from "./relocation/recorded-user.ts";
import { relocateEntry } from "./relocation/relocation.ts";
import { findOtherProgram } from "./relocation/searched-programs.ts";
import type { CacheHit } from "./cached-script.ts";
import { restoreOutputs } from "./restore/restore.ts";
import { StaleOutputs } from "./restore/stale-outputs.ts";
import type { ScriptContext } from "./script-context.ts";

export interface AppliedEntry {
  readonly hit: CacheHit;
  readonly entry: CacheEntry;
  /** The entry's file; undefined if it comes from a shared cache. */
  readonly file: string | undefined;
  /** Explains the hit to the user. */
  readonly why: string;
}

export interface EntryLookup {
  readonly key: string;
  readonly access: { readonly isRead: boolean; readonly isWritten: boolean };
  readonly shared: SharedLookup | undefined;
  readonly purpose: "use" | "look";
}

const NOT_APPLIED: CacheHit = { pieces: [], saved: 0, restored: 0 };

/** Entries that are compared as a whole to explain a miss. */
const MAX_COMPARED = 4;

/** Returns the applied entry, or what differs from the nearest entry; undefined if there is no entry. */
export async function lookUpEntry(
  context: ScriptContext,
  { key, access, shared, purpose }: EntryLookup,
): Promise<AppliedEntry | string | undefined> {
  const { project, store, snapshot } = context;
  const request = { store, snapshot: snapshot, access, key, scope: project, statCache: project.statCache };
  const stale = new StaleOutputs(() => context.localEntries(key), project);
  let mismatch: string | undefined;
  const others: StoredEntry[] = [];
  for await (const candidate of findCandidates(request, shared)) {
    const applied = await applyCandidate(context, candidate, stale, purpose);
    if (typeof applied !== "string") return applied;
    mismatch ??= applied;
    others.push(candidate.stored);
  }
  if (mismatch === undefined) return undefined;
  const differences = await differencesFromNearest(context, others);
  return differences.length > 0 ? describeDifferences(differences) : mismatch;
}

/** Returns all differences from the entry that has the fewest; none if nothing can be compared, or an entry has none. */
export async function differencesFromNearest(
  context: ScriptContext,
  entries: readonly StoredEntry[],
): Promise<readonly string[]> {
  let nearest: readonly string[] = [];
  for (const stored of entries.slice(0, MAX_COMPARED)) {
    const entry = relocateEntry(stored, context.location);
    const other = describeOtherUser(stored, context);
    if (!entry && other === undefined) continue;
    const files = entry ? await listDifferences(entry, context.project) : [];
    const all = other === undefined ? files : [...files, other];
    if (all.length === 0) return [];
    if (nearest.length === 0 || all.length < nearest.length) nearest = all;
  }
  return nearest;
}

async function applyCandidate(
  context: ScriptContext,
  { stored, isRemote, file, prepare, use }: EntryCandidate,
  stale: StaleOutputs,
  purpose: "use" | "look",
): Promise<AppliedEntry | string> {
  const { root } = context.settings;
  const entry = relocateEntry(stored, context.location);
  const other = describeOtherUser(stored, context);
  if (!entry || other !== undefined) return other ?? "it has files in a folder that this user does not have";
  const { mismatch, staleOutputs } = await validateEntry(entry, context.project, stale);
  if (mismatch !== null) return mismatch;
  const found =
    purpose === "look"
      ? NOT_APPLIED
      : ((await prepare(entry)) ?? (await restoreHit(context, entry, staleOutputs)));
  if (typeof found === "string") return found;
  const moved = stored.root === root ? found.pieces : replacePath(found.pieces, stored.root, root);
  const isPlain = stored.isColored === true && !isColored(context.ownValues.variables);
  const pieces = isPlain ? withoutColors(moved) : moved;
  const isChanged = pieces.some((each, index) => each !== found.pieces[index]);
  const hit = { ...found, pieces };
  const checkout = stored.root === root ? undefined : `from ${stored.root}`;
  if (purpose === "use") use();
  // A run memo would replay the recorded output.
  return {
    hit,
    entry,
    file: isChanged ? undefined : file,
    why: describeHit(entry, isRemote ? "from the shared cache" : checkout),
  };
}

/** Returns why an entry is not valid for this checkout or user, apart from files; undefined if it is. */
function describeOtherUser(stored: StoredEntry, context: ScriptContext): string | undefined {
  const mention = stored.mentioned.length > 0 && findForeignMention(stored.mentioned, context.ownValues);
  if (mention) return describeMention(mention, stored.root);
  if (isOtherUser(stored)) return "it depends on its user, who was another one";
  return stored.programs && findOtherProgram(stored.programs, context.location, context.programView);
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

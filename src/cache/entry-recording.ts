// Builds cache entries from a successful run, and stores and publishes them.
//
// Invariants:
// - An entry is stored only if no other process ran or restored the script from its first step until all files were read.
// - No entry is stored if the output contains a secret or is too large.
import type { Trace } from "../../platform/tracing/contract/tracing.ts";
import type { LeasedPublication } from "./cached-script.ts";
import { deriveCleanStart } from "./entry/clean-start.ts";
import type { CacheEntry } from "./entry/entry.ts";
import {
  addDeclaredOutputs,
  buildEntry,
  type EntryDraft,
  listDeclaredOutputs,
} from "./entry/entry-builder.ts";
import { NotCacheableError } from "./entry/not-cacheable-error.ts";
import { toStoredEntry } from "./entry/mention-detector.ts";
import { recordUser } from "./relocation/recorded-user.ts";
import { recordPrograms } from "./relocation/searched-programs.ts";
import { describeNotShared } from "./entry/uncacheable-reasons.ts";
import { type CacheKey, compareKeys } from "./key/cache-key.ts";
import { findPrintedSecret } from "./key/environment.ts";
import { publishOutputs } from "./leased-results.ts";
import type { ScriptContext } from "./script-context.ts";
import { sizeAt } from "./store/lru-files.ts";
import type { TracedScript } from "./tracing/traced-script.ts";

export interface CompletedRun {
  readonly context: ScriptContext;
  readonly traced: TracedScript;
  /** Undefined if the inputs are declared. */
  readonly trace: Trace | undefined;
  readonly key: CacheKey;
  /** Undefined if nothing is shared. */
  readonly sharedKey: CacheKey | undefined;
}

/**
 * Stores the entry of a run.
 *
 * @returns the entry, undefined if another machine holds a newer lease; and the lines to print
 * @throws NotCacheableError, or the system's error if the store cannot be written
 */
export async function recordEntry(
  run: CompletedRun,
  publication: LeasedPublication | undefined,
): Promise<{ readonly entry?: CacheEntry; readonly lines: readonly string[] }> {
  const { context, traced, trace, key, sharedKey } = run;
  const { project, settings, store, script } = context;
  const { log } = traced;
  const draft = await buildDraft(run);
  const secret = findSecret(run);
  if (secret !== undefined) throw new NotCacheableError("secret", secret);
  if (log.isTooLarge) throw new NotCacheableError("flood", "64 MB");
  const logHash = store.addBytes(log.toBytes());
  const [label, created, duration] = [script.label, Date.now(), traced.elapsed];
  const entryOf = (each: EntryDraft): CacheEntry => ({ label, created, duration, ...each, log: logHash });
  const entry = entryOf(draft);
  const sizeOf = (hash: string) => sizeAt(store.blobPath(hash));
  const clean = trace && deriveCleanStart(draft, trace.paths, context.localEntries(key.hash), sizeOf);
  // Other machines and checkouts mostly have no outputs of earlier runs.
  const published = clean ? entryOf(clean) : entry;
  const drafts = clean ? [published, entry] : [entry];
  const stored = drafts.map((each) => ({
    ...toStoredEntry(each, context.ownValues, log, store),
    ...recordUser(each.conditions, context.commands),
    ...(trace && {
      programs: recordPrograms(each.conditions, context.location, context.programView),
    }),
  }));
  // All files have been read, so a run that starts later cannot change the entry.
  traced.requireNoConcurrentRun();
  const shared = context.shared?.isWritten ? context.shared : undefined;
  const outside = shared?.findOutside(published, project);
  const isShareable = outside === undefined;
  if (publication) {
    const sharing = { cache: context.shared!, key: sharedKey!, store };
    if (!(await publishOutputs(sharing, publication, stored[0]!, isShareable))) return { lines: [] };
  }
  if (settings.isWritten) for (const each of stored) store.addEntry(key.hash, each);
  if (isShareable) void shared?.offer(sharedKey!.hash, stored[0]!, store);
  store.maybeEvict();
  return { entry, lines: isShareable ? [] : [describeNotShared(context.subject, outside)] };
}

/** Returns the name of a secret variable whose value the script printed; undefined if there is none. */
export function findSecret({
  context,
  traced,
}: Pick<CompletedRun, "context" | "traced">): string | undefined {
  return findPrintedSecret(context.rule.env, context.environments[0] ?? {}, traced.log.text());
}

async function buildDraft({ context, trace, key }: CompletedRun): Promise<EntryDraft> {
  if (trace) return await buildEntry(trace, context.project);
  const [difference] = compareKeys(key.fields, (await context.makeLocalKey()).fields);
  if (difference !== undefined) throw new NotCacheableError("edited", difference);
  const draft: EntryDraft = { conditions: [], outputs: [], own: [] };
  await addDeclaredOutputs(draft, await listDeclaredOutputs(context.project), context.project);
  return draft;
}

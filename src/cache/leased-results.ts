// Publishes and reads the results of a shared run. The key of a result contains its lease.
//
// Invariants:
// - A late machine overwrites nothing, because it has another lease.
// - Outputs and failures have different keys, so neither can replace the other.
import { oneLine } from "../printable.ts";
import type { StoredEntry } from "./entry/entry.ts";
import { hashBytes } from "./store/file-hash-cache.ts";
import { compareKeys, type Field, type CacheKey } from "./key/cache-key.ts";
import { type OutputLog, type OutputChunk, parseOutputLog } from "./entry/output-log.ts";
import type { LeasedPublication } from "./cached-script.ts";
import type { SharedCache } from "./shared-cache.ts";
import type { CacheStore } from "./store/cache-store.ts";

export interface SharedRunCache {
  readonly cache: SharedCache;
  readonly key: CacheKey;
  readonly store: CacheStore;
}

/** @param key hash of the script's cache key */
export function leaseKey(claim: string, key: string, kind: "made" | "failed"): string {
  return hashBytes(`rt claim 1\0${kind}\0${claim}\0${key}`);
}

/**
 * Returns the key of the cache key's fields. It is independent of the fields, so that a machine with other fields
 * finds them.
 */
function fieldsKey(claim: string): string {
  return hashBytes(`rt claim 1\0fields\0${claim}`);
}

const NOTHING = { conditions: [], outputs: [], own: [], root: "", mentioned: [] };

/**
 * Returns false if the lease has expired and another machine holds a newer one. @param isShareable whether the shared
 * cache may receive the outputs
 */
export async function publishOutputs(
  { cache, key, store }: SharedRunCache,
  { claim, publish }: LeasedPublication,
  stored: StoredEntry,
  mayLeave: boolean,
): Promise<boolean> {
  if (!mayLeave) return await publish(false);
  const { label, created } = stored;
  const fields = store.addBytes(Buffer.from(JSON.stringify(shortenFields(key.fields, claim))));
  const [isThere] = await Promise.all([
    cache.offer(leaseKey(claim, key.hash, "made"), stored, store),
    cache.offer(fieldsKey(claim), { label, created, duration: 0, log: fields, ...NOTHING }, store),
  ]);
  return await publish(isThere);
}

/**
 * Shortens each hash to 16 bits and salts it with the lease. That identifies a differing field, but does not allow a
 * brute-force search for a variable's value.
 */
function shortenFields(fields: readonly Field[], claim: string): Field[] {
  return fields.map(({ name, hash }) => ({
    name,
    hash: hashBytes(`${claim}\0${name}\0${hash}`).slice(0, 4),
  }));
}

/** Explains why this machine finds no result under a lease. */
export async function explainMissing(sharing: SharedRunCache, claim: string): Promise<string> {
  const fields = await readKeyFields(sharing, claim);
  const difference = fields && compareKeys(fields, shortenFields(sharing.key.fields, claim))[0];
  return difference === undefined
    ? "the shared cache does not return its result"
    : `the machines start it differently: ${oneLine(difference)}`;
}

/** Returns the shortened fields of the publishing machine; undefined if they are unavailable. */
async function readKeyFields(
  { cache, store }: SharedRunCache,
  claim: string,
): Promise<readonly Field[] | undefined> {
  const [entry] = await cache.find(fieldsKey(claim));
  if (!entry || entry.outputs.length > 0 || !(await cache.fetch(entry, store))) return undefined;
  try {
    const fields: unknown = JSON.parse(Buffer.from(store.readBlob(entry.log) ?? []).toString());
    return Array.isArray(fields) && fields.every(isField) ? fields : undefined;
  } catch {
    return undefined;
  }
}

function isField(value: unknown): value is Field {
  const { name, hash } = (value ?? {}) as Partial<Field>;
  return typeof name === "string" && typeof hash === "string";
}

/** @param log output log; undefined if it must not be shared */
export async function publishFailure(
  { cache, key, store }: SharedRunCache,
  { claim, publish }: LeasedPublication,
  label: string,
  duration: number,
  log: OutputLog | undefined,
): Promise<void> {
  let isThere = false;
  try {
    if (log && !log.isTooLarge) {
      const told = { label, created: Date.now(), duration, log: store.addBytes(log.toBytes()) };
      isThere = await cache.offer(leaseKey(claim, key.hash, "failed"), { ...told, ...NOTHING }, store);
    }
  } catch {
    // Disk full: the failure is published without its output.
  }
  await publish(isThere);
}

/** Returns undefined if the log is unavailable. */
export async function readFailureLog(
  { cache, key, store }: SharedRunCache,
  claim: string,
): Promise<readonly OutputChunk[] | undefined> {
  const [entry] = await cache.find(leaseKey(claim, key.hash, "failed"));
  if (!entry || entry.outputs.length > 0 || !(await cache.fetch(entry, store))) return undefined;
  const log = store.readBlob(entry.log);
  return log ? parseOutputLog(log) : undefined;
}

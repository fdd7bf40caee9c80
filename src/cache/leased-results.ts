// What the machines of one run have of a script's result: an entry under a key of its claim, which is nobody else's. So a
// machine that comes too late writes over nothing, and who reads gets what was meant.
//
// Contract: a failure is never taken for what was made, nor the other way round: they have different keys.
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
  /** Of the script: all that start it in the same way come to it. */
  readonly key: CacheKey;
  readonly store: CacheStore;
}

/** @param key of the script */
export function leaseKey(claim: string, key: string, kind: "made" | "failed"): string {
  return hashBytes(`rt claim 1\0${kind}\0${claim}\0${key}`);
}

/** The key of the cache key's fields: a machine that starts the script differently computes it too. */
function fieldsKey(claim: string): string {
  return hashBytes(`rt claim 1\0fields\0${claim}`);
}

const NOTHING = { conditions: [], outputs: [], own: [], root: "", mentioned: [] };

/** Whether it counts. @param mayLeave whether others may have it */
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
 * Shortens each hash to 16 bits that depend on the claim. That is enough to find the field that differs. It is too little to
 * find the value of a variable by trial.
 */
function shortenFields(fields: readonly Field[], claim: string): Field[] {
  return fields.map(({ name, hash }) => ({
    name,
    hash: hashBytes(`${claim}\0${name}\0${hash}`).slice(0, 4),
  }));
}

/** Explains why nothing is stored for a claim under the key of this machine. */
export async function explainMissing(sharing: SharedRunCache, claim: string): Promise<string> {
  const fields = await readKeyFields(sharing, claim);
  const difference = fields && compareKeys(fields, shortenFields(sharing.key.fields, claim))[0];
  return difference === undefined
    ? "the shared cache does not return its result"
    : `the machines start it differently: ${oneLine(difference)}`;
}

/** Returns the shortened fields of the key under which a claim was published; undefined if they are unavailable. */
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

/** @param log what it wrote; undefined where others may not have it */
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
    // A full disk: the others hear of it without what it wrote.
  }
  await publish(isThere);
}

/** Undefined where it is not to be had. */
export async function readFailureLog(
  { cache, key, store }: SharedRunCache,
  claim: string,
): Promise<readonly OutputChunk[] | undefined> {
  const [entry] = await cache.find(leaseKey(claim, key.hash, "failed"));
  if (!entry || entry.outputs.length > 0 || !(await cache.fetch(entry, store))) return undefined;
  const log = store.readBlob(entry.log);
  return log ? parseOutputLog(log) : undefined;
}

// What the machines of one run have of a script's result: an entry under a key of its claim, which is nobody else's. So a
// machine that comes too late writes over nothing, and who reads gets what was meant.
//
// Contract: a failure is never taken for what was made, nor the other way round: they have different keys.
import type { KeptEntry } from "./entry.ts";
import { hashBytes } from "./hashes.ts";
import { type Log, type Piece, readLog } from "./log.ts";
import type { Publication } from "./script.ts";
import type { SharedCache } from "./shared.ts";
import type { Store } from "./store.ts";

export interface Sharing {
  readonly cache: SharedCache;
  /** Of the script: all that start it in the same way come to it. */
  readonly key: string;
  readonly store: Store;
}

/** @param key of the script */
export function claimKey(claim: string, key: string, kind: "made" | "failed"): string {
  return hashBytes(`rt claim 1\0${kind}\0${claim}\0${key}`);
}

/** Whether it counts. @param mayLeave whether others may have it */
export async function publishMade(
  { cache, key, store }: Sharing,
  { claim, publish }: Publication,
  kept: KeptEntry,
  mayLeave: boolean,
): Promise<boolean> {
  return await publish(mayLeave && (await cache.offer(claimKey(claim, key, "made"), kept, store)));
}

/** @param log what it wrote; undefined where others may not have it */
export async function publishFailure(
  { cache, key, store }: Sharing,
  { claim, publish }: Publication,
  label: string,
  duration: number,
  log: Log | undefined,
): Promise<void> {
  let isThere = false;
  try {
    if (log && !log.isTooLarge) {
      const nothing = { conditions: [], outputs: [], own: [], root: "", mentioned: [] };
      const told = { label, created: Date.now(), duration, log: store.keepBytes(log.toBytes()) };
      isThere = await cache.offer(claimKey(claim, key, "failed"), { ...told, ...nothing }, store);
    }
  } catch {
    // A full disk: the others hear of it without what it wrote.
  }
  await publish(isThere);
}

/** Undefined where it is not to be had. */
export async function readFailureLog(
  { cache, key, store }: Sharing,
  claim: string,
): Promise<readonly Piece[] | undefined> {
  const [entry] = await cache.find(claimKey(claim, key, "failed"));
  if (!entry || entry.outputs.length > 0 || !(await cache.fetch(entry, store))) return undefined;
  const log = store.readBlob(entry.log);
  return log ? readLog(log) : undefined;
}

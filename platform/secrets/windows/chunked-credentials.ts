// Stores a credential's value in entries of the Credential Manager. A value that fits is in one entry. A larger value is split
// into parts, and the entry becomes a "head" that names their slot.
//
// Invariants:
// - A crash between two steps leaves the whole old or new value (atomic replacement). New parts go into the slot that the head
//   does not name. Then the head is written, and the old parts are removed.
// - Parts are written in ascending and removed in descending order, so a slot without its first part is empty. Orphaned parts are
//   never read. The next `set` or `delete` removes them.
//
// Non-obvious: a head counts only if its comment equals its text, because a value may look like a head.
import { type CredentialName, ProviderFailure } from "../contract/secret-provider.ts";
import { type WindowsCredential, MAX_BLOB, type Persistence, toUtf8 } from "./credential.ts";
import { credentialOf, type Slot, SLOTS, type Targets, targetsOf } from "./credential-targets.ts";

/** Single steps on entries. */
export interface Vault {
  read(target: string): Promise<WindowsCredential | null>;
  /** Replaces the entry of this target. */
  write(credential: WindowsCredential, persist: Persistence): Promise<void>;
  /** Returns whether the entry existed. */
  remove(target: string): Promise<boolean>;
  /** Returns generic entries without their blobs. */
  list(): Promise<WindowsCredential[]>;
}

/** Maximum number of parts of a value: 640 KiB. */
const MAX_PARTS = 256;

const TEXT_COMMENT = "rt: UTF-8";

/**
 * @param isAlone whether this process holds the lock
 * @throws ChangingValue if another program seems to be replacing the value (race)
 */
export async function readValue(
  vault: Vault,
  pair: CredentialName,
  isAlone = false,
): Promise<Uint8Array | null> {
  const targets = targetsOf(pair);
  const found = await findEntry(vault, pair, targets);
  if (!found) return null;
  const head = readHead(found);
  if (!head && !isAlone && mentionsHead(found)) throw new ChangingValue("An entry is incomplete");
  if (!head) return found.comment === TEXT_COMMENT ? found.blob : toUtf8(found.blob);
  const value = new Uint8Array(new ArrayBuffer(head.size));
  let length = 0;
  for (let index = 1; index <= head.count; index++) {
    const part = await vault.read(targets.part(head.slot, index));
    const belongs = part?.comment === describePart(head, index) && length + part.blob.length <= head.size;
    if (belongs) value.set(part.blob, length);
    length += part?.blob.length ?? 0;
    part?.blob.fill(0);
    if (belongs) continue;
    value.fill(0);
    throw new ChangingValue(`Part ${index} of ${head.count} of this value is missing`);
  }
  return value;
}

/** The parts do not fit together: the value is being replaced, or entries were removed. */
export class ChangingValue extends ProviderFailure {
  constructor(found: string) {
    super("PLATFORM", `${found} in the Credential Manager; store the value again`);
  }
}

export async function writeValue(
  vault: Vault,
  pair: CredentialName,
  value: Uint8Array,
  persist: Persistence,
): Promise<void> {
  const count = Math.ceil(value.length / MAX_BLOB);
  if (count > MAX_PARTS) {
    const message = `The Credential Manager takes at most ${MAX_PARTS * MAX_BLOB} bytes for a value, and this one has ${value.length}; keep it in a file that is encrypted with a key from here`;
    throw new ProviderFailure("TOO_LARGE", message);
  }
  const targets = targetsOf(pair);
  const { target, head: old } = await chooseEntry(vault, pair, targets);
  const userName = pair.name;
  if (count <= 1) {
    await vault.write({ target, userName, comment: TEXT_COMMENT, blob: value }, persist);
  } else {
    const head: Head = {
      slot: old?.slot === "a" ? "b" : "a",
      count,
      size: value.length,
      id: crypto.randomUUID(),
    };
    await removeParts(vault, targets, head.slot);
    for (let index = 1; index <= count; index++) {
      const blob = value.subarray((index - 1) * MAX_BLOB, index * MAX_BLOB);
      const part = { target: targets.part(head.slot, index), userName, comment: describePart(head, index) };
      await vault.write({ ...part, blob }, persist);
    }
    const text = describeHead(head);
    await vault.write({ target, userName, comment: text, blob: new TextEncoder().encode(text) }, persist);
    await removeParts(vault, targets, head.slot === "a" ? "b" : "a");
  }
  if (target !== targets.escaped) await vault.remove(targets.escaped);
  if (count <= 1) for (const slot of SLOTS) await removeParts(vault, targets, slot);
}

export async function removeValue(vault: Vault, pair: CredentialName): Promise<boolean> {
  const targets = targetsOf(pair);
  let wasThere = false;
  for (const target of [targets.plain, targets.escaped]) {
    const entry = target === undefined ? null : await vault.read(target);
    entry?.blob.fill(0);
    if (entry && isOf(pair, entry)) wasThere = (await vault.remove(entry.target)) || wasThere;
  }
  for (const slot of SLOTS) await removeParts(vault, targets, slot);
  return wasThere;
}

export async function listPairs(vault: Vault, service: string | undefined): Promise<CredentialName[]> {
  const pairs = new Map<string, CredentialName>();
  for (const { target, userName } of await vault.list()) {
    const pair = credentialOf(target, userName);
    if (pair && (service === undefined || pair.service === service))
      pairs.set(JSON.stringify([pair.service, pair.name]), pair);
  }
  return [...pairs.values()];
}

/** Returns the entry that contains the value or its head. */
async function findEntry(
  vault: Vault,
  pair: CredentialName,
  targets: Targets,
): Promise<WindowsCredential | null> {
  for (const target of [targets.plain, targets.escaped]) {
    const entry = target === undefined ? null : await vault.read(target);
    if (entry && isOf(pair, entry)) return entry;
    entry?.blob.fill(0);
  }
  return null;
}

/** Returns the existing entry, or the plain target if it is free. */
async function chooseEntry(
  vault: Vault,
  pair: CredentialName,
  targets: Targets,
): Promise<{ target: string; head?: Head | undefined }> {
  const plain = targets.plain === undefined ? null : await vault.read(targets.plain);
  const isOurs = plain !== null && isOf(pair, plain);
  const entry = isOurs ? plain : await vault.read(targets.escaped);
  const head = entry ? readHead(entry) : undefined;
  plain?.blob.fill(0);
  entry?.blob.fill(0);
  if (entry) return { target: entry.target, head };
  return { target: plain ? targets.escaped : (targets.plain ?? targets.escaped) };
}

function isOf(pair: CredentialName, { target, userName }: WindowsCredential): boolean {
  const targets = targetsOf(pair);
  return userName === pair.name && (target === targets.plain || target === targets.escaped);
}

/** Removes in descending order. */
async function removeParts(vault: Vault, targets: Targets, slot: Slot): Promise<void> {
  let count = 0;
  for (;;) {
    const part = await vault.read(targets.part(slot, count + 1));
    if (!part) break;
    part.blob.fill(0);
    count++;
  }
  for (; count > 0; count--) await vault.remove(targets.part(slot, count));
}

interface Head {
  readonly slot: Slot;
  readonly count: number;
  /** Size of the whole value in bytes. */
  readonly size: number;
  /** Connects the parts to their head. */
  readonly id: string;
}

const HEAD_BEGIN = Buffer.from("rt: value of ");
const HEAD = /^rt: value of (\d+) bytes in (\d+) parts at (a|b), ([\w-]+)$/;

function describeHead({ slot, count, size, id }: Head): string {
  return `rt: value of ${size} bytes in ${count} parts at ${slot}, ${id}`;
}

function describePart({ slot, count, id }: Head, index: number): string {
  return `rt: part ${index} of ${count} at ${slot}, ${id}`;
}

/** Wine writes the fields of an entry one by one. */
function mentionsHead({ blob, comment }: WindowsCredential): boolean {
  return HEAD.test(comment) || HEAD_BEGIN.equals(blob.subarray(0, HEAD_BEGIN.length));
}

function readHead({ blob, comment }: WindowsCredential): Head | undefined {
  const [, size, count, slot, id] = HEAD.exec(comment) ?? [];
  if (id === undefined || Buffer.compare(blob, Buffer.from(comment)) !== 0) return undefined;
  return { size: Number(size), count: Number(count), slot: slot as Slot, id };
}

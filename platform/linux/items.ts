// The three operations on the items of the keyring, each as a sequence of calls of the Secret Service API.
//
// We search by `service` and `account` alone: a search that names the schema finds nothing in a collection
// that gnome-keyring has not unlocked yet, nor what another program stored for the pair. Of several matches
// the one with our schema counts, then the newest; deletion removes them all.
//
// Any of these functions may reject because an object vanished or the service restarted; the caller then
// starts it again from the search. After a caller has given up, the next step rejects.
import { ProviderFailure } from "../secret-provider.ts";
import type { Call } from "./bus.ts";
import { type Connection, renewDefaultCollection } from "./connection.ts";
import { isLocked } from "./failures.ts";
import {
  COLLECTION_INTERFACE,
  isKept,
  ITEM_INTERFACE,
  NO_OBJECT,
  PROPERTIES_INTERFACE,
  SERVICE_INTERFACE,
  SERVICE_NAME,
  SERVICE_PATH,
} from "./names.ts";
import { prepareSearchItems, type PreparedCall } from "./prepared.ts";
import { decodeSecret, encodeSecret, type Secret, type Session } from "./session.ts";

/** The schema of Bun.secrets, which looks for nothing else. */
const SCHEMA = "com.oven-sh.bun.Secret";
/** How often an object that was just unlocked may be found locked again. */
const MAX_UNLOCKS = 3;
const MAX_LAST_ITEMS = 1_000;
const NOTHING = new Uint8Array(0);
/** CreateItem's `replace`: another process may have created the same item since our search. */
const TRUE = Uint8Array.of(1, 0, 0, 0);

/** One call of the API on its way. */
export interface Operation {
  readonly service: string;
  readonly name: string;
  /** Milliseconds for calls and dialogs that wait for a person. */
  readonly patience: number;
  connection: Connection;
  /** Set when the caller has given up. */
  isOver: boolean;
  isPrompting: boolean;
}

interface Matches {
  unlocked: string[];
  locked: string[];
}

/** The value, which is the caller's to zero, or null. */
export async function getSecret(operation: Operation): Promise<Uint8Array | null> {
  const { connection } = operation;
  const key = `${operation.service}\0${operation.name}`;
  const guess = connection.lastItems.get(key);
  if (guess !== undefined) await connection.session; // so that both calls leave together
  const search = searchItems(operation);
  // The service answers in order: if the search finds this item again, its value is as fresh as a later one.
  const guessed = guess === undefined ? undefined : requestSecret(operation, guess);
  guessed?.catch(() => {});
  const item = await chooseItem(operation, await completeSearch(operation, await search));
  if (guess !== undefined && item !== guess) {
    connection.lastItems.delete(key);
    void guessed!.then(({ struct }) => struct[2].fill(0)).catch(() => {});
  }
  if (item === undefined) return null;
  rememberItem(connection, key, item);
  let first = item === guess ? guessed : undefined;
  const secret = await whenUnlocked(operation, item, () => {
    const request = first ?? requestSecret(operation, item);
    first = undefined;
    return request;
  });
  return decodeSecret(secret.session, secret.struct);
}

/** Replaces the value of the pair's item or creates it in the default collection. */
export async function setSecret(operation: Operation, value: Uint8Array): Promise<void> {
  const matches = await completeSearch(operation, await searchItems(operation));
  const session = await operation.connection.session;
  const item = await chooseItem(operation, {
    unlocked: matches.unlocked.filter(isKept),
    locked: matches.locked.filter(isKept),
  });
  if (item !== undefined) {
    await whenUnlocked(operation, item, async () => {
      const body = await encodeSecret(session, value, NOTHING, NOTHING);
      return call(operation, item, ITEM_INTERFACE, "SetSecret", "(oayays)", body);
    });
    return;
  }
  const collection = await requireCollection(operation);
  const { marshall } = await import("./codec.ts");
  const prefix = marshall("a{sv}", [itemProperties(operation)]);
  const [, prompt] = await whenUnlocked(operation, collection, async () => {
    const body = await encodeSecret(session, value, prefix, TRUE);
    return call(operation, collection, COLLECTION_INTERFACE, "CreateItem", "a{sv}(oayays)b", body);
  });
  await showPrompt(operation, prompt as string);
}

/** Removes what `getSecret` could find; false when there was nothing. */
export async function deleteItems(operation: Operation): Promise<boolean> {
  const { unlocked, locked } = await completeSearch(operation, await searchItems(operation));
  for (const item of [...unlocked, ...locked]) {
    const [prompt] = await whenUnlocked(operation, item, () =>
      call(operation, item, ITEM_INTERFACE, "Delete"),
    );
    await showPrompt(operation, prompt as string);
  }
  return unlocked.length + locked.length > 0;
}

/** Marshalled as dbus-next's inner form of `a{sv}` wants it: pairs, and variants as signature and value. */
function itemProperties({ service, name }: Operation): unknown[] {
  const attributes = [
    ["service", service],
    ["account", name],
    ["xdg:schema", SCHEMA],
  ];
  return [
    [`${ITEM_INTERFACE}.Label`, ["s", `${service}/${name}`]],
    [`${ITEM_INTERFACE}.Attributes`, ["a{ss}", attributes]],
  ];
}

async function requestSecret(
  operation: Operation,
  item: string,
): Promise<{ session: Session; struct: Secret }> {
  const session = await operation.connection.session;
  rejectIfOver(operation);
  const struct = await operation.connection.requests.request(item, session.path, operation.patience);
  return { session, struct };
}

function rememberItem({ lastItems }: Connection, key: string, item: string): void {
  if (lastItems.size >= MAX_LAST_ITEMS) lastItems.clear();
  lastItems.set(key, item);
}

async function searchItems(operation: Operation): Promise<Matches> {
  const call = prepareSearchItems([
    ["service", operation.service],
    ["account", operation.name],
  ]);
  const [unlocked, locked] = await send(operation, call);
  return { unlocked: unlocked as string[], locked: locked as string[] };
}

/** A locked collection may hide its items: unlocks it before believing that there are none. */
async function completeSearch(operation: Operation, matches: Matches): Promise<Matches> {
  if (matches.unlocked.length + matches.locked.length > 0) return matches;
  return (await unlockDefaultCollection(operation)) ? searchItems(operation) : matches;
}

/** Unlocks the default collection, with a dialog if it takes one; false when there was nothing to unlock. */
export async function unlockDefaultCollection(operation: Operation): Promise<boolean> {
  const collection = await operation.connection.defaultCollection;
  if (collection === NO_OBJECT) return false;
  if ((await readProperty(operation, collection, COLLECTION_INTERFACE, "Locked")) !== true) return false;
  await unlock(operation, collection);
  return true;
}

export async function readProperty(
  operation: Operation,
  path: string,
  of: string,
  name: string,
): Promise<unknown> {
  const [variant] = await call(operation, path, PROPERTIES_INTERFACE, "Get", "ss", [of, name]);
  return (variant as { value: unknown }).value;
}

async function chooseItem(operation: Operation, { unlocked, locked }: Matches): Promise<string | undefined> {
  const items = unlocked.length > 0 ? unlocked : locked;
  if (items.length < 2) return items[0];
  const candidates = await Promise.all(items.map((path) => describeItem(operation, path)));
  return candidates.sort(byPreference)[0]!.path;
}

interface Candidate {
  path: string;
  isOwn: boolean;
  modified: bigint;
}

async function describeItem(operation: Operation, path: string): Promise<Candidate> {
  const [properties] = await call(operation, path, PROPERTIES_INTERFACE, "GetAll", "s", [ITEM_INTERFACE]);
  const { Attributes, Modified } = properties as Record<string, { value: unknown } | undefined>;
  const attributes = (Attributes?.value ?? {}) as Record<string, string>;
  return { path, isOwn: attributes["xdg:schema"] === SCHEMA, modified: BigInt(String(Modified?.value ?? 0)) };
}

/** Never a tie, so that `get` reads what `set` wrote when two items were modified in the same second. */
function byPreference(a: Candidate, b: Candidate): number {
  const kept = Number(isKept(b.path)) - Number(isKept(a.path));
  return (
    kept || Number(b.isOwn) - Number(a.isOwn) || Number(b.modified - a.modified) || (a.path < b.path ? -1 : 1)
  );
}

/** The default collection, created if there is none, which takes a dialog. */
async function requireCollection(operation: Operation): Promise<string> {
  const { connection } = operation;
  let collection = await connection.defaultCollection;
  if (collection !== NO_OBJECT && isKept(collection)) return collection;
  renewDefaultCollection(connection);
  collection = await connection.defaultCollection;
  if (collection !== NO_OBJECT && isKept(collection)) return collection;
  const { Variant } = await import("./codec.ts");
  const properties = { [`${COLLECTION_INTERFACE}.Label`]: new Variant("s", "Default keyring") };
  try {
    const [created, prompt] = await call(
      operation,
      SERVICE_PATH,
      SERVICE_INTERFACE,
      "CreateCollection",
      "a{sv}s",
      [properties, "default"],
    );
    await showPrompt(operation, prompt as string);
    if (created !== NO_OBJECT) return created as string;
  } catch (error) {
    const isUnanswered = error instanceof ProviderFailure && error.kind === "LOCKED";
    if (!isUnanswered) throw error;
    throw new ProviderFailure(
      "UNAVAILABLE",
      "There is no default keyring yet and no display on which to choose its password; create one from a desktop session or with gnome-keyring-daemon --unlock",
    );
  }
  renewDefaultCollection(connection);
  collection = await connection.defaultCollection;
  if (collection === NO_OBJECT)
    throw new ProviderFailure(
      "UNAVAILABLE",
      "The secret service did not create a default keyring; create one with its own program",
    );
  return collection;
}

async function whenUnlocked<T>(operation: Operation, path: string, attempt: () => Promise<T>): Promise<T> {
  for (let count = 0; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isLocked(error) || count === MAX_UNLOCKS) throw error;
    }
    while (!(await unlock(operation, path)));
  }
}

/** Unlocks one object; false when it only waited for another operation's dialog, which may have done it. */
async function unlock(operation: Operation, path: string): Promise<boolean> {
  const { connection } = operation;
  if (connection.unlocking) {
    await connection.unlocking;
    return false;
  }
  connection.unlocking = callUnlock(operation, path);
  try {
    await connection.unlocking;
    return true;
  } finally {
    connection.unlocking = undefined;
  }
}

async function callUnlock(operation: Operation, path: string): Promise<void> {
  const [, prompt] = await call(operation, SERVICE_PATH, SERVICE_INTERFACE, "Unlock", "ao", [[path]]);
  await showPrompt(operation, prompt as string);
}

async function showPrompt(operation: Operation, path: string): Promise<void> {
  if (path === NO_OBJECT) return;
  operation.isPrompting = true;
  try {
    await operation.connection.prompts.show(path, operation.patience);
  } finally {
    operation.isPrompting = false;
  }
}

function call(
  operation: Operation,
  path: string,
  on: string,
  member: string,
  signature?: string,
  body?: Call["body"],
): Promise<unknown[]> {
  return send(operation, { destination: SERVICE_NAME, path, interface: on, member, signature, body });
}

function rejectIfOver(operation: Operation): void {
  if (operation.isOver) throw new ProviderFailure("CANCELED", "The operation was given up");
}

async function send(operation: Operation, call: Call | PreparedCall): Promise<unknown[]> {
  rejectIfOver(operation);
  return operation.connection.bus.call(call, operation.patience);
}

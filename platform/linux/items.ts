// The three operations on the items of the keyring, each as a sequence of calls of the Secret Service API.
//
// We search by `service` and `account` alone: a search that names the schema finds nothing in a collection
// that gnome-keyring has not unlocked yet, nor what another program stored for the pair. Of several matches
// the one with our schema counts, then the newest; deletion removes them all.
//
// Any of these functions may reject because an object vanished or the service restarted; the caller then
// starts it again from the search.
import type { Connection } from "./connection.ts";
import { COLLECTION_INTERFACE, isKept, ITEM_INTERFACE, PROPERTIES_INTERFACE } from "./names.ts";
import { call, type Operation, rejectIfOver, send } from "./operation.ts";
import { prepareSearchItems } from "./prepared.ts";
import { decodeSecret, encodeSecret, type Secret, type Session } from "./session.ts";
import { requireCollection, showPrompt, unlockDefaultCollection, whenUnlocked } from "./unlocking.ts";

/** The schema of Bun.secrets, which looks for nothing else. */
const SCHEMA = "com.oven-sh.bun.Secret";
const MAX_LAST_ITEMS = 1_000;
const NOTHING = new Uint8Array(0);
/** CreateItem's `replace`: another process may have created the same item since our search. */
const TRUE = Uint8Array.of(1, 0, 0, 0);

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

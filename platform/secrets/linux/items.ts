// Reads, writes and deletes items of the keyring, as sequences of calls of the Secret Service API.
//
// Invariants:
// - A function may reject because an object vanished or the service restarted; the caller then retries it from the search.
// - A locked item is unlocked first: KWallet returns an empty value instead of an error.
import { BusFailure } from "./dbus/bus-failure.ts";
import type { SecretServiceConnection } from "./connection.ts";
import { lockCredential } from "./credential-lock.ts";
import { IS_LOCKED, isInterrupted } from "./failures.ts";
import {
  chooseItem,
  completeSearch,
  findEvery,
  type KeyringItem,
  SCHEMA,
  searchItems,
} from "./item-search.ts";
import { COLLECTION_INTERFACE, isKept, ITEM_INTERFACE } from "./dbus/dbus-names.ts";
import { call, type Operation, readProperty, rejectIfOver } from "./dbus/operation.ts";
import { decodeSecret, encodeSecret, type Secret, type SecretServiceSession } from "./session.ts";
import { requireCollection, showPrompt, whenUnlocked } from "./unlocking.ts";

const MAX_LAST_ITEMS = 1_000;
const NOTHING = new Uint8Array(0);
/** CreateItem's `replace`: another process may have created the item since the search (race). */
const TRUE = Uint8Array.of(1, 0, 0, 0);

interface ItemReply {
  readonly session: SecretServiceSession;
  readonly struct: Secret;
}

/** Returns the value, which the caller zeroizes, or null. */
export async function getSecret(operation: Operation): Promise<Uint8Array | null> {
  const { connection } = operation;
  const key = `${operation.service}\0${operation.name}`;
  const guess = connection.lastItems.get(key);
  if (guess !== undefined) await connection.session; // so that both calls are sent together
  const search = searchItems(operation);
  // The service replies in order: if the search returns this item, its value is up to date.
  let guessed = guess === undefined ? undefined : requestSecret(operation, guess);
  guessed?.catch(() => {});
  const item = await chooseItem(operation, await completeSearch(operation, await search));
  if (guessed && (item?.path !== guess || item?.isLocked)) {
    connection.lastItems.delete(key);
    void guessed.then(({ struct }) => struct[2].fill(0)).catch(() => {});
    guessed = undefined;
  }
  if (item === undefined) return null;
  rememberItem(connection, key, item.path);
  return whenUnlocked(operation, item, () => {
    const reply = guessed ?? requestSecret(operation, item.path);
    guessed = undefined;
    return readValue(operation, item, reply);
  });
}

/** Replaces the value of the pair's item, or creates the item in the default collection. */
export async function setSecret(operation: Operation, value: Uint8Array): Promise<void> {
  await storeValue(operation, value);
  // A read proves that the keys agree: otherwise it fails to decrypt.
  if (!(await operation.connection.session).isProven) (await getSecret(operation))?.fill(0);
}

async function storeValue(operation: Operation, value: Uint8Array): Promise<void> {
  const search = searchItems(operation);
  search.catch(() => {});
  const { marshall } = await import("./dbus/dbus-encoder.ts"); // loads during the search
  const found = await completeSearch(operation, await search);
  const session = await operation.connection.session;
  const item = await chooseItem(
    operation,
    found.filter(({ path }) => isKept(path)),
  );
  if (item !== undefined) {
    await whenUnlocked(operation, item, async () => {
      const body = await encodeSecret(session, value, NOTHING, NOTHING);
      return call(operation, item.path, ITEM_INTERFACE, "SetSecret", "(oayays)", body);
    });
    return;
  }
  const path = await requireCollection(operation);
  const prefix = marshall("a{sv}", [itemProperties(operation)]);
  const [, prompt] = await whenUnlocked(operation, { path, isLocked: false }, async () => {
    const body = await encodeSecret(session, value, prefix, TRUE);
    return call(operation, path, COLLECTION_INTERFACE, "CreateItem", "a{sv}(oayays)b", body);
  });
  await showPrompt(operation, prompt as string);
}

/**
 * Deletes all items that `getSecret` could find. Returns false if this operation has deleted none: an item that vanishes before its
 * own `Delete` was deleted by another program.
 *
 * Requires the credential lock: KeePassXC crashes if an item is deleted twice.
 */
export async function deleteItems(operation: Operation): Promise<boolean> {
  await lockCredential(operation);
  for (const item of await findEvery(operation)) {
    try {
      const [prompt] = await whenUnlocked(operation, item, () =>
        call(operation, item.path, ITEM_INTERFACE, "Delete"),
      );
      await showPrompt(operation, prompt as string);
      operation.hasDeleted = true;
    } catch (error) {
      if (isInterrupted(error)) operation.hasDeleted = true;
      throw error;
    }
  }
  return operation.hasDeleted === true;
}

/** In dbus-next's inner form of `a{sv}`: pairs, and variants as signature and value. */
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

async function requestSecret(operation: Operation, item: string): Promise<ItemReply> {
  const session = await operation.connection.session;
  rejectIfOver(operation);
  const struct = await operation.connection.requests.request(item, session.path, operation.patience);
  return { session, struct };
}

async function readValue(
  operation: Operation,
  { path }: KeyringItem,
  reply: Promise<ItemReply>,
): Promise<Uint8Array> {
  const { session, struct } = await reply;
  const value = await decodeSecret(session, struct);
  // The item may have been locked since the search (race).
  if (value.length === 0 && (await readProperty(operation, path, ITEM_INTERFACE, "Locked")) === true)
    throw new BusFailure("answered", "The keyring is locked", IS_LOCKED);
  return value;
}

function rememberItem({ lastItems }: SecretServiceConnection, key: string, item: string): void {
  if (lastItems.size >= MAX_LAST_ITEMS) lastItems.clear();
  lastItems.set(key, item);
}

// Finds the items of a pair and chooses one.
//
// Non-obvious: the search uses `service` and `account` only. With the schema it would find nothing in a locked collection of
// gnome-keyring, and no items of other programs. If it finds nothing, items with `username` instead of `account` count. The
// libraries of Python, Go and Rust store these. rt's own items never have that attribute: those libraries would confuse them.
import { isKept, ITEM_INTERFACE, PROPERTIES_INTERFACE } from "./dbus/dbus-names.ts";
import { call, type Operation, send } from "./dbus/operation.ts";
import { prepareSearchItems } from "./dbus/prepared-messages.ts";
import { checkProperty } from "./dbus/reply-signatures.ts";
import { unlockDefaultCollection } from "./unlocking.ts";

/** The schema of Bun.secrets, which finds only its own. */
export const SCHEMA = "com.oven-sh.bun.Secret";

/** The attribute with a credential's name. */
type NameAttribute = "account" | "username";

export interface KeyringItem {
  readonly path: string;
  readonly isLocked: boolean;
}

export async function searchItems(
  operation: Operation,
  attribute: NameAttribute = "account",
): Promise<KeyringItem[]> {
  const { service, name } = operation;
  const found = await send(
    operation,
    prepareSearchItems([
      ["service", service],
      [attribute, name],
    ]),
  );
  const [unlocked, locked] = found as [string[], string[]];
  return [
    ...unlocked.map((path) => ({ path, isLocked: false })),
    ...locked.map((path) => ({ path, isLocked: true })),
  ];
}

export async function completeSearch(operation: Operation, found: KeyringItem[]): Promise<KeyringItem[]> {
  if (found.length > 0) return found;
  const foreign = searchItems(operation, "username");
  foreign.catch(() => {});
  if (!(await unlockDefaultCollection(operation))) return foreign;
  // A locked collection may have hidden its items.
  const shown = await searchItems(operation);
  return shown.length > 0 ? shown : searchItems(operation, "username");
}

/** Returns every item that any search for the pair could find. */
export async function findEvery(operation: Operation): Promise<KeyringItem[]> {
  const search = () => Promise.all([searchItems(operation), searchItems(operation, "username")]);
  let found = (await search()).flat();
  if (found.length === 0 && (await unlockDefaultCollection(operation))) found = (await search()).flat();
  return [...new Map(found.map((item) => [item.path, item])).values()];
}

/** Returns the item with rt's schema, otherwise the newest; undefined if there is none. */
export async function chooseItem(
  operation: Operation,
  items: KeyringItem[],
): Promise<KeyringItem | undefined> {
  const open = items.filter(({ isLocked }) => !isLocked);
  const eligible = open.length > 0 ? open : items;
  if (eligible.length < 2) return eligible[0];
  const candidates = await Promise.all(eligible.map((item) => describeItem(operation, item)));
  return candidates.sort(byPreference)[0]!;
}

interface ItemCandidate extends KeyringItem {
  readonly isOwn: boolean;
  readonly modified: bigint;
}

async function describeItem(operation: Operation, item: KeyringItem): Promise<ItemCandidate> {
  const reply = await call(operation, item.path, PROPERTIES_INTERFACE, "GetAll", "s", [ITEM_INTERFACE]);
  const properties = reply[0] as Map<string, unknown>;
  const read = (name: string) => properties.has(name) && checkProperty(name, properties.get(name));
  const attributes = (read("Attributes") || new Map()) as Map<string, string>;
  const modified = (read("Modified") || 0n) as bigint;
  return { ...item, isOwn: attributes.get("xdg:schema") === SCHEMA, modified };
}

/** A total order, so that `get` reads what `set` wrote even if two items have the same modification second. */
function byPreference(a: ItemCandidate, b: ItemCandidate): number {
  const kept = Number(isKept(b.path)) - Number(isKept(a.path));
  return (
    kept || Number(b.isOwn) - Number(a.isOwn) || Number(b.modified - a.modified) || (a.path < b.path ? -1 : 1)
  );
}

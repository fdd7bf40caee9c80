// Which items a pair has, and which of them counts.
//
// We search by `service` and `account` alone: a search that names the schema finds nothing in a collection
// that gnome-keyring has not unlocked yet, nor what another program stored for the pair. When that finds nothing,
// what Python's, Go's and Rust's libraries store counts, which say `username` for `account`. Nothing of ours has
// that attribute: beside their own items those libraries would find it first, or not, as chance will have it.
import { isKept, ITEM_INTERFACE, PROPERTIES_INTERFACE } from "./dbus/dbus-names.ts";
import { call, type Operation, send } from "./dbus/operation.ts";
import { prepareSearchItems } from "./dbus/prepared-messages.ts";
import { checkProperty } from "./dbus/reply-signatures.ts";
import { unlockDefaultCollection } from "./unlocking.ts";

/** The schema of Bun.secrets, which looks for nothing else. */
export const SCHEMA = "com.oven-sh.bun.Secret";

/** The attribute that holds a credential's name. */
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

/** The pair's items, given those with its `account`. */
export async function completeSearch(operation: Operation, found: KeyringItem[]): Promise<KeyringItem[]> {
  if (found.length > 0) return found;
  const foreign = searchItems(operation, "username");
  foreign.catch(() => {});
  if (!(await unlockDefaultCollection(operation))) return foreign;
  // A locked collection may have hidden its items.
  const shown = await searchItems(operation);
  return shown.length > 0 ? shown : searchItems(operation, "username");
}

/** Every item that a search for the pair could ever find. */
export async function findEvery(operation: Operation): Promise<KeyringItem[]> {
  const search = () => Promise.all([searchItems(operation), searchItems(operation, "username")]);
  let found = (await search()).flat();
  if (found.length === 0 && (await unlockDefaultCollection(operation))) found = (await search()).flat();
  return [...new Map(found.map((item) => [item.path, item])).values()];
}

/** The item with our schema, or else the newest; undefined when there is none. */
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

/** Never a tie, so that `get` reads what `set` wrote when two items were modified in the same second. */
function byPreference(a: ItemCandidate, b: ItemCandidate): number {
  const kept = Number(isKept(b.path)) - Number(isKept(a.path));
  return (
    kept || Number(b.isOwn) - Number(a.isOwn) || Number(b.modified - a.modified) || (a.path < b.path ? -1 : 1)
  );
}

// Lists the credentials of the keyring, without values. It reads the collections and their items, because KeePassXC returns nothing
// for a search without attributes.
import type { CredentialName } from "../contract/secret-provider.ts";
import { isVanished } from "./failures.ts";
import { COLLECTION_INTERFACE, ITEM_INTERFACE, SERVICE_INTERFACE, SERVICE_PATH } from "./dbus/dbus-names.ts";
import { type Operation, readProperty } from "./dbus/operation.ts";
import { unlockDefaultCollection } from "./unlocking.ts";

/** Returns every pair that has an item, of any program; only those of `operation.service` unless it is empty. */
export async function listCredentials(operation: Operation): Promise<CredentialName[]> {
  // A locked collection hides its items, so the result would be incomplete.
  await unlockDefaultCollection(operation);
  const collections = await readProperty(operation, SERVICE_PATH, SERVICE_INTERFACE, "Collections");
  const items = await readEach(operation, collections as string[], COLLECTION_INTERFACE, "Items");
  const attributes = await readEach(operation, (items as string[][]).flat(), ITEM_INTERFACE, "Attributes");
  const found = new Map<string, CredentialName>();
  for (const each of attributes as Map<string, string>[]) {
    const service = each.get("service");
    const name = each.get("account") ?? each.get("username");
    if (!service || !name || (operation.service !== "" && operation.service !== service)) continue;
    found.set(`${service}\0${name}`, { service, name });
  }
  return [...found.values()];
}

/** Reads one property of many objects. Omits objects that vanish concurrently. */
async function readEach(
  operation: Operation,
  paths: readonly string[],
  of: string,
  name: string,
): Promise<unknown[]> {
  const values = await Promise.all(
    paths.map(async (path) => {
      try {
        return await readProperty(operation, path, of, name);
      } catch (error) {
        if (isVanished(error)) return undefined;
        throw error;
      }
    }),
  );
  return values.filter((value) => value !== undefined);
}

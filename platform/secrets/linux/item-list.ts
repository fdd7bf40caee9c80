// What is in the keyring, by name. Read from the collections and their items, because KeePassXC answers a
// search without attributes with nothing. No value is touched.
import type { CredentialName } from "../contract/secret-provider.ts";
import { isVanished } from "./failures.ts";
import { COLLECTION_INTERFACE, ITEM_INTERFACE, SERVICE_INTERFACE, SERVICE_PATH } from "./dbus/dbus-names.ts";
import { type Operation, readProperty } from "./dbus/operation.ts";
import { unlockDefaultCollection } from "./unlocking.ts";

/** Every pair that has an item, whoever stored it; those of `operation.service` unless that is empty. */
export async function listCredentials(operation: Operation): Promise<CredentialName[]> {
  // What a locked collection has is hidden, and "nothing" would be a wrong answer.
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

/** One property of many objects; those that vanish meanwhile are left out. */
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

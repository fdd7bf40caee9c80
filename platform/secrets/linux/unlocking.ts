// Requests that may show a prompt: unlocking, creating the default collection, confirming a step.
//
// Invariants:
// - Concurrent operations share one prompt. A refusal, or a timeout, counts for every operation called before: twenty reads show one
//   dialog.
// - If the requesting operation is abandoned before its dialog appears, one of the waiting operations requests it again.
import { ProviderFailure } from "../contract/secret-provider.ts";
import { renewDefaultCollection } from "./connection.ts";
import { isLocked } from "./failures.ts";
import {
  COLLECTION_INTERFACE,
  isKept,
  NO_OBJECT,
  SERVICE_INTERFACE,
  SERVICE_PATH,
} from "./dbus/dbus-names.ts";
import { call, OperationAbandoned, type Operation, readProperty, rejectIfOver } from "./dbus/operation.ts";

/** Retry limit if an object is locked again after an unlock. */
const MAX_UNLOCKS = 3;

/** Runs `attempt` on an item or collection, after unlocking it if it is locked or the attempt reports that. */
export async function whenUnlocked<T>(
  operation: Operation,
  object: { readonly path: string; readonly isLocked: boolean },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let count = 0, isKnown = object.isLocked; ; count++, isKnown = true) {
    if (isKnown) while (!(await askOnce(operation, () => unlock(operation, object.path))));
    try {
      return await attempt();
    } catch (error) {
      if (!isLocked(error) || count === MAX_UNLOCKS) throw error;
    }
  }
}

/** Unlocks the default collection, with a prompt if necessary. Returns false if it was not locked. */
export async function unlockDefaultCollection(operation: Operation): Promise<boolean> {
  const collection = await operation.connection.defaultCollection;
  if (collection === NO_OBJECT) return false;
  if ((await readProperty(operation, collection, COLLECTION_INTERFACE, "Locked")) !== true) return false;
  await askOnce(operation, () => unlock(operation, collection));
  return true;
}

/** Returns the default collection. Creates it if it is absent, which shows a prompt. */
export async function requireCollection(operation: Operation): Promise<string> {
  const { connection } = operation;
  let hasAsked = false;
  for (let isFresh = false; ; isFresh = true) {
    const collection = await connection.defaultCollection;
    if (collection !== NO_OBJECT && isKept(collection)) return collection;
    if (hasAsked)
      throw new ProviderFailure(
        "UNAVAILABLE",
        "The secret service did not create a default keyring; create one with its own program",
      );
    // It may have been created since it was read (race).
    if (isFresh) hasAsked = await askOnce(operation, () => createCollection(operation));
    renewDefaultCollection(connection);
  }
}

/** Shows the prompt that a call returned, unless the operation was abandoned; no effect for the path "/". */
export async function showPrompt(operation: Operation, path: string): Promise<void> {
  if (path === NO_OBJECT) return;
  operation.isPrompting = true;
  try {
    await operation.connection.prompts.show(path, operation.patience, () => rejectIfOver(operation));
  } finally {
    operation.isPrompting = false;
  }
}

/** Asks and returns true; or waits for another operation's prompt and returns false. */
async function askOnce(operation: Operation, ask: () => Promise<void>): Promise<boolean> {
  const { connection } = operation;
  for (;;) {
    const { asking, declined } = connection;
    if (declined && operation.calledAt <= declined.at) throw declined.failure;
    if (!asking) break;
    try {
      await asking;
      return false;
    } catch (failure) {
      if (!(failure instanceof OperationAbandoned)) throw failure;
    }
  }
  connection.asking = ask();
  try {
    await connection.asking;
    return true;
  } catch (failure) {
    if (failure instanceof ProviderFailure && !(failure instanceof OperationAbandoned))
      connection.declined = { at: performance.now(), failure };
    throw failure;
  } finally {
    connection.asking = undefined;
  }
}

async function unlock(operation: Operation, path: string): Promise<void> {
  const [, prompt] = await call(operation, SERVICE_PATH, SERVICE_INTERFACE, "Unlock", "ao", [[path]]);
  await showPrompt(operation, prompt as string);
}

async function createCollection(operation: Operation): Promise<void> {
  const { Variant } = await import("./dbus/dbus-encoder.ts");
  const body = [{ [`${COLLECTION_INTERFACE}.Label`]: new Variant("s", "Default keyring") }, "default"];
  try {
    const reply = await call(operation, SERVICE_PATH, SERVICE_INTERFACE, "CreateCollection", "a{sv}s", body);
    await showPrompt(operation, reply[1] as string);
  } catch (error) {
    const isUnanswered = error instanceof ProviderFailure && error.kind === "LOCKED";
    if (!isUnanswered) throw error;
    throw new ProviderFailure(
      "UNAVAILABLE",
      "There is no default keyring yet and no display on which to choose its password; create one from a desktop session, or run gnome-keyring-daemon --replace --unlock with a password on standard input",
    );
  }
}

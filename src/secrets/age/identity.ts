// Finds the private age key: the variable RT_AGE_KEY (for machines without a credential store), else the key in the store.
//
// Invariants:
// - The variable is that of the environment in which rt was started; no `.env` can set it.
// - No message contains a private key.
import { host } from "../../../platform/processes/process.ts";
import { splitRemedy } from "../../../platform/secrets/contract/secret-provider.ts";
import { UserError } from "../../user-error.ts";
import { secrets } from "../api/secrets.ts";

export const KEY_VARIABLE = "RT_AGE_KEY";
const SERVICE = "rt.age";
const NAME = "private key";

const PRIVATE = /^AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}$/;
export const PUBLIC = /^age1[02-9ac-hj-np-z]{58}$/;

export interface Identities {
  /** Private keys, at least one. */
  readonly keys: readonly string[];
  readonly isFromVariable: boolean;
}

/** Returns undefined if this machine has no key. @throws UserError */
export async function findIdentities(): Promise<Identities | undefined> {
  const text = host.originalVariable(KEY_VARIABLE);
  if (text) return { keys: readKeys(text), isFromVariable: true };
  const stored = await storedKey();
  return stored === undefined ? undefined : { keys: [stored], isFromVariable: false };
}

/** Parses the format of age-keygen: comments, and one key per line. @throws UserError */
function readKeys(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const keys = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (keys.length > 0 && keys.every((key) => PRIVATE.test(key))) return keys;
  throw new UserError(
    `The variable ${KEY_VARIABLE} contains no age private key`,
    "set it to the line AGE-SECRET-KEY-1... that rt secrets share new-key prints",
  );
}

async function storedKey(): Promise<string | undefined> {
  let stored: string | null;
  try {
    stored = await secrets.get(SERVICE, NAME);
  } catch (error) {
    throw toUserError(error);
  }
  if (stored === null) return undefined;
  if (PRIVATE.test(stored.trim())) return stored.trim();
  throw new UserError(
    `The credential "${NAME}" under "${SERVICE}" is not an age private key`,
    `rt secrets delete ${SERVICE} "${NAME}"`,
  );
}

/** Stores a private key in the credential store. @throws UserError */
export async function storeKey(key: string): Promise<void> {
  try {
    await secrets.set(SERVICE, NAME, key);
  } catch (error) {
    throw toUserError(error);
  }
}

function toUserError(error: unknown): unknown {
  const { name, message, code = "" } = error as Error & { code?: string };
  if (name !== "SecretsError") return error;
  const [what, remedy] = splitRemedy(message);
  const hints = [
    ...(remedy === undefined ? [] : [remedy]),
    `or set the variable ${KEY_VARIABLE} to a private key; rt secrets share new-key prints one`,
  ];
  const failure = new UserError(`Cannot access the age private key in the credential store: ${what}`, hints);
  // The kind of the store's failure, so that an optional secret counts as missing if the store is unavailable.
  return Object.assign(failure, { kind: code.replace("ERR_SECRETS_", "") });
}

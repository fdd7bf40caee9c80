// The private key that reads files of age: that of the variable RT_AGE_KEY, on machines without a credential store, or else
// the one in the store.
//
// Contract: the variable counts as rt was started with it; no `.env` sets it. A private key is in no message.
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
  /** Private keys, one at least. */
  readonly keys: readonly string[];
  readonly isFromVariable: boolean;
}

/** Undefined where there is none. Throws Failure. */
export async function findIdentities(): Promise<Identities | undefined> {
  const text = host.originalVariable(KEY_VARIABLE);
  if (text) return { keys: readKeys(text), isFromVariable: true };
  const stored = await storedKey();
  return stored === undefined ? undefined : { keys: [stored], isFromVariable: false };
}

/** That of age-keygen's files: comments, and a key in each other line. Throws Failure. */
function readKeys(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const keys = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (keys.length > 0 && keys.every((key) => PRIVATE.test(key))) return keys;
  throw new UserError(
    `The variable ${KEY_VARIABLE} has no private key of age in it`,
    "rt secrets share new-key makes one: its line AGE-SECRET-KEY-1...",
  );
}

async function storedKey(): Promise<string | undefined> {
  let stored: string | null;
  try {
    stored = await secrets.get(SERVICE, NAME);
  } catch (error) {
    throw explainStore(error);
  }
  if (stored === null) return undefined;
  if (PRIVATE.test(stored.trim())) return stored.trim();
  throw new UserError(
    `What is stored under "${SERVICE}" "${NAME}" is no private key of age`,
    `rt secrets delete ${SERVICE} "${NAME}"`,
  );
}

/** Throws Failure. */
export async function storeKey(key: string): Promise<void> {
  try {
    await secrets.set(SERVICE, NAME, key);
  } catch (error) {
    throw explainStore(error);
  }
}

function explainStore(error: unknown): unknown {
  const { name, message, code = "" } = error as Error & { code?: string };
  if (name !== "SecretsError") return error;
  const [what, remedy] = splitRemedy(message);
  const hints = [
    ...(remedy === undefined ? [] : [remedy]),
    `or put a private key into the variable ${KEY_VARIABLE}; rt secrets share new-key makes one`,
  ];
  const failure = new UserError(`The private key of age is in the credential store: ${what}`, hints);
  // As the store's own failure is told, where a secret is optional.
  return Object.assign(failure, { kind: code.replace("ERR_SECRETS_", "") });
}

// Credentials in the login keychain of macOS, as generic passwords with service and account (the layout of Bun.secrets, keytar and
// `security`). The file-based keychain is used: the data protection keychain needs an entitlement (-34018).
//
// Invariants:
// - Operations on one pair run in call order (credential-operations.ts). An abandoned operation continues in its thread, because a
//   dialog cannot be cancelled; then its objects are released and the value is zeroized.
// Non-obvious:
// - The value must not be part of a query: it would be a search criterion, and no item would match.
// - A query without a limit finds one item for a read and all items for an update or delete; a limit is an error there.
// - Listing names needs no unlock, because only values are encrypted.
import { errorMessage } from "../../caught-error.ts";
import { type IsOver, Operations } from "../credential-operations.ts";
import {
  type CredentialName,
  type OperationOptions,
  ProviderFailure,
  type SecretProvider,
} from "../contract/secret-provider.ts";
import {
  readArray,
  readConstants,
  readData,
  readEntry,
  readString,
  readTrue,
  type CFReference,
  Scope,
} from "./core-foundation.ts";
import { SECURITY } from "./frameworks.ts";
import { type ItemSymbol, openItemThreads, type SecurityCall } from "./security.ts";
import { DUPLICATE_ITEM, ITEM_NOT_FOUND, SUCCESS } from "./os-status.ts";

/** Milliseconds: time for a person to answer a dialog. */
const PERSON_TIMEOUT = 120_000;
/** Retry limit if another program creates or deletes the item concurrently (race). */
const MAX_ATTEMPTS = 5;

const CONSTANTS = [
  "kSecClass",
  "kSecClassGenericPassword",
  "kSecAttrService",
  "kSecAttrAccount",
  "kSecAttrLabel",
  "kSecValueData",
  "kSecReturnData",
  "kSecReturnAttributes",
  "kSecMatchLimit",
  "kSecMatchLimitOne",
  "kSecMatchLimitAll",
] as const;

type Constants = Record<(typeof CONSTANTS)[number] | "yes", CFReference>;
type KeychainItem = readonly [key: CFReference, value: CFReference];

interface Step {
  readonly call: SecurityCall<ItemSymbol>;
  /** Ends with the operation, in its thread. */
  readonly scope: Scope;
  readonly isOver: IsOver;
  readonly constants: Constants;
}

export function openKeychain(): SecretProvider {
  return new Keychain();
}

class Keychain implements SecretProvider {
  readonly #operations = new Operations(
    "The keychain did not finish within $; look for its dialog, then try again",
  );
  readonly #threads = openItemThreads();
  #constants: Constants | undefined;

  get(service: string, name: string, options?: OperationOptions): Promise<Uint8Array | null> {
    return this.#perform(service, name, options, (step) => getValue(step, service, name));
  }

  set(service: string, name: string, value: Uint8Array, options?: OperationOptions): Promise<void> {
    return this.#perform(service, name, options, (step) => setValue(step, service, name, value));
  }

  delete(service: string, name: string, options?: OperationOptions): Promise<boolean> {
    return this.#perform(service, name, options, async ({ call, ...step }) => {
      const query = step.scope.dictionary(identify(step, service, name));
      return (await call("SecItemDelete", [query], [ITEM_NOT_FOUND])) === SUCCESS;
    });
  }

  /** Uses a key that no credential can have, so it waits only for other lists. */
  list(service = "", options?: OperationOptions): Promise<CredentialName[]> {
    return this.#perform(service, "", options, (step) => listNames(step, service));
  }

  #perform<T>(
    service: string,
    name: string,
    { signal, timeout = PERSON_TIMEOUT }: OperationOptions = {},
    perform: (step: Step) => Promise<T>,
  ): Promise<T> {
    return this.#operations.perform(`${service}\0${name}`, { signal, timeout }, async (isOver) => {
      try {
        return await this.#threads.use(async (call) => {
          checkNotOver(isOver);
          this.#constants ??= { ...readConstants(SECURITY, CONSTANTS), yes: readTrue() };
          using scope = new Scope();
          return await perform({ call, scope, isOver, constants: this.#constants });
        });
      } catch (error) {
        if (error instanceof ProviderFailure) throw error;
        throw new ProviderFailure(
          "PLATFORM",
          `The keychain could not be called (${errorMessage(error)}); this needs macOS 13 or later`,
        );
      }
    });
  }
}

function checkNotOver(isOver: IsOver): void {
  if (isOver()) throw new ProviderFailure("CANCELED", "The operation was aborted");
}

async function getValue(
  { call, isOver, ...step }: Step,
  service: string,
  name: string,
): Promise<Uint8Array | null> {
  const { scope, constants } = step;
  const query = scope.dictionary([
    ...identify(step, service, name),
    [constants.kSecReturnData, constants.yes],
    [constants.kSecMatchLimit, constants.kSecMatchLimitOne],
  ]);
  const result = new BigUint64Array(1);
  const status = await call("SecItemCopyMatching", [query, result], [ITEM_NOT_FOUND]);
  if (status === ITEM_NOT_FOUND) return null;
  const [data = 0n] = result;
  if (data === 0n) return new Uint8Array(0); // an empty value
  scope.ownData(data);
  checkNotOver(isOver);
  return readData(data);
}

async function setValue(
  { call, isOver, ...step }: Step,
  service: string,
  name: string,
  value: Uint8Array,
): Promise<void> {
  const { scope, constants } = step;
  const item = identify(step, service, name);
  const content: KeychainItem = [constants.kSecValueData, scope.data(value)];
  const query = scope.dictionary(item);
  const change = scope.dictionary([content]);
  let addition: CFReference | undefined;
  for (let count = 1; ; count++) {
    // The last attempt's failure is thrown.
    const expected = (status: number) => (count < MAX_ATTEMPTS ? [status] : []);
    if ((await call("SecItemUpdate", [query, change], [ITEM_NOT_FOUND])) === SUCCESS) return;
    checkNotOver(isOver);
    // Keychain Access shows the label as the entry's name.
    addition ??= scope.dictionary([...item, [constants.kSecAttrLabel, scope.string(service)], content]);
    if ((await call("SecItemAdd", [addition, null], expected(DUPLICATE_ITEM))) === SUCCESS) return;
    checkNotOver(isOver);
  }
}

async function listNames(step: Step, service: string): Promise<CredentialName[]> {
  const { call, scope, constants } = step;
  const query = scope.dictionary([
    ...identify(step, service),
    [constants.kSecReturnAttributes, constants.yes],
    [constants.kSecMatchLimit, constants.kSecMatchLimitAll],
  ]);
  const result = new BigUint64Array(1);
  const status = await call("SecItemCopyMatching", [query, result], [ITEM_NOT_FOUND]);
  if (status === ITEM_NOT_FOUND) return [];
  const found = new Map<string, CredentialName>();
  for (const attributes of readArray(scope.own(result[0]!))) {
    const service = readString(readEntry(attributes, constants.kSecAttrService));
    const name = readString(readEntry(attributes, constants.kSecAttrAccount));
    if (service && name) found.set(`${service}\0${name}`, { service, name });
  }
  return [...found.values()];
}

/** Returns the query for an item; without a name, for all items of a service, or of all services. */
function identify({ scope, constants }: Pick<Step, "scope" | "constants">, service: string, name = "") {
  const entries: KeychainItem[] = [[constants.kSecClass, constants.kSecClassGenericPassword]];
  if (service) entries.push([constants.kSecAttrService, scope.string(service)]);
  if (name) entries.push([constants.kSecAttrAccount, scope.string(name)]);
  return entries;
}

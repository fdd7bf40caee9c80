// Credentials in the Windows Credential Manager, as generic entries of the signed-in user: target "service/name", user name `name` (the
// layout of Bun.secrets and keytar). See credential-targets.ts for shared targets, chunked-credentials.ts for large values.
//
// Invariants:
// - Calls run in worker threads, because the security service may block.
// - A write holds a lock against other rt processes, because it takes several steps. A read takes the lock only if the value changes
//   concurrently.
import { ForeignThreads, type ForeignCall } from "../foreign-threads.ts";
import { type IsOver, Operations } from "../credential-operations.ts";
import type {
  CredentialName,
  OperationOptions,
  SecretProvider,
  StoreOptions,
} from "../contract/secret-provider.ts";
import { ERROR_FROM, LIBRARIES, openVault, Win32Error, withLock } from "./advapi.ts";
import { copySecret } from "./credential.ts";
import {
  ChangingValue,
  listPairs,
  readValue,
  removeValue,
  type Vault,
  writeValue,
} from "./chunked-credentials.ts";
import { toProviderFailure } from "./failures.ts";
import { isVaultDisabled } from "../../processes/windows/registry.ts";

const TIMEOUT =
  "The Credential Manager did not finish within $; check whether the service Credential Manager (VaultSvc) hangs";

export function openCredentialManager(): SecretProvider {
  return new CredentialManager();
}

class CredentialManager implements SecretProvider {
  readonly #threads = new ForeignThreads(LIBRARIES, { errorFrom: ERROR_FROM });
  readonly #operations = new Operations(TIMEOUT);

  get(service: string, name: string, options?: OperationOptions): Promise<Uint8Array | null> {
    const pair = { service, name };
    return this.#perform(pair, options, async (call, vault, isOver) => {
      try {
        return await readValue(vault, pair);
      } catch (error) {
        if (!(error instanceof ChangingValue)) throw error;
        return await withLock(call, isOver, () => readValue(vault, pair, true));
      }
    });
  }

  async set(service: string, name: string, value: Uint8Array, options: StoreOptions = {}): Promise<void> {
    const pair = { service, name };
    const { persist = "enterprise" } = options;
    const copy = copySecret(value); // the caller may give up and zeroize its own buffer
    let isInUse = false;
    try {
      await this.#perform(pair, options, async (call, vault, isOver) => {
        isInUse = true;
        const write = () => writeValue(vault, pair, copy, persist);
        await withLock(call, isOver, write).finally(() => copy.fill(0));
      });
    } finally {
      if (!isInUse) copy.fill(0);
    }
  }

  delete(service: string, name: string, options?: OperationOptions): Promise<boolean> {
    const pair = { service, name };
    const remove = (vault: Vault) => removeValue(vault, pair);
    return this.#perform(pair, options, (call, vault, isOver) => withLock(call, isOver, () => remove(vault)));
  }

  list(service?: string, options?: OperationOptions): Promise<CredentialName[]> {
    const nobody = { service: "", name: "" };
    return this.#perform(nobody, options, (_, vault) => listPairs(vault, service));
  }

  /** Serializes operations on pairs that may share an entry. */
  async #perform<T>(
    { service, name }: CredentialName,
    options: OperationOptions | undefined,
    task: (call: ForeignCall, vault: Vault, isOver: IsOver) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#operations.perform(`${service}/${name}`.toLowerCase(), options, (isOver) =>
        this.#threads.use((call) => task(call, openVault(call), isOver)),
      );
    } catch (error) {
      if (!(error instanceof Win32Error)) throw error;
      throw toProviderFailure(error.code, () => isVaultDisabled() === true);
    }
  }
}

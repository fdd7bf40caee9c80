// The credential store as the helpers use it: one connection, values as text, and the names under a service.
import type { CredentialName, SecretProvider } from "../../../platform/secrets/contract/secret-provider.ts";
import { openProvider } from "../../../platform/secrets/secret-provider.ts";
import { createSecrets, type Secrets, toSecretsError } from "../api/secrets.ts";
import { ArgumentError } from "../command-arguments.ts";

export interface HelperStore {
  readonly secrets: Secrets;
  /** Of one service or of all, in order. */
  list(service?: string): Promise<CredentialName[]>;
}

export function openStore(): HelperStore {
  let opened: Promise<SecretProvider> | undefined;
  const open = () => (opened ??= openProvider());
  return {
    secrets: createSecrets(open),
    async list(service) {
      try {
        const provider = await open();
        if (!provider.list)
          throw new ArgumentError("The credential store of this system cannot be listed by rt");
        const found = await provider.list(service);
        const keyOf = (each: CredentialName) => `${each.service}\0${each.name}`;
        return found.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      } catch (error) {
        throw toSecretsError(error);
      }
    },
  };
}

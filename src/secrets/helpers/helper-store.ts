// Opens the credential store for the helpers: one connection, text values, and the names of a service.
import type { CredentialName, SecretProvider } from "../../../platform/secrets/contract/secret-provider.ts";
import { openProvider } from "../../../platform/secrets/secret-provider.ts";
import type { Secrets } from "rt";
import { createSecrets, toSecretsError } from "../api/secrets.ts";
import { ArgumentError } from "../command-arguments.ts";

export interface HelperStore {
  readonly secrets: Secrets;
  /** Lists the names of one service, or of all services, sorted. */
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
        if (!provider.list) throw new ArgumentError("rt cannot list the credential store of this system");
        const names = await provider.list(service);
        const keyOf = (each: CredentialName) => `${each.service}\0${each.name}`;
        return names.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      } catch (error) {
        throw toSecretsError(error);
      }
    },
  };
}

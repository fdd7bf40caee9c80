// Reads --secret: secrets that the command line grants.
import { UserError } from "../../user-error.ts";
import type { GivenOptions } from "../../options/parse.ts";

/** One --secret. src/secrets/grants validates it, and is loaded only if there is one. */
export interface AskedSecret {
  readonly name: string;
  /** "service/name" in the credential store; undefined for the source in rtfig.toml. */
  readonly address?: string | undefined;
}

/** Returns the secrets; the last one of a name applies. @throws UserError */
export function readAskedSecrets(given: GivenOptions): readonly AskedSecret[] {
  const secrets = new Map<string, AskedSecret>();
  for (const word of given.get("secret")?.all ?? []) {
    const equals = word.indexOf("=");
    const name = equals < 0 ? word : word.slice(0, equals);
    if (name === "")
      throw new UserError("--secret needs the name of a variable", "--secret=NPM_TOKEN=com.acme.release/npm");
    secrets.set(name, { name, address: equals < 0 ? undefined : word.slice(equals + 1) });
  }
  return [...secrets.values()];
}

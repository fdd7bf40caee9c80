// Which secrets the command line gives to what it runs: --secret.
import { UserError } from "../../user-error.ts";
import type { GivenOptions } from "../../options/parse.ts";

/** One --secret. What it says is checked by src/secrets/grants, which is loaded where there is one. */
export interface AskedSecret {
  readonly name: string;
  /** "service/name" in the credential store; undefined for what rtfig.toml says. */
  readonly address?: string | undefined;
}

/** The last of a name counts. Throws Failure. */
export function readAskedSecrets(given: GivenOptions): readonly AskedSecret[] {
  const asked = new Map<string, AskedSecret>();
  for (const word of given.get("secret")?.all ?? []) {
    const equals = word.indexOf("=");
    const name = equals < 0 ? word : word.slice(0, equals);
    if (name === "")
      throw new UserError("--secret needs the name of a variable", "--secret=NPM_TOKEN=com.acme.release/npm");
    asked.set(name, { name, address: equals < 0 ? undefined : word.slice(equals + 1) });
  }
  return [...asked.values()];
}

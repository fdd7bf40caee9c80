// What is said where secrets are not there, and asking for them.
//
// Contract: one message for all of them, with the line that stores each. They are asked for where a person can answer:
// standard input and standard error are a terminal. A pipe never answers, and nothing is stored that was not typed.
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import { type MissingSecret, storeFailure } from "./secret-fetch.ts";
import { withoutLineBreak } from "../streams.ts";
import { describeSource, type MappedSecret } from "./mapping.ts";
import { canAsk, tell } from "../trust/yes-no-prompt.ts";

/**
 * The values that a person enters for what the store does not have, stored; none where nobody can be asked, and not all where
 * a person gave up: then nothing more is stored. The bytes are the caller's to zero.
 */
export async function askForMissing(
  lacking: readonly MissingSecret[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (!canAsk() || lacking.some(({ secret }) => secret.source.kind !== "store")) return new Map();
  const { openProvider } = await import("../../../platform/secrets/secret-provider.ts");
  const { promptHidden } = await import("../hidden-prompt.ts");
  const store = await openProvider();
  const values = new Map<string, Uint8Array>();
  const byAddress = new Map<string, Uint8Array>();
  tell([
    "rt: The credential store does not have all of it yet; what you enter is kept there (Enter: not now)",
  ]);
  for (const { secret } of lacking) {
    const source = secret.source as StoreSource;
    const address = describeSource(source);
    const value = byAddress.get(address) ?? (await ask(`${describe(secret)}, ${address} (not shown): `));
    if (!value) break;
    if (!byAddress.has(address))
      await store.set(source.service, source.name, value).catch((error: unknown) => {
        throw storeFailure(`Cannot store ${secret.name}`, error);
      });
    byAddress.set(address, value);
    values.set(secret.name, value.slice());
  }
  for (const each of byAddress.values()) each.fill(0);
  return values;

  async function ask(question: string): Promise<Uint8Array | undefined> {
    const typed = await promptHidden(question);
    return typed ? new TextEncoder().encode(withoutLineBreak(typed)) : undefined;
  }
}

type StoreSource = Extract<MappedSecret["source"], { kind: "store" }>;

export function missingFailure(lacking: readonly MissingSecret[]): UserError {
  const names = lacking.map(({ secret }) => describe(secret)).join(", ");
  const what =
    lacking.length === 1 ? `The secret ${names} is not there` : `These secrets are not there: ${names}`;
  return new UserError(what, lacking.map(remedyFor));
}

function remedyFor({ secret, reason }: MissingSecret): string {
  const { name, source } = secret;
  if (reason !== undefined || source.kind !== "store") return `${name}: ${reason ?? "it is not in the file"}`;
  return `rt secrets set ${wordsFor(source)}`;
}

function describe({ name, about }: MappedSecret): string {
  return about === undefined ? name : `${name} (${printable(about)})`;
}

function wordsFor({ service, name }: StoreSource): string {
  const words = [service, name].map(quote).join(" ");
  return [service, name].some((word) => word.startsWith("-")) ? `-- ${words}` : words;
}

/** For the shells of Linux and macOS. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

// Prompts for missing secrets, or creates the error that lists them with the command that stores each.
//
// Invariants:
// - It prompts only if standard input and standard error are terminals. Only typed values are stored.
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import { type MissingSecret, storeFailure } from "./secret-fetch.ts";
import { withoutLineBreak } from "../streams.ts";
import { shellWord } from "../shell-quote.ts";
import { describeSource, type MappedSecret } from "./mapping.ts";
import { canAsk, printLines } from "../trust/yes-no-prompt.ts";

/**
 * Prompts for the secrets that the store lacks, and stores the answers. Returns no values without a terminal, and the values
 * so far if the user cancels. The caller zeroizes the bytes.
 */
export async function askForMissing(
  missing: readonly MissingSecret[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (!canAsk() || missing.some(({ secret }) => secret.source.kind !== "store")) return new Map();
  const { openProvider } = await import("../../../platform/secrets/secret-provider.ts");
  const { promptHidden } = await import("../hidden-prompt.ts");
  const store = await openProvider();
  const values = new Map<string, Uint8Array>();
  const byAddress = new Map<string, Uint8Array>();
  printLines(["rt: Secrets are missing in the credential store; rt stores what you enter (Enter: skip)"]);
  for (const { secret } of missing) {
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

export function missingFailure(missing: readonly MissingSecret[]): UserError {
  const names = missing.map(({ secret }) => describe(secret)).join(", ");
  const what = missing.length === 1 ? `Missing secret: ${names}` : `Missing secrets: ${names}`;
  return new UserError(what, missing.map(remedyFor));
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
  const words = [service, name].map(shellWord).join(" ");
  return [service, name].some((word) => word.startsWith("-")) ? `-- ${words}` : words;
}

// Fetches the secrets of a run from their sources concurrently. Each address is read once, over one connection to the store,
// which asks the user to unlock it at most once.
//
// Invariants:
// - Only modules that a source needs are loaded.
// - The caller zeroizes the bytes. If this throws, it has zeroized them.
import { splitRemedy } from "../../../platform/secrets/contract/secret-provider.ts";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import type { OpenFiles } from "../age/age-file.ts";
import type { MappedSecret, SecretSource } from "./mapping.ts";

/** A secret that its source does not have, or failed to return. */
export interface MissingSecret {
  readonly secret: MappedSecret;
  /** Reason of the source, as a sentence; undefined if the credential store does not have it. */
  readonly reason?: string | undefined;
}

export interface Fetched {
  /** Values by variable name. */
  readonly values: ReadonlyMap<string, Uint8Array>;
  readonly missing: readonly MissingSecret[];
}

/** A value, or the reason why it is missing ("" if the credential store does not have it). */
type FetchResult = Uint8Array | string;

/**
 * Fetches all secrets.
 * @param folder the folder of rtfig.toml
 * @throws UserError if the store fails, or if a value cannot be that of a variable
 */
export async function fetchSecrets(secrets: readonly MappedSecret[], folder: string): Promise<Fetched> {
  const reads = new Map<string, Promise<FetchResult>>();
  const files: OpenFiles = new Map();
  const pending = secrets.map((secret) => {
    const key = JSON.stringify([secret.source, secret.source.kind === "age" && secret.name]);
    const read = reads.get(key) ?? readSource(secret, folder, files);
    reads.set(key, read);
    return read;
  });
  const results = await Promise.allSettled(pending);
  const values = new Map<string, Uint8Array>();
  const missing: MissingSecret[] = [];
  const failures: { secret: MappedSecret; error: unknown }[] = [];
  for (const [index, result] of results.entries()) {
    const secret = secrets[index]!;
    if (result.status === "rejected") {
      if (secret.isOptional && isUnavailable(result.reason)) missing.push({ secret });
      else failures.push({ secret, error: result.reason });
    } else if (typeof result.value === "string") missing.push({ secret, reason: result.value || undefined });
    else values.set(secret.name, result.value.slice());
  }
  for (const result of results)
    if (result.status === "fulfilled" && typeof result.value !== "string") result.value.fill(0);
  try {
    if (failures.length > 0) throw failureOf(failures);
    for (const [name, value] of values) checkValue(name, value);
  } catch (error) {
    for (const value of values.values()) value.fill(0);
    throw error;
  }
  return { values, missing };
}

async function readSource(
  { name, source }: MappedSecret,
  folder: string,
  files: OpenFiles,
): Promise<FetchResult> {
  switch (source.kind) {
    case "store":
      return (await readStore(source)) ?? "";
    case "command": {
      const { readCommand } = await import("./command-source.ts");
      return await readCommand(source.argv, folder);
    }
    case "age": {
      const { readAgeFile } = await import("./age-source.ts");
      return await readAgeFile(source, name, folder, files);
    }
  }
}

let store: ReturnType<typeof import("../../../platform/secrets/secret-provider.ts").openProvider> | undefined;

async function readStore({
  service,
  name,
}: Extract<SecretSource, { kind: "store" }>): Promise<Uint8Array | null> {
  store ??= import("../../../platform/secrets/secret-provider.ts").then(({ openProvider }) => openProvider());
  return await (await store).get(service, name);
}

function isUnavailable(error: unknown): boolean {
  return (error as { kind?: string }).kind === "UNAVAILABLE";
}

const ENVIRONMENT_HINT =
  "or set the variables in the environment, as in CI; rt then reads no store: rt help secrets-in-scripts";

const AGE_FILE_HINT =
  "on a machine without a store, keep the secrets in an age-encrypted file: rt help encrypted-file";

/** Returns one error for all: the first error of the store applies to every address. */
function failureOf(failures: readonly { secret: MappedSecret; error: unknown }[]): unknown {
  const names = failures.map(({ secret }) => secret.name).join(", ");
  return storeFailure(`Cannot read ${names} from the credential store`, failures[0]!.error);
}

/** Converts a ProviderFailure to a UserError; returns other errors unchanged. @param what the operation that failed */
export function storeFailure(what: string, error: unknown): unknown {
  const { name, message } = error as Error;
  if (name !== "ProviderFailure") return error;
  const [reason, remedy] = splitRemedy(message);
  const hints = [ENVIRONMENT_HINT, ...(isUnavailable(error) ? [AGE_FILE_HINT] : [])];
  if (remedy !== undefined) hints.unshift(printable(remedy));
  return new UserError(`${what}: ${printable(reason)}`, hints);
}

/** Rejects NUL, which no variable can have, and invalid UTF-8, which the environment would change. @throws UserError */
function checkValue(name: string, value: Uint8Array): void {
  if (value.includes(0))
    throw new UserError(`The value of ${name} has a NUL character in it, which no variable can have`);
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(value);
  } catch {
    throw new UserError(
      `The value of ${name} is not text in UTF-8, so it cannot be a variable`,
      "store it encoded, as with base64, and decode it in the script",
    );
  }
}

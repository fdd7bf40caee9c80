// Reads secrets from where they are: all of a run at once, each address once, over one connection to the store, which asks
// for its unlocking once.
//
// Contract: nothing is loaded that no source needs. The bytes are the caller's to zero; where this throws, it has zeroed them.
import { splitRemedy } from "../../../platform/secrets/contract/secret-provider.ts";
import { UserError } from "../../user-error.ts";
import { printable } from "../../printable.ts";
import type { OpenFiles } from "../age/age-file.ts";
import type { MappedSecret, SecretSource } from "./mapping.ts";

/** One that is not there, or that its source did not give. */
export interface MissingSecret {
  readonly secret: MappedSecret;
  /** What its source said, as a sentence; undefined where the store does not have it. */
  readonly reason?: string | undefined;
}

export interface Fetched {
  /** By the variables' names. */
  readonly values: ReadonlyMap<string, Uint8Array>;
  readonly lacking: readonly MissingSecret[];
}

/** A value, or why there is none: "" where that is not known. */
type FetchResult = Uint8Array | string;

/** @param folder of the rtfig.toml. Throws Failure where the store failed, or a value cannot be a variable's. */
export async function fetchSecrets(secrets: readonly MappedSecret[], folder: string): Promise<Fetched> {
  const reads = new Map<string, Promise<FetchResult>>();
  const files: OpenFiles = new Map();
  const pending = secrets.map((secret) => {
    const key = JSON.stringify([secret.source, secret.source.kind === "age" && secret.name]);
    const read = reads.get(key) ?? readSource(secret, folder, files);
    reads.set(key, read);
    return read;
  });
  const answers = await Promise.allSettled(pending);
  const values = new Map<string, Uint8Array>();
  const lacking: MissingSecret[] = [];
  const failures: { secret: MappedSecret; error: unknown }[] = [];
  for (const [index, answer] of answers.entries()) {
    const secret = secrets[index]!;
    if (answer.status === "rejected") {
      if (secret.isOptional && isUnavailable(answer.reason)) lacking.push({ secret });
      else failures.push({ secret, error: answer.reason });
    } else if (typeof answer.value === "string") lacking.push({ secret, reason: answer.value || undefined });
    else values.set(secret.name, answer.value.slice());
  }
  for (const answer of answers)
    if (answer.status === "fulfilled" && typeof answer.value !== "string") answer.value.fill(0);
  try {
    if (failures.length > 0) throw failureOf(failures);
    for (const [name, value] of values) checkValue(name, value);
  } catch (error) {
    for (const value of values.values()) value.fill(0);
    throw error;
  }
  return { values, lacking };
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

const ENVIRONMENT_COUNTS =
  "a secret of rtfig.toml that the environment has, as in CI, is read from no store: rt help secrets-in-scripts";

const WITHOUT_STORE =
  "on a machine without a store a project has its secrets in a file that is encrypted: rt help moving-in";

/** The store's first word on it: what went wrong for one went wrong for all. */
function failureOf(failures: readonly { secret: MappedSecret; error: unknown }[]): unknown {
  const names = failures.map(({ secret }) => secret.name).join(", ");
  return storeFailure(`Cannot read ${names} from the credential store`, failures[0]!.error);
}

/** What the store said, as a Failure; an error of another kind as it is. @param what could not be done */
export function storeFailure(what: string, error: unknown): unknown {
  const { name, message } = error as Error;
  if (name !== "ProviderFailure") return error;
  const [reason, remedy] = splitRemedy(message);
  const hints = [ENVIRONMENT_COUNTS, ...(isUnavailable(error) ? [WITHOUT_STORE] : [])];
  if (remedy !== undefined) hints.unshift(printable(remedy));
  return new UserError(`${what}: ${printable(reason)}`, hints);
}

/** What no variable can have, and what a program would see otherwise than it is stored. Throws Failure. */
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

// Implements `rt.secrets`: get, set and delete credentials by service and name in the operating system's store.
//
// Invariants:
// - Misuse rejects with TypeError or RangeError, a store failure with SecretsError. No call throws synchronously.
// - Byte buffers of values are zeroized. JavaScript strings cannot be.
//
// Non-obvious:
// - An empty value is stored: a `set` that deletes, as Bun.secrets does, could lose a credential. `delete` ignores a `value`.
// - Service and name have 1 to 255 code points: some stores truncate or reject longer ones. A value that is not well-formed
//   Unicode, or a stored value that is not UTF-8, is an error: a conversion would change it.
import type { Secrets } from "rt";
import type {
  OperationOptions,
  SecretProvider,
  StoreOptions,
} from "../../../platform/secrets/contract/secret-provider.ts";
import { describeType, rangeError, SecretsError, type SecretsFailure, typeError } from "../../errors.ts";
import { printable } from "../../printable.ts";

export { traceFrom } from "../../errors.ts";

const MAX_LENGTH = 255;

interface CheckedArguments {
  service: string;
  name: string;
  value: unknown;
  options: StoreOptions | undefined;
}

/** Loads the store's client at the first operation, so that other programs do not pay for it. */
export const secrets: Secrets = createSecrets(async () => {
  const { openProvider } = await import("../../../platform/secrets/secret-provider.ts");
  return openProvider();
});

/** Creates the API on a store, which is opened at the first operation. */
export function createSecrets(open: () => Promise<SecretProvider>): Secrets {
  let provider: Promise<SecretProvider> | undefined;

  async function perform<T>(
    options: OperationOptions | undefined,
    operate: (store: SecretProvider) => Promise<T>,
  ): Promise<T> {
    options?.signal?.throwIfAborted();
    provider ??= open();
    let store: SecretProvider;
    try {
      store = await provider;
    } catch (error) {
      provider = undefined; // let the next operation open it again
      throw toSecretsError(error);
    }
    return operate(store).catch((error: unknown) => {
      throw toSecretsError(error);
    });
  }

  return {
    async get(...args: unknown[]): Promise<string | null> {
      const { service, name, options } = checkArguments("get", args);
      const bytes = await perform(options, (store) => store.get(service, name, options));
      return bytes === null ? null : decodeValue(bytes);
    },

    async set(...args: unknown[]): Promise<void> {
      const { service, name, value, options } = checkArguments("set", args);
      const bytes = encodeValue(value);
      try {
        await perform(options, (store) => store.set(service, name, bytes, options));
      } finally {
        bytes.fill(0);
      }
    },

    async delete(...args: unknown[]): Promise<boolean> {
      const { service, name, options } = checkArguments("delete", args);
      return perform(options, (store) => store.delete(service, name, options));
    },
  };
}

/**
 * Converts a ProviderFailure to a SecretsError and escapes control characters of the store's message. Returns other errors
 * unchanged. The failure is recognized by name, because importing its class would load the store's client.
 */
export function toSecretsError(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "ProviderFailure") return error;
  const { kind, message, native } = error as Error & { kind: SecretsFailure; native?: string | number };
  return new SecretsError(kind, printable(message), typeof native === "string" ? printable(native) : native);
}

function checkArguments(method: keyof Secrets, args: readonly unknown[]): CheckedArguments {
  const [first, second, third] = args;
  if (typeof first === "string") {
    return {
      service: checkText("service", first),
      name: checkText("name", second),
      value: third,
      options: undefined,
    };
  }
  if (typeof first !== "object" || first === null) {
    const expected = "an object with service and name, or a service and a name";
    throw typeError(
      "ERR_INVALID_ARG_TYPE",
      `secrets.${method}() takes ${expected}, got ${describeType(first)}`,
    );
  }
  const { service, name, signal, timeout, persist, value } = first as Record<string, unknown>;
  return {
    service: checkText("service", service),
    name: checkText("name", name),
    value: second === undefined ? value : second,
    options: readOptions(signal, timeout, persist),
  };
}

function readOptions(signal: unknown, timeout: unknown, persist: unknown): StoreOptions | undefined {
  if (signal === undefined && timeout === undefined && persist === undefined) return undefined;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw typeError("ERR_INVALID_ARG_TYPE", `signal must be an AbortSignal, got ${describeType(signal)}`);
  }
  if (timeout !== undefined && typeof timeout !== "number") {
    throw typeError(
      "ERR_INVALID_ARG_TYPE",
      `timeout must be a number of milliseconds, got ${describeType(timeout)}`,
    );
  }
  if (timeout !== undefined && !(timeout > 0))
    throw rangeError(`timeout must be more than 0 milliseconds, got ${timeout}`);
  if (persist !== undefined && persist !== "local" && persist !== "enterprise")
    throw typeError("ERR_INVALID_ARG_VALUE", 'persist must be "local" or "enterprise"');
  return { signal, timeout, persist };
}

/** Returns a valid service or name. @throws TypeError, RangeError */
export function checkText(field: "service" | "name", text: unknown): string {
  if (typeof text !== "string")
    throw typeError("ERR_INVALID_ARG_TYPE", `${field} must be a string, got ${describeType(text)}`);
  if (text === "") throw typeError("ERR_INVALID_ARG_VALUE", `${field} must not be empty`);
  if (text.includes("\0"))
    throw typeError("ERR_INVALID_ARG_VALUE", `${field} must not contain a NUL character`);
  if (!text.isWellFormed())
    throw typeError("ERR_INVALID_ARG_VALUE", `${field} must not contain half a surrogate pair`);
  const length = text.length > MAX_LENGTH ? [...text].length : text.length;
  if (length > MAX_LENGTH)
    throw rangeError(`${field} must have at most ${MAX_LENGTH} characters, got ${length}`);
  return text;
}

function encodeValue(value: unknown): Uint8Array {
  if (typeof value !== "string") {
    throw typeError(
      "ERR_INVALID_ARG_TYPE",
      `value must be a string, got ${describeType(value)}; to remove a credential call secrets.delete()`,
    );
  }
  if (!value.isWellFormed())
    throw typeError("ERR_INVALID_ARG_VALUE", "value must not contain half a surrogate pair");
  return new TextEncoder().encode(value);
}

function decodeValue(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new SecretsError(
      "PLATFORM",
      "The stored value is not text in UTF-8; read it with the program that stored it",
    );
  } finally {
    bytes.fill(0);
  }
}

// What a credential store must offer to `rt.secrets`, and the one place that picks the store of this OS.
//
// A provider speaks bytes: it neither knows JavaScript strings nor decides what an argument error is. It
// answers "not there" with null or false and everything else with a ProviderFailure, whose `kind` is the
// library's word and whose `native` is the store's own (a D-Bus error name, an OSStatus, a Win32 code).
// The caller owns the bytes it passes in and the bytes it gets back, and zeroes both; a provider zeroes
// every copy that it makes itself.

/** What went wrong, in the words of the API: each becomes `ERR_SECRETS_<KIND>`. */
export type FailureKind =
  "UNAVAILABLE" | "LOCKED" | "CANCELED" | "TIMEOUT" | "TOO_LARGE" | "DENIED" | "PLATFORM";

export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  readonly kind: FailureKind;
  /** The store's own code, for `cause`; never contains a value. */
  readonly native: string | number | undefined;

  /** `message` says what happened and, after a semicolon, what to do about it. */
  constructor(kind: FailureKind, message: string, native?: string | number) {
    super(message);
    this.kind = kind;
    this.native = native;
  }
}

export interface OperationOptions {
  /** Aborting gives up waiting, a prompt included; what the store has already done stays done. */
  signal?: AbortSignal;
  /** Milliseconds for the whole operation. */
  timeout?: number;
}

export interface SecretProvider {
  get(service: string, name: string, options?: OperationOptions): Promise<Uint8Array | null>;
  set(service: string, name: string, value: Uint8Array, options?: OperationOptions): Promise<void>;
  delete(service: string, name: string, options?: OperationOptions): Promise<boolean>;
}

/**
 * Opens the store of this operating system; connecting may wait until the first operation.
 * The `if`s stay literal: the bundler drops the other systems' modules only for exactly this form.
 */
export async function openProvider(): Promise<SecretProvider> {
  if (process.platform === "linux") {
    const { openSecretService } = await import("./linux/secret-service.ts");
    return openSecretService();
  }
  throw new ProviderFailure("UNAVAILABLE", `No credential store is known for ${process.platform}`);
}

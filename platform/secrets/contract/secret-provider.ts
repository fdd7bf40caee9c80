// What a credential store must offer to `rt.secrets`. platform/secrets/secret-provider.ts chooses who does: linux/secret-service.ts,
// macos/keychain.ts or windows/credential-store.ts.
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

export interface StoreOptions extends OperationOptions {
  /** Windows: whether the entry goes along where the user's account roams; "enterprise" unless given. */
  persist?: "local" | "enterprise";
}

export interface CredentialName {
  readonly service: string;
  readonly name: string;
}

export interface SecretProvider {
  get(service: string, name: string, options?: OperationOptions): Promise<Uint8Array | null>;
  set(service: string, name: string, value: Uint8Array, options?: StoreOptions): Promise<void>;
  delete(service: string, name: string, options?: OperationOptions): Promise<boolean>;
  /** What `get` could find, of one service or of all: each pair once, in no order. */
  list?(service?: string, options?: OperationOptions): Promise<CredentialName[]>;
}

/** One thing that has to hold before a credential can be stored. */
export interface DiagnosisCheck {
  readonly name: string;
  /** A warning is worth knowing and does not stand in the way. */
  readonly status: "ok" | "warning" | "problem";
  readonly found: string;
  /** What to do about it. */
  readonly remedy?: string;
}

export interface Diagnosis {
  /** What keeps the credentials, as its users call it; absent when nothing was found. */
  readonly store?: string;
  /** In the order in which they depend on each other; those that could not be made are left out. */
  readonly checks: readonly DiagnosisCheck[];
}

/** Separates what a ProviderFailure's message says happened from what it says to do. */
export function splitRemedy(message: string): [happened: string, remedy: string | undefined] {
  const end = message.lastIndexOf("; ");
  return end < 0 ? [message, undefined] : [message.slice(0, end), message.slice(end + 2)];
}

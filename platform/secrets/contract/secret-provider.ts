// The contract of credential stores, implemented by linux/secret-service.ts, macos/keychain.ts and windows/credential-store.ts.
//
// Invariants:
// - A provider handles bytes: it validates no arguments and converts no strings.
// - An absent credential is null or false. Every other outcome is a ProviderFailure; `native` is the store's own code (a D-Bus
//   error name, an OSStatus, a Win32 code).
// - The caller owns the bytes that it passes and receives, and zeroizes both. A provider zeroizes its own copies.

/** The API's error kind: each becomes `ERR_SECRETS_<KIND>`. */
export type FailureKind =
  "UNAVAILABLE" | "LOCKED" | "CANCELED" | "TIMEOUT" | "TOO_LARGE" | "DENIED" | "PLATFORM";

export class ProviderFailure extends Error {
  override readonly name = "ProviderFailure";
  readonly kind: FailureKind;
  /** The store's own code, for `cause`; never contains a value. */
  readonly native: string | number | undefined;

  /** `message` contains the event and, after a semicolon, the remedy. */
  constructor(kind: FailureKind, message: string, native?: string | number) {
    super(message);
    this.kind = kind;
    this.native = native;
  }
}

export interface OperationOptions {
  /** Aborting ends the wait, also for a prompt. It does not undo what the store has done. */
  signal?: AbortSignal;
  /** Milliseconds for the whole operation. */
  timeout?: number;
}

export interface StoreOptions extends OperationOptions {
  /** Windows: whether the entry roams with the user's account; by default "enterprise". */
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
  /** Returns the pairs that `get` could find, of one service or of all: each once, unsorted. */
  list?(service?: string, options?: OperationOptions): Promise<CredentialName[]>;
}

/** One precondition of storing a credential. */
export interface DiagnosisCheck {
  readonly name: string;
  /** A warning does not prevent storing. */
  readonly status: "ok" | "warning" | "problem";
  readonly found: string;
  /** Advice for the user. */
  readonly remedy?: string;
}

export interface Diagnosis {
  /** The store's product name; undefined if none was found. */
  readonly store?: string;
  /** In order of dependency, without checks that could not run. */
  readonly checks: readonly DiagnosisCheck[];
}

/** Splits a ProviderFailure's message into event and remedy. */
export function splitRemedy(message: string): [happened: string, remedy: string | undefined] {
  const end = message.lastIndexOf("; ");
  return end < 0 ? [message, undefined] : [message.slice(0, end), message.slice(end + 2)];
}

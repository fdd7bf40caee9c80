// The error classes of the JavaScript API and the table of their codes, in one place so that the docs and
// the tests read the same list.
//
// Contract (specification, "Errors"): misuse throws a TypeError or RangeError with one of Node's codes;
// a failing credential store rejects with a SecretsError. No message ever contains a credential's value,
// a signing secret or a token.

export type MisuseCode = "ERR_INVALID_ARG_TYPE" | "ERR_INVALID_ARG_VALUE" | "ERR_OUT_OF_RANGE";

/** A wrong argument type, or a value outside a closed list. `code` is Node's. */
export function typeError(code: MisuseCode, message: string): TypeError {
  return Object.assign(new TypeError(message), { code });
}

/** A number or length outside its bounds. */
export function rangeError(message: string): RangeError {
  return Object.assign(new RangeError(message), { code: "ERR_OUT_OF_RANGE" as const });
}

/** What the caller passed, told by type alone: the value itself may be a secret. */
export function describeType(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (typeof value === "object") return `an instance of ${value.constructor?.name ?? "Object"}`;
  return `type ${typeof value}`;
}

/** What can go wrong with a credential store; each is the end of a code. */
export const SECRETS_FAILURES = {
  UNAVAILABLE: "There is no store to talk to",
  LOCKED: "The store is locked and nobody could be asked to unlock it",
  CANCELED: "A person declined the store's dialog",
  TIMEOUT: "The store, or a person, did not answer in time",
  TOO_LARGE: "The store does not take a value of this size",
  DENIED: "The store refuses this program or user",
  PLATFORM: "Any other error of the store",
} as const;

export type SecretsFailure = keyof typeof SECRETS_FAILURES;

/** A credential store that could not do what it was asked to. `cause` is the store's own code, where it gave one. */
export class SecretsError extends Error {
  override readonly name = "SecretsError";
  readonly code: `ERR_SECRETS_${SecretsFailure}`;

  constructor(failure: SecretsFailure, message: string, cause?: string | number) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = `ERR_SECRETS_${failure}`;
  }
}

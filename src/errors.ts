// Defines the error classes and error codes of the JavaScript API. The documentation and the tests read the same tables.
//
// Invariants (specification, "Errors"):
// - Misuse throws a TypeError or RangeError with a Node.js code; a failing credential store rejects with a SecretsError.
// - No message contains a credential's value, a signing secret or a token.

/** Node.js codes for misuse of the API. */
export const MISUSE = {
  ERR_INVALID_ARG_TYPE: "An argument or option has the wrong type, or is not one of the allowed words",
  ERR_INVALID_ARG_VALUE: "A string is invalid: empty, or with a NUL character or a lone surrogate",
  ERR_OUT_OF_RANGE: "A number or a length is out of range",
} as const;

export type MisuseCode = keyof typeof MISUSE;

/** Errors created in this file. Errors of the user's program keep their stack traces. */
const ownErrors = new WeakSet<object>();

/** Creates an error for a wrong argument type, or for a value outside a closed list. */
export function typeError(code: MisuseCode, message: string): TypeError {
  return register(Object.assign(new TypeError(message), { code }));
}

/** Creates an error for a number or length that is out of range. */
export function rangeError(message: string): RangeError {
  return register(Object.assign(new RangeError(message), { code: "ERR_OUT_OF_RANGE" as const }));
}

function isOwnError(error: unknown): error is Error {
  return ownErrors.has(error as object);
}

function register<E extends Error>(error: E): E {
  ownErrors.add(error);
  return error;
}

/**
 * Replaces the stack trace of an rt error with the caller's, so that it begins at the API call. Returns the error.
 * @param caller an object on which `Error.captureStackTrace` recorded the call
 */
export function traceFrom(error: unknown, caller: { readonly stack?: unknown }): unknown {
  if (!isOwnError(error)) return error;
  const stack = readStack(caller);
  // A program's Error.prepareStackTrace may return any value.
  if (typeof stack !== "string") return error;
  const frames = stack.indexOf("\n");
  error.stack = `${error.name}: ${error.message}${frames < 0 ? "" : stack.slice(frames).replace(ANONYMOUS_FRAME, "$1<anonymous> ($2)")}`;
  return error;
}

/** Reads the stack. Returns undefined if the program's Error.prepareStackTrace throws. */
function readStack(caller: { readonly stack?: unknown }): unknown {
  try {
    return caller.stack;
  } catch {
    return undefined;
  }
}

/** A frame outside every function. The engine parses the text when it prints an uncaught error, and requires a name. */
const ANONYMOUS_FRAME = /^(    at (?:async )?)([^(\n]+)$/gm;

/** Describes an argument by its type only: the value may be a secret. */
export function describeType(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (typeof value === "object") return `an instance of ${constructorName(value)}`;
  return `type ${typeof value}`;
}

/** Returns "Object" if a getter or Proxy throws, so that the original mistake is still reported. */
function constructorName(value: object): string {
  try {
    const { name } = value.constructor;
    return typeof name === "string" && name !== "" ? name : "Object";
  } catch {
    return "Object";
  }
}

/** Failures of a credential store. The key is the suffix of the error code; the remedy is for the user. */
export const SECRETS_FAILURES = {
  UNAVAILABLE: {
    meaning: "No credential store is available",
    remedy: "Run `rt doctor`: it shows what is missing and how to start it",
  },
  LOCKED: {
    meaning: "The store is locked, and no dialog can be shown to unlock it",
    remedy:
      "Unlock it in the store's application, or log in to a desktop session; on a server see [CI](../guides/ci.md)",
  },
  CANCELED: { meaning: "The user declined the store's dialog", remedy: "Try again and confirm the dialog" },
  TIMEOUT: {
    meaning: "The store or the user did not respond in time",
    remedy: "Look for a dialog behind other windows; increase `timeout` (milliseconds)",
  },
  TOO_LARGE: {
    meaning: "The value exceeds the store's size limit",
    remedy: "Encrypt the data in a file and store only its key",
  },
  DENIED: {
    meaning: "The store denies access to this program or user",
    remedy: "Allow the program in the store's settings; run it as the user who owns the session",
  },
  PLATFORM: {
    meaning: "Any other error of the store",
    remedy: "See the store's code in `cause`; run `rt doctor` to diagnose the store",
  },
} as const satisfies Readonly<Record<string, { meaning: string; remedy: string }>>;

export type SecretsFailure = keyof typeof SECRETS_FAILURES;

/** A failed operation of a credential store. `cause` is the store's error code, if it returned one. */
export class SecretsError extends Error {
  override readonly name = "SecretsError";
  readonly code: `ERR_SECRETS_${SecretsFailure}`;

  constructor(failure: SecretsFailure, message: string, cause?: string | number) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = `ERR_SECRETS_${failure}`;
    register(this);
  }
}

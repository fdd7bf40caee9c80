// The error classes of the JavaScript API and the table of their codes, in one place so that the docs and
// the tests read the same list.
//
// Contract (specification, "Errors"): misuse throws a TypeError or RangeError with one of Node's codes;
// a failing credential store rejects with a SecretsError. No message ever contains a credential's value,
// a signing secret or a token.

/** Node's codes for a call that is wrong. */
export const MISUSE = {
  ERR_INVALID_ARG_TYPE:
    "An argument or option has the wrong type, or is a word that is not in the list of those allowed",
  ERR_INVALID_ARG_VALUE:
    "A text is of the right type but cannot be used: empty, with a NUL character, or with half a surrogate pair",
  ERR_OUT_OF_RANGE: "A number or a length is outside its bounds",
} as const;

export type MisuseCode = keyof typeof MISUSE;

/** The errors that were made here, to be told from those of the program, which keep their traces. */
const made = new WeakSet<object>();

/** A wrong argument type, or a value outside a closed list. `code` is Node's. */
export function typeError(code: MisuseCode, message: string): TypeError {
  return remember(Object.assign(new TypeError(message), { code }));
}

/** A number or length outside its bounds. */
export function rangeError(message: string): RangeError {
  return remember(Object.assign(new RangeError(message), { code: "ERR_OUT_OF_RANGE" as const }));
}

function isMade(error: unknown): error is Error {
  return made.has(error as object);
}

function remember<E extends Error>(error: E): E {
  made.add(error);
  return error;
}

/**
 * Lets the trace of an error that was made here begin at the call that it answers, which `Error.captureStackTrace`
 * has taken down. Returns the error.
 */
export function traceFrom(error: unknown, caller: { readonly stack?: unknown }): unknown {
  if (!isMade(error)) return error;
  const stack = readStack(caller);
  // A program that formats traces itself (Error.prepareStackTrace) may make anything of them.
  if (typeof stack !== "string") return error;
  const frames = stack.indexOf("\n");
  error.stack = `${error.name}: ${error.message}${frames < 0 ? "" : stack.slice(frames).replace(NAMELESS, "$1<anonymous> ($2)")}`;
  return error;
}

/** What formats it may throw. */
function readStack(caller: { readonly stack?: unknown }): unknown {
  try {
    return caller.stack;
  } catch {
    return undefined;
  }
}

/** Frames outside every function. What prints an uncaught error reads the text again, and wants a name in each. */
const NAMELESS = /^(    at (?:async )?)([^(\n]+)$/gm;

/** What the caller passed, told by type alone: the value itself may be a secret. */
export function describeType(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (typeof value === "object") return `an instance of ${constructorName(value)}`;
  return `type ${typeof value}`;
}

/** Objects can be made to answer anything, or nothing: a getter or a Proxy that throws must not hide the mistake. */
function constructorName(value: object): string {
  try {
    const { name } = value.constructor;
    return typeof name === "string" && name !== "" ? name : "Object";
  } catch {
    return "Object";
  }
}

/** What can go wrong with a credential store, each the end of a code, and what a person can do. */
export const SECRETS_FAILURES = {
  UNAVAILABLE: {
    meaning: "There is no store to talk to",
    remedy: "`rt doctor` says what is missing and how to start it",
  },
  LOCKED: {
    meaning: "The store is locked and nobody could be asked to unlock it",
    remedy: "Unlock it in its own program, or log in to a desktop session; on a server see [CI](ci.md)",
  },
  CANCELED: { meaning: "A person declined the store's dialog", remedy: "Try again, and answer the dialog" },
  TIMEOUT: {
    meaning: "The store, or a person, did not answer in time",
    remedy: "Look for a dialog behind other windows; give `timeout` more milliseconds",
  },
  TOO_LARGE: {
    meaning: "The store does not take a value of this size",
    remedy: "Encrypt the data in a file and keep only its key in the store",
  },
  DENIED: {
    meaning: "The store refuses this program or user",
    remedy: "Allow the program in the store's own settings; start it as the user the session belongs to",
  },
  PLATFORM: {
    meaning: "Any other error of the store",
    remedy: "`cause` is the store's own code; `rt doctor` looks at the store",
  },
} as const satisfies Readonly<Record<string, { meaning: string; remedy: string }>>;

export type SecretsFailure = keyof typeof SECRETS_FAILURES;

/** A credential store that could not do what it was asked to. `cause` is the store's own code, where it gave one. */
export class SecretsError extends Error {
  override readonly name = "SecretsError";
  readonly code: `ERR_SECRETS_${SecretsFailure}`;

  constructor(failure: SecretsFailure, message: string, cause?: string | number) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = `ERR_SECRETS_${failure}`;
    remember(this);
  }
}

// `rt.CSRF`: signed, expiring tokens that prove a request came from a page this server made.
//
// Contract (specification, "CSRF operations", "CSRF token validity"): `verify` answers, it does not
// judge: every string that is not a valid token is false, the empty one included. Only misuse by the
// program throws, with the classes and codes of Bun.CSRF. The differences from it are all on the strict
// side and listed in docs/csrf.md; the ones to know when reading this file:
//
// - `null` is not "absent". A `sessionId` lost on the way must not unbind a token in silence.
// - A session id with half a surrogate pair has no UTF-8 of its own: nothing is issued for it, and so
//   nothing verifies with it.
// - A token from the future is refused beyond CLOCK_SKEW: otherwise one issued while a clock was wrong
//   would outlive both of its limits.
// - Times come from Date.now(), which test frameworks can set.
import { describeType, rangeError, typeError } from "../errors.ts";
import {
  type CSRFAlgorithm,
  type CSRFEncoding,
  decodeToken,
  encodeToken,
  expiresIn,
  isSignedBy,
  issuedAt,
  MAC_BYTES,
  TEXT_LENGTH,
} from "./token.ts";

export { traceFrom } from "../errors.ts";
export type { CSRFAlgorithm };

export interface CSRFGenerateOptions {
  /**
   * Milliseconds until the token expires, an integer. 0: no limit of its own, `maxAge` still holds.
   * @default 86400000 (24 hours)
   */
  expiresIn?: number;
  /** @default "base64url" */
  encoding?: "base64" | "base64url" | "hex";
  /** @default "sha256" */
  algorithm?: CSRFAlgorithm;
  /** The visitor the token is for (a session or user id). Without it, it is valid for every visitor. */
  sessionId?: string;
}

export interface CSRFVerifyOptions {
  /**
   * The secret that signed the token, or several while one replaces another: the token may be signed
   * with any of them. Left out: this thread's own random secret.
   */
  secret?: string | readonly string[];
  /**
   * Greatest age in milliseconds, an integer, whatever the token's own `expiresIn`. 0: no limit.
   * @default 86400000 (24 hours)
   */
  maxAge?: number;
  /** @default "base64url" */
  encoding?: "base64" | "base64url" | "hex";
  /** @default "sha256" */
  algorithm?: CSRFAlgorithm;
  /** The visitor the token must be for. Left out: the token must be for none in particular. */
  sessionId?: string;
}

const DAY = 86_400_000;
/** How far the clock of the server that issued a token may be ahead, in milliseconds. */
export const CLOCK_SKEW = 300_000;
const SECRET_BYTES = 32;

const { crypto, Buffer } = globalThis;

let ownSecret: string | undefined;

/** One per thread, because each thread evaluates this module for itself. */
function defaultSecret(): string {
  return (ownSecret ??= crypto.getRandomValues(Buffer.alloc(SECRET_BYTES)).toString("base64url"));
}

/**
 * Issues a token. `secret` left out: this thread's own random secret, which no other thread, server or
 * later start knows.
 *
 * Throws a TypeError (`ERR_INVALID_ARG_TYPE`, `ERR_INVALID_ARG_VALUE`) or RangeError (`ERR_OUT_OF_RANGE`)
 * for arguments that are no valid options.
 */
function generate(secret?: string, options?: CSRFGenerateOptions): string {
  if (secret !== undefined) checkText("secret", secret);
  let lifetime = DAY;
  let encoding: CSRFEncoding = "base64url";
  let algorithm: CSRFAlgorithm = "sha256";
  let sessionId: string | undefined;
  if (options !== undefined) {
    checkOptions(options);
    lifetime = resolveMilliseconds("expiresIn", options.expiresIn);
    encoding = resolveEncoding(options.encoding);
    algorithm = resolveAlgorithm(options.algorithm);
    sessionId = options.sessionId;
    if (sessionId !== undefined) {
      checkText("sessionId", sessionId);
      if (!sessionId.isWellFormed()) {
        throw typeError(
          "ERR_INVALID_ARG_VALUE",
          "sessionId must be well-formed: it holds half a surrogate pair",
        );
      }
    }
  }
  return encodeToken(secret ?? defaultSecret(), algorithm, encoding, Date.now(), lifetime, sessionId);
}

/**
 * Whether `token` is signed, unexpired, not too old and for this visitor. Takes the same time whichever
 * secret matches and however many bytes of a forged signature are right.
 *
 * Throws a TypeError (`ERR_INVALID_ARG_TYPE`) when `token` is no string or an option has the wrong type,
 * a RangeError (`ERR_OUT_OF_RANGE`) for a `maxAge` that is no integer from 0 to 2^53 - 1.
 */
function verify(token: string, options?: CSRFVerifyOptions): boolean {
  if (typeof token !== "string") {
    throw typeError("ERR_INVALID_ARG_TYPE", `token must be a string, received ${describeType(token)}`);
  }
  let secret: string | readonly string[] | undefined;
  let maxAge = DAY;
  let encoding: CSRFEncoding = "base64url";
  let algorithm: CSRFAlgorithm = "sha256";
  let sessionId: string | undefined;
  if (options !== undefined) {
    checkOptions(options);
    secret = options.secret;
    if (secret !== undefined) secret = copySecrets(secret);
    maxAge = resolveMilliseconds("maxAge", options.maxAge);
    encoding = resolveEncoding(options.encoding);
    algorithm = resolveAlgorithm(options.algorithm);
    sessionId = options.sessionId;
    if (sessionId !== undefined) {
      checkText("sessionId", sessionId);
      if (!sessionId.isWellFormed()) return false;
    }
  }
  return (
    decodeToken(token, algorithm, encoding) &&
    isSignedBy(secret ?? defaultSecret(), algorithm, sessionId) &&
    isCurrent(issuedAt(), expiresIn(), maxAge, Date.now())
  );
}

/** Limits are inclusive. Written so that a clock without an answer (NaN) makes nothing valid. */
function isCurrent(issued: number, lifetime: number, maxAge: number, now: number): boolean {
  const age = now - issued;
  return age >= -CLOCK_SKEW && (lifetime === 0 || age <= lifetime) && (maxAge === 0 || age <= maxAge);
}

function checkOptions(options: object): void {
  if (options === null || typeof options !== "object" || Array.isArray(options)) {
    throw typeError("ERR_INVALID_ARG_TYPE", `options must be an object, received ${describeType(options)}`);
  }
}

function checkText(name: string, value: string): void {
  if (typeof value === "string" && value !== "") return;
  const received = value === "" ? "an empty string" : describeType(value);
  throw typeError("ERR_INVALID_ARG_TYPE", `${name} must be a non-empty string, received ${received}`);
}

/** Reads a list once: a getter of the program's may change it between the check and the comparison. */
function copySecrets(secret: string | readonly string[]): string | readonly string[] {
  if (!Array.isArray(secret)) {
    checkText("secret", secret as string);
    return secret;
  }
  const secrets: string[] = [...(secret as readonly string[])];
  if (secrets.length === 0) {
    throw typeError("ERR_INVALID_ARG_TYPE", "secret must hold at least one string, received an empty array");
  }
  for (const [index, one] of secrets.entries()) {
    if (typeof one !== "string" || one === "") checkText(`secret[${index}]`, one);
  }
  return secrets;
}

function resolveMilliseconds(name: string, value: number | undefined): number {
  if (value === undefined) return DAY;
  if (typeof value !== "number") {
    throw typeError("ERR_INVALID_ARG_TYPE", `${name} must be a number, received ${describeType(value)}`);
  }
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw rangeError(
    `${name} must be an integer from 0 to ${Number.MAX_SAFE_INTEGER} (milliseconds), received ${value}`,
  );
}

function resolveEncoding(value: CSRFEncoding | undefined): CSRFEncoding {
  if (value === undefined) return "base64url";
  if (typeof value === "string" && Object.hasOwn(TEXT_LENGTH, value)) return value;
  throw unlisted("encoding", value, TEXT_LENGTH);
}

function resolveAlgorithm(value: CSRFAlgorithm | undefined): CSRFAlgorithm {
  if (value === undefined) return "sha256";
  if (typeof value === "string" && Object.hasOwn(MAC_BYTES, value)) return value;
  throw unlisted("algorithm", value, MAC_BYTES);
}

function unlisted(name: string, value: unknown, table: object): TypeError {
  const received = typeof value === "string" ? JSON.stringify(value) : describeType(value);
  const allowed = Object.keys(table).join(", ");
  return typeError("ERR_INVALID_ARG_TYPE", `${name} must be one of ${allowed}, received ${received}`);
}

export const CSRF = { generate, verify };

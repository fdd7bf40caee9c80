// Implements `rt.CSRF`: signed, expiring tokens which prove that a request came from a page of this server.
//
// Invariants:
// - `verify` returns false for every string that is not a valid token. Only misuse throws, with the error codes of Bun.CSRF.
//
// Non-obvious, with the differences from Bun.CSRF in docs/guides/csrf.md:
// - `null` is not "absent": a lost `sessionId` must not remove the binding of a token silently.
// - A session ID that is not well-formed Unicode cannot be encoded: no token is issued for it, and none verifies.
// - A token from beyond CLOCK_SKEW in the future is rejected. With a wrong clock it would outlive both limits. Times come from
//   Date.now(), which tests can replace.
import type { CSRFGenerateOptions, CSRFVerifyOptions } from "rt";
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

const DAY = 86_400_000;
/** Milliseconds by which the clock of the issuing server may be ahead. */
export const CLOCK_SKEW = 300_000;
const SECRET_BYTES = 32;

const { crypto, Buffer } = globalThis;

let ownSecret: string | undefined;

/** Returns the random secret of this thread. Each thread evaluates this module separately. */
function defaultSecret(): string {
  return (ownSecret ??= crypto.getRandomValues(Buffer.alloc(SECRET_BYTES)).toString("base64url"));
}

/**
 * Issues a token. Without `secret`, it is signed with a random secret of this thread: no other thread, server or later start
 * can verify it.
 *
 * Throws a TypeError (`ERR_INVALID_ARG_TYPE`, `ERR_INVALID_ARG_VALUE`) or RangeError (`ERR_OUT_OF_RANGE`) for invalid
 * arguments.
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
 * Returns whether `token` is signed, unexpired, not too old and bound to this visitor. The signature comparison is constant
 * time, also with several secrets.
 *
 * Throws a TypeError (`ERR_INVALID_ARG_TYPE`) if `token` is not a string or an option has the wrong type. Throws a RangeError
 * (`ERR_OUT_OF_RANGE`) if `maxAge` is not an integer from 0 to 2^53 - 1.
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

/** Checks the limits, which are inclusive. With an invalid clock (NaN) no token is valid. */
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

/** Copies a list, because a getter could return another value between validation and comparison (TOCTOU). */
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

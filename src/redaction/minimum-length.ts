// Checks that a value is long enough for redaction: shorter ones occur in any output.
//
// Non-obvious: this is a separate module because the check runs before the redaction code is loaded.
import { configHint } from "../config-hint.ts";
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import type { SecretValue } from "./secret-value.ts";

/** Characters of a value, and bytes of a variant. */
export const MIN_REDACTED_LENGTH = 8;

export function hasRedacted(secrets: readonly SecretValue[]): boolean {
  return secrets.some(({ isRedacted, value }) => isRedacted && value.length > 0);
}

/** Rejects values that are too short. An empty value is accepted. @throws UserError */
export function refuseShort(secrets: readonly SecretValue[]): void {
  const short = secrets.filter(({ isRedacted, value }) => isRedacted && value.length > 0 && isShort(value));
  const [first] = short;
  if (!first) return;
  const names = short.map(({ name }) => oneLine(name)).join(", ");
  throw new UserError(
    short.length === 1
      ? `The value of ${names} is too short to redact in the output: it has fewer than ${MIN_REDACTED_LENGTH} characters`
      : `The values of ${names} are too short to redact in the output: they have fewer than ${MIN_REDACTED_LENGTH} characters`,
    `use a longer value, or ${configHint(["secrets", first.name, "redact"], false)}`,
  );
}

/** Returns whether a value is long enough to be distinguished from other text. */
export function isLongEnough(value: Uint8Array): boolean {
  return !isShort(value);
}

/** Counts UTF-8 characters without trailing line breaks. */
function isShort(value: Uint8Array): boolean {
  let count = 0;
  let end = value.length;
  while (end > 0 && (value[end - 1] === 10 || value[end - 1] === 13)) end -= 1;
  for (let at = 0; at < end && count < MIN_REDACTED_LENGTH; at += 1)
    if ((value[at]! & 0xc0) !== 0x80) count += 1;
  return count < MIN_REDACTED_LENGTH;
}

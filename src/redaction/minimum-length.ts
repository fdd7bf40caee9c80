// Whether a value is long enough to be kept out of what a script shows: what is shorter is found everywhere. Apart from all that
// does the keeping out, since it is asked before anything has started.
import { UserError } from "../user-error.ts";
import { oneLine } from "../printable.ts";
import type { SecretValue } from "./secret-value.ts";

/** Bytes. */
export const SHORTEST = 8;

/** Whether there is anything to look for. */
export function hasRedacted(secrets: readonly SecretValue[]): boolean {
  return secrets.some(({ isRedacted, value }) => isRedacted && value.length > 0);
}

/** Before anything has started. Throws Failure; a value of nothing is none. */
export function refuseShort(secrets: readonly SecretValue[]): void {
  const short = secrets.filter(({ isRedacted, value }) => isRedacted && value.length > 0 && isShort(value));
  const [first] = short;
  if (!first) return;
  const names = short.map(({ name }) => oneLine(name)).join(", ");
  throw new UserError(
    short.length === 1
      ? `The value of ${names} is too short to be kept out of what the script shows: it has fewer than ${SHORTEST} characters`
      : `The values of ${names} are too short to be kept out of what the script shows: they have fewer than ${SHORTEST} characters`,
    `use a longer one, or write "redact = false" in [secrets.${oneLine(first.name)}] of rtfig.toml to let it be shown`,
  );
}

/** Returns whether a value can be told from other text. */
export function isLongEnough(value: Uint8Array): boolean {
  return !isShort(value);
}

/** Line breaks at the end do not count, and of a character's bytes only the first does. */
function isShort(value: Uint8Array): boolean {
  let count = 0;
  let end = value.length;
  while (end > 0 && (value[end - 1] === 10 || value[end - 1] === 13)) end -= 1;
  for (let at = 0; at < end && count < SHORTEST; at += 1) if ((value[at]! & 0xc0) !== 0x80) count += 1;
  return count < SHORTEST;
}

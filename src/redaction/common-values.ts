// Recognizes values too common for redaction without a warning: replacing them would make most output unreadable.

const WORDS = new Set(
  [
    "administrator changeme database defaults development disabled document example.com function homepage localhost",
    "password password1 password123 postgres postgresql preproduction production qwertyui testing1 username undefined",
    "127.0.0.1 us-east-1 eu-west-1 eu-central-1 us-west-2",
  ].flatMap((line) => line.split(" ")),
);
const MAX_LENGTH = 32; // bytes
/** A number, a date, a local address with a port, or one repeated character. */
const PATTERN =
  /^(?:\d{8,10}|\d{4}-\d\d-\d\d|(?:https?:\/\/)?(?:localhost|127\.0\.0\.1)(?::\d+)?\/?|(.)\1{7,})$/s;

/** Returns whether a value of at least the minimum length is common. */
export function isCommon(value: Uint8Array): boolean {
  if (value.length > MAX_LENGTH) return false;
  const text = new TextDecoder().decode(value).trim().toLowerCase();
  return WORDS.has(text) || PATTERN.test(text);
}

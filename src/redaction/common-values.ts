// Values that stand in what every program shows: put a name in their place, and nothing can be read any more.

const WORDS = new Set(
  [
    "administrator changeme database defaults development disabled document example.com function homepage localhost",
    "password password1 password123 postgres postgresql preproduction production qwertyui testing1 username undefined",
    "127.0.0.1 us-east-1 eu-west-1 eu-central-1 us-west-2",
  ].flatMap((line) => line.split(" ")),
);
/** Bytes. */
const LONGEST = 32;
/** A number, a date, a port behind a host, one character again and again. */
const PATTERN =
  /^(?:\d{8,10}|\d{4}-\d\d-\d\d|(?:https?:\/\/)?(?:localhost|127\.0\.0\.1)(?::\d+)?\/?|(.)\1{7,})$/s;

/** Pure. Of what is long enough to be looked for. */
export function isCommon(value: Uint8Array): boolean {
  if (value.length > LONGEST) return false;
  const text = new TextDecoder().decode(value).trim().toLowerCase();
  return WORDS.has(text) || PATTERN.test(text);
}

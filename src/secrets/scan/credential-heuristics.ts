// Whether a variable looks like a credential, by its name and its value: what `rt secrets import` moves unless it is told
// otherwise, and what `rt secrets check` finds in files of variables beside the rules of its list.
//
// Contract: pure. Better a credential too few than every port and path: names are words between underscores, and a value
// that says of itself that it is a number, a path, an address without a password or a placeholder is none.

const NAME =
  /(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE|ENCRYPTION|SIGNING|AUTH|MASTER|SERVICE|ACCOUNT|LICENSE|DEPLOY|SSH|JWT)_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PAT|CREDENTIALS?|AUTH|DSN|SALT|COOKIE|CONNECTION_?STRING|WEBHOOK)S?(?=_|\d|$)/;
/** Names of what everybody may see, or of what is said about a credential. */
const NO_NAME =
  /(?:^|_)(?:PUBLIC|PUBLISHABLE|ANON)(?:_|$)|^(?:VITE|REACT_APP|EXPO|GATSBY|NUXT_APP)_|_(?:ID|NAME|USER|USERNAME|PATH|FILE|DIR|TTL|EXPIRY|EXPIRES(?:_IN)?|EXPIRATION|LENGTH|ROUNDS|ALGORITHM|ALG|ISSUER|AUDIENCE|DOMAIN|HOST|PORT|REGION|TYPE|MODE|ENABLED|PREFIX|HEADER|SCOPES?|PROVIDER)$/;
/** A password within an address. */
const WITH_PASSWORD = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@:]*:([^\s/?#@]+)@/i;
const PLAIN_VALUE =
  /^(?:[\d.,:_-]*|true|false|yes|no|on|off|none|null|undefined|bearer|basic|[a-z][a-z\d+.-]*:\/\/\S*|[a-z]:\\.*|\d+\s?[a-z]{1,7})$/i;
const PLACEHOLDER =
  /^(?:<.*>|\[.*\]|\{.*\}|%.*%|[*x.?#-]+|.*(?:change[-_ ]?me|your[-_ ]|replace[-_ ]|placeholder|insert[-_ ]|example|dummy|redacted|todo|fixme).*)$/i;

const PATH = /^(?:~|\.{0,2})\/\S*$/;
/** Its letters, as which a slash counts, and no folder of the system at the start: "/var/", "/Users/". */
const BASE64 = /^\/(?![A-Za-z]?[a-z]*\d*\/)[A-Za-z\d+/]{19,}={0,2}$/;

/** Shortest value that stands out by itself, in characters. */
const LONG = 20;
/** Bits a character. */
const RANDOM = 3.5;

export function looksLikeCredential(name: string, value: string): boolean {
  if (isPlaceholder(value)) return false;
  const [, password = ""] = WITH_PASSWORD.exec(value) ?? [];
  if (!isPlaceholder(password) || /-----BEGIN [A-Z ]*PRIVATE KEY/.test(value)) return true;
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/[.-]/g, "_")
    .toUpperCase();
  if (NO_NAME.test(words) || PLAIN_VALUE.test(value) || isPath(value)) return false;
  return NAME.test(words) || looksRandom(value);
}

/** What stands for a value that is still to come, or nothing at all. */
export function isPlaceholder(value: string): boolean {
  return value === "" || PLACEHOLDER.test(value);
}

function isPath(value: string): boolean {
  if (!PATH.test(value)) return false;
  if (!BASE64.test(value) || !/[A-Z]/.test(value)) return true;
  // Names of folders seldom have digits within more than one word; random letters nearly always.
  return (value.match(/[A-Za-z]\d+(?=[A-Za-z])/g) ?? []).length < 2;
}

/** Letters and digits in no order: not words, and no identifier of a version or a thing. */
export function looksRandom(value: string): boolean {
  if (value.length < LONG || !/^[\w+/=.~-]+$/.test(value)) return false;
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value)) return false;
  // Words and paths are pieces that a person can say.
  if (value.split(/[\W_]+/).every((part) => part.length < LONG - 4)) return false;
  return entropy(value) >= (/^[\da-f]+$/i.test(value) ? RANDOM - 0.5 : RANDOM);
}

function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

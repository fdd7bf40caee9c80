// Decides by name and value whether a variable looks like a credential: for `rt secrets import` and `rt secrets check`.
//
// Invariants:
// - Pure functions. A missed credential is better than reporting every port and path. Names match between underscores. Numbers,
//   paths, addresses without a password and placeholders are not credentials.

const NAME =
  /(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE|ENCRYPTION|SIGNING|AUTH|MASTER|SERVICE|ACCOUNT|LICENSE|DEPLOY|SSH|JWT)_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PAT|CREDENTIALS?|AUTH|DSN|SALT|COOKIE|CONNECTION_?STRING|WEBHOOK)S?(?=_|\d|$)/;
/** Names of public values, and of properties of a credential. */
const EXCLUDED_NAME =
  /(?:^|_)(?:PUBLIC|PUBLISHABLE|ANON)(?:_|$)|^(?:VITE|REACT_APP|EXPO|GATSBY|NUXT_APP)_|_(?:ID|NAME|USER|USERNAME|PATH|FILE|DIR|TTL|EXPIRY|EXPIRES(?:_IN)?|EXPIRATION|LENGTH|ROUNDS|ALGORITHM|ALG|ISSUER|AUDIENCE|DOMAIN|HOST|PORT|REGION|TYPE|MODE|ENABLED|PREFIX|HEADER|SCOPES?|PROVIDER)$/;
/** An address with a password. */
const WITH_PASSWORD = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@:]*:([^\s/?#@]+)@/i;
const PLAIN_VALUE =
  /^(?:[\d.,:_-]*|true|false|yes|no|on|off|none|null|undefined|bearer|basic|[a-z][a-z\d+.-]*:\/\/\S*|[a-z]:\\.*|\d+\s?[a-z]{1,7})$/i;
const PLACEHOLDER =
  /^(?:<.*>|\[.*\]|\{.*\}|%.*%|[*x.?#-]+|.*(?:change[-_ ]?me|your[-_ ]|replace[-_ ]|placeholder|insert[-_ ]|example|dummy|redacted|todo|fixme).*)$/i;

const PATH = /^(?:~|\.{0,2})\/\S*$/;
/** Base64 that begins with a slash, but not with a folder name such as "/var/" or "/Users/". */
const BASE64 = /^\/(?![A-Za-z]?[a-z]*\d*\/)[A-Za-z\d+/]{19,}={0,2}$/;

/** Characters. Shorter values count only with a credential's name. */
const MIN_RANDOM_LENGTH = 20;
/** Bits per character. */
const MIN_ENTROPY = 3.5;

export function looksLikeCredential(name: string, value: string): boolean {
  if (isPlaceholder(value)) return false;
  const [, password = ""] = WITH_PASSWORD.exec(value) ?? [];
  if (!isPlaceholder(password) || /-----BEGIN [A-Z ]*PRIVATE KEY/.test(value)) return true;
  const upperCaseName = name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/[.-]/g, "_")
    .toUpperCase();
  if (EXCLUDED_NAME.test(upperCaseName) || PLAIN_VALUE.test(value) || isPath(value)) return false;
  return NAME.test(upperCaseName) || looksRandom(value);
}

/** Returns whether a value is empty or a placeholder such as "<token>" or "changeme". */
export function isPlaceholder(value: string): boolean {
  return value === "" || PLACEHOLDER.test(value);
}

function isPath(value: string): boolean {
  if (!PATH.test(value)) return false;
  if (!BASE64.test(value) || !/[A-Z]/.test(value)) return true;
  // Folder names rarely have digits inside more than one word; random text nearly always does.
  return (value.match(/[A-Za-z]\d+(?=[A-Za-z])/g) ?? []).length < 2;
}

/** Returns whether a value looks random: high entropy, not words, not a UUID. */
function looksRandom(value: string): boolean {
  if (value.length < MIN_RANDOM_LENGTH || !/^[\w+/=.~-]+$/.test(value)) return false;
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value)) return false;
  // Words and paths consist of short pieces.
  if (value.split(/[\W_]+/).every((part) => part.length < MIN_RANDOM_LENGTH - 4)) return false;
  return entropy(value) >= (/^[\da-f]+$/i.test(value) ? MIN_ENTROPY - 0.5 : MIN_ENTROPY);
}

function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

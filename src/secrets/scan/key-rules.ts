// Finds private keys that secretlint's rules miss: PEM keys under about 100 characters (Ed25519, P-256), and age keys.
//
// Invariants:
// - Pure function. A key with a passphrase or with an omitted middle ("MIIE...") is not a finding.
import type { LeakFinding, CheckedText } from "./finding.ts";

/** Line breaks may be escaped as "\n". Header lines of an encrypted key do not match, because they are not base64. */
const PEM =
  /-----BEGIN ((?:[A-Z]+ )?)PRIVATE KEY-----(?:\s|\\[nr]){1,4}(?:[A-Za-z\d+/=]{16,}(?:\s|\\[nr]){1,4}){1,12}-----END \1PRIVATE KEY-----/g;
const AGE = /AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}(?![A-Z\d])/g;
const ENCRYPTED = "ENCRYPTED ";

export function findKeys({ file, text }: CheckedText): LeakFinding[] {
  const found = [...[...text.matchAll(PEM)].filter(([, kind]) => kind !== ENCRYPTED), ...text.matchAll(AGE)];
  return found.map(({ index }) => ({
    file,
    line: text.slice(0, index).split("\n").length,
    rule: "key",
  }));
}

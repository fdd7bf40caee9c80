// Private keys that the list passes over: short ones (Ed25519, P-256), for which it wants a hundred letters and more, and
// those of age, which `rt secrets share new-key` prints into files.
//
// Contract: pure. A key with a passphrase, and one whose middle is left out ("MIIE..."), is no finding.
import type { LeakFinding, CheckedText } from "./finding.ts";

/** Line breaks may be written as "\n". What is encrypted says so in words, which no base64 has. */
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

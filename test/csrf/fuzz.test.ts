// Damaged tokens (test/support/fuzz.ts): verify() never throws, and accepts only issued tokens. adversarial.test.ts has the
// attacks that use the structure of a token.
import { expect, test } from "bun:test";
import { CSRF } from "../../src/csrf/csrf.ts";
import { type CSRFAlgorithm, type CSRFEncoding, MAC_BYTES, TEXT_LENGTH } from "../../src/csrf/token.ts";
import { fuzz, mutate } from "../support/fuzz.ts";

const secret = "a secret";
const encodings = Object.keys(TEXT_LENGTH) as CSRFEncoding[];
const variants = (Object.keys(MAC_BYTES) as CSRFAlgorithm[]).flatMap((algorithm) =>
  encodings.map((encoding) => ({ algorithm, encoding })),
);
const issued = variants.map((variant) => CSRF.generate(secret, variant));
const issuedBytes = new Set(variants.map(({ encoding }, index) => hexOf(issued[index]!, encoding)));

function hexOf(token: string, encoding: CSRFEncoding): string {
  return Buffer.from(token, encoding).toString("hex");
}

/** A base64url token without its padding may be the same token; no other token has two spellings. */
function wasIssued(text: string, encoding: CSRFEncoding): boolean {
  const isSpelling = Buffer.from(text, encoding).toString(encoding) === text;
  return isSpelling && issuedBytes.has(hexOf(text, encoding));
}

const TIME_LIMIT = 100 * Number(process.env.RT_FUZZ ?? 2000);

async function fuzzTokens(name: string, make?: Parameters<typeof fuzz>[1]["make"]): Promise<void> {
  const inputs = issued.map((token) => Buffer.from(token));
  await fuzz(name, {
    inputs,
    make,
    check(bytes) {
      for (const text of [bytes.toString("latin1"), bytes.toString("utf16le")])
        for (const variant of variants)
          if (CSRF.verify(text, { ...variant, secret }) && !wasIssued(text, variant.encoding))
            throw new Error("verified");
    },
  });
}

test("verify() returns false for the damaged text of a token", () => fuzzTokens("CSRF tokens"), TIME_LIMIT);

test(
  "verify() returns false for damaged bytes in a token's own encoding",
  async () => {
    await fuzzTokens("bytes of CSRF tokens", (random) => {
      const index = random.below(variants.length);
      const { encoding } = variants[index]!;
      return Buffer.from(mutate(random, [Buffer.from(issued[index]!, encoding)]).toString(encoding));
    });
  },
  TIME_LIMIT,
);

test("an issued token verifies, so the tests above can fail", () => {
  for (const [index, variant] of variants.entries())
    expect(CSRF.verify(issued[index]!, { ...variant, secret })).toBe(true);
});

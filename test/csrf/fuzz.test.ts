// Damaged tokens (test/support/fuzz.ts): verify() never throws, and says yes to nothing that was not issued. Attacks that
// know what a token is are in adversarial.test.ts.
import { expect, test } from "bun:test";
import { CSRF } from "../../src/csrf/csrf.ts";
import { type CSRFAlgorithm, type CSRFEncoding, MAC_BYTES, TEXT_LENGTH } from "../../src/csrf/token.ts";
import { fuzz, mutate } from "../support/fuzz.ts";

const secret = "a secret";
const encodings = Object.keys(TEXT_LENGTH) as CSRFEncoding[];
const ways = (Object.keys(MAC_BYTES) as CSRFAlgorithm[]).flatMap((algorithm) =>
  encodings.map((encoding) => ({ algorithm, encoding })),
);
const issued = ways.map((way) => CSRF.generate(secret, way));
const issuedBytes = new Set(ways.map(({ encoding }, index) => hexOf(issued[index]!, encoding)));

function hexOf(token: string, encoding: CSRFEncoding): string {
  return Buffer.from(token, encoding).toString("hex");
}

/** A token without its padding may be the same token in base64url; nothing else is two spellings of one. */
function wasIssued(text: string, encoding: CSRFEncoding): boolean {
  const isSpelling = Buffer.from(text, encoding).toString(encoding) === text;
  return isSpelling && issuedBytes.has(hexOf(text, encoding));
}

const PATIENCE = 100 * Number(process.env.RT_FUZZ ?? 2000);

async function fuzzTokens(name: string, make?: Parameters<typeof fuzz>[1]["make"]): Promise<void> {
  const inputs = issued.map((token) => Buffer.from(token));
  await fuzz(name, {
    inputs,
    make,
    check(bytes) {
      for (const text of [bytes.toString("latin1"), bytes.toString("utf16le")])
        for (const way of ways)
          if (CSRF.verify(text, { ...way, secret }) && !wasIssued(text, way.encoding))
            throw new Error("verified");
    },
  });
}

test("verify() says no to the damaged text of a token", () => fuzzTokens("CSRF tokens"), PATIENCE);

test(
  "verify() says no to damaged bytes in a token's own encoding",
  async () => {
    await fuzzTokens("bytes of CSRF tokens", (random) => {
      const index = random.below(ways.length);
      const { encoding } = ways[index]!;
      return Buffer.from(mutate(random, [Buffer.from(issued[index]!, encoding)]).toString(encoding));
    });
  },
  PATIENCE,
);

test("an issued token verifies, so the tests above are able to fail", () => {
  for (const [index, way] of ways.entries())
    expect(CSRF.verify(issued[index]!, { ...way, secret })).toBe(true);
});

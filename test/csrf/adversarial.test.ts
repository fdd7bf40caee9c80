// Verifies a million strings made from valid tokens of every algorithm and encoding; each must be rejected.
import { expect, test } from "bun:test";
import { type CSRFAlgorithm, CSRF } from "../../src/csrf/csrf.ts";
import { type CSRFEncoding, MAC_BYTES, TEXT_LENGTH } from "../../src/csrf/token.ts";
import { createRandom, type Random } from "../support/random.ts";
import { forgeToken } from "./forge.ts";

const SEED = Number(process.env.RT_FUZZ_SEED ?? 1);

const secret = "a secret";
const sessionId = "alice";
const ALPHABETS: Record<CSRFEncoding, string> = {
  base64url: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
  base64: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
  hex: "0123456789abcdef",
};
const FOREIGN = [
  ..."=+/-_ABCDEFabcdef \t\r\n\0\x7f\x80\xa0\xff%&.",
  "\u2028",
  "\ufeff",
  "Ａ",
  "😀",
  "\ud800",
  "==",
  "%3D",
  "\r\n",
  "0x",
];

interface Variant {
  algorithm: CSRFAlgorithm;
  encoding: CSRFEncoding;
}
const variants: Variant[] = (Object.keys(MAC_BYTES) as CSRFAlgorithm[]).flatMap((algorithm) =>
  (Object.keys(TEXT_LENGTH) as CSRFEncoding[]).map((encoding) => ({ algorithm, encoding })),
);

const other = (one: string, alphabet: string, random: Random) => {
  const at = alphabet.indexOf(one);
  return alphabet[(at + 1 + random.below(alphabet.length - 1)) % alphabet.length]!;
};
const splice = (text: string, at: number, remove: number, insert: string) =>
  text.slice(0, at) + insert + text.slice(at + remove);

type Attack = (token: string, variant: Variant, random: Random, second: string) => string;

const attacks: Record<string, Attack> = {
  "one character replaced": (token, { encoding }, random) => {
    const at = random.below(token.length);
    return splice(token, at, 1, other(token[at]!, ALPHABETS[encoding], random));
  },
  "one bit flipped": (token, { encoding }, random) => {
    const bytes = Buffer.from(token, encoding);
    bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    return bytes.toString(encoding);
  },
  "many bytes replaced": (token, { encoding }, random) => {
    const bytes = Buffer.from(token, encoding);
    const from = random.below(bytes.length);
    crypto.getRandomValues(bytes.subarray(from, from + 8 + random.below(bytes.length)));
    return bytes.toString(encoding);
  },
  "a foreign character put in place of another": (token, _, random) => {
    const at = random.below(token.length);
    return splice(token, at, 1, random.pick(FOREIGN));
  },
  "something inserted, in front, inside or behind": (token, _, random) => {
    const at = random.pick([0, token.length, random.below(token.length)]);
    return splice(token, at, 0, random.pick(FOREIGN));
  },
  truncated: (token, _, random) => token.slice(random.below(3), random.below(token.length)),
  "truncated from the front": (token, _, random) => token.slice(1 + random.below(token.length - 1)),
  extended: (token, { encoding }, random) =>
    token +
    Array.from({ length: 1 + random.below(64) }, () => random.pick([...ALPHABETS[encoding]])).join(""),
  "bytes appended": (token, { encoding }, random) =>
    Buffer.concat([
      Buffer.from(token, encoding),
      Buffer.alloc(1 + random.below(40), random.below(256)),
    ]).toString(encoding),
  "bytes removed": (token, { encoding }, random) => {
    const bytes = Buffer.from(token, encoding);
    return bytes.subarray(0, random.below(bytes.length)).toString(encoding);
  },
  "two characters swapped": (token, _, random) => {
    const at = random.below(token.length - 1);
    return splice(token, at, 2, token[at + 1]! + token[at]!);
  },
  "another token's header": (token, { encoding }, _, second) => {
    const header = Buffer.from(second, encoding).subarray(0, 32);
    return Buffer.concat([header, Buffer.from(token, encoding).subarray(32)]).toString(encoding);
  },
  "re-encoded": (token, { encoding }, random) => {
    const bytes = Buffer.from(token, encoding);
    const to = random.pick((Object.keys(ALPHABETS) as CSRFEncoding[]).filter((one) => one !== encoding));
    return bytes.toString(to);
  },
  "stray trailing bits": (token, { encoding }, random) => {
    const padding = token.length - token.replace(/=+$/, "").length;
    const at = token.length - padding - 1;
    const alphabet = ALPHABETS[encoding];
    // The last character of a base64 token of 64 bytes has 4 unused bits, of 80 bytes 2.
    return splice(token, at, 1, alphabet[alphabet.indexOf(token[at]!) ^ (1 + random.below(3))]!);
  },
  "percent-encoded, doubled, padded, quoted, in capitals": (token, _, random) =>
    random.pick([
      `${token}=`,
      `${token}==`,
      token.replace(/=+$/, "") + "=".repeat(random.below(4)),
      token.replaceAll("=", "%3D"),
      token + token,
      `${token},${token}`,
      `"${token}"`,
      token.toUpperCase(),
      token.toLowerCase(),
      token.normalize("NFKD") + "\u0301",
      [...token].reverse().join(""),
      token.replaceAll("-", "+").replaceAll("_", "/"),
      token.replaceAll("+", "-").replaceAll("/", "_"),
      token.replaceAll("+", " "),
    ]),
  "signed with something else": (_, { algorithm, encoding }, random) =>
    random
      .pick([
        () => forgeToken({ secret: "a secret ", algorithm, sessionId }),
        () => forgeToken({ secret: "", algorithm, sessionId }),
        () => forgeToken({ secret, algorithm, sessionId: `${sessionId}\0` }),
        () => forgeToken({ secret, algorithm }),
        () => forgeToken({ secret, algorithm, sessionId, issuedAt: 0, expiresIn: 0 }),
        () =>
          forgeToken({ secret, algorithm, sessionId, issuedAt: 2n ** 64n - 1n, expiresIn: 2n ** 64n - 1n }),
      ])()
      .toString(encoding),
};

const PER_ATTACK = Math.ceil(1_000_000 / (Object.keys(attacks).length - 1));

test.each(Object.entries(attacks))("verify() returns false for a token with %s", (name, attack) => {
  const random = createRandom(SEED);
  const tokens = variants.map(
    (variant) =>
      [
        CSRF.generate(secret, { ...variant, sessionId }),
        CSRF.generate(secret, { ...variant, sessionId }),
      ] as const,
  );
  const valid = new Set(tokens.flat());
  const options = variants.map((variant) => ({ ...variant, secret, sessionId }));
  const verified: unknown[] = [];
  let tried = 0;
  // Making these takes longer than checking them, and there are only six kinds.
  const count = name === "signed with something else" ? 20_000 : PER_ATTACK;
  for (let turn = 0; tried < count; turn++) {
    const index = turn % variants.length;
    const [token, second] = tokens[index]!;
    const forged = attack(token, variants[index]!, random, second);
    if (valid.has(forged)) continue; // for example, swapping two equal characters changes nothing
    tried++;
    if (CSRF.verify(forged, options[index])) verified.push({ token, forged, ...variants[index] });
  }
  expect({ seed: SEED, verified }).toEqual({ seed: SEED, verified: [] });
  for (const [index, [token]] of tokens.entries()) expect(CSRF.verify(token, options[index])).toBe(true);
});

test("verify() returns false for every single changed bit of a token", () => {
  for (const variant of variants) {
    const options = { ...variant, secret, sessionId };
    const bytes = Buffer.from(CSRF.generate(secret, { ...variant, sessionId }), variant.encoding);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      if (CSRF.verify(bytes.toString(variant.encoding), options))
        throw new Error(`bit ${bit} does not count`);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
    }
    expect(CSRF.verify(bytes.toString(variant.encoding), options)).toBe(true);
  }
});

test("verify() accepts exactly one last character", () => {
  for (const variant of variants) {
    const token = CSRF.generate(secret, { ...variant, sessionId }).replace(/=+$/, "");
    const padding = variant.encoding === "base64" ? "=".repeat((4 - (token.length % 4)) % 4) : "";
    const accepted = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).filter((last) =>
      CSRF.verify(token.slice(0, -1) + last + padding, { ...variant, secret, sessionId }),
    );
    expect(accepted).toEqual([token.at(-1)!]);
  }
});

// Bun.CSRF is the second implementation of the same layout. Each accepts the other's tokens under random options; intended
// differences are listed here and in docs/guides/csrf.md.
import { describe, expect, test } from "bun:test";
import { type CSRFAlgorithm, CSRF } from "../../src/csrf/csrf.ts";
import { MAC_BYTES } from "../../src/csrf/token.ts";
import { createRandom } from "../support/random.ts";
import { forgeToken, randomText } from "./forge.ts";

const SEED = Number(process.env.RT_FUZZ_SEED ?? 1);

const algorithms = [undefined, ...(Object.keys(MAC_BYTES) as CSRFAlgorithm[])] as const;
const encodings = [undefined, "base64url", "base64", "hex"] as const;
const times = [undefined, 0, 60_000, 86_400_000, 2 ** 40, Number.MAX_SAFE_INTEGER] as const;
const both = [
  ["rt.CSRF", "Bun.CSRF", CSRF, Bun.CSRF],
  ["Bun.CSRF", "rt.CSRF", Bun.CSRF, CSRF],
] as const;

test.each(both)("tokens of %s verify with %s", (_from, _to, issuer, checker) => {
  const random = createRandom(SEED);
  for (let turn = 0; turn < 20_000; turn++) {
    const [algorithm, encoding] = [random.pick(algorithms), random.pick(encodings)];
    const [expiresIn, maxAge] = [random.pick(times), random.pick(times)];
    const secret = randomText(random, random.pick([8, 300]));
    const sessionId = random.below(2) === 0 ? undefined : randomText(random, random.pick([8, 300]));
    const what = { seed: SEED, algorithm, encoding, expiresIn, maxAge, secret, sessionId };
    const token = issuer.generate(secret, { algorithm, encoding, expiresIn, sessionId });
    const options = { secret, algorithm, encoding, maxAge, sessionId };
    if (!checker.verify(token, options))
      throw new Error(`Expected a token that verifies: ${JSON.stringify(what)}`);
    if (checker.verify(token, { ...options, sessionId: `${sessionId ?? ""}!` }))
      throw new Error(`Expected bound to its session: ${JSON.stringify(what)}`);
    if (checker.verify(token, { ...options, secret: `${secret}!` }))
      throw new Error(`Expected bound to its secret: ${JSON.stringify(what)}`);
    const decoded = Buffer.from(token, encoding ?? "base64url");
    decoded[random.below(decoded.length)]! ^= 1 << random.below(8);
    if (checker.verify(decoded.toString(encoding ?? "base64url"), options))
      throw new Error(`Expected a token that is refused: ${JSON.stringify(what)}`);
  }
});

test("rt.CSRF and Bun.CSRF agree on tokens of any age", () => {
  const random = createRandom(SEED);
  const ages = [0, 30_000, 3_600_000, 90_000_000, 40_000_000_000];
  for (let turn = 0; turn < 5000; turn++) {
    const [expiresIn, maxAge] = [random.pick(times), random.pick(times)];
    const age = random.pick(ages) - random.below(3) * 10_000; // tokens are also up to 20 seconds ahead
    const token = forgeToken({
      secret: "k",
      issuedAt: Date.now() - age,
      expiresIn: expiresIn ?? 86_400_000,
    }).toString("base64url");
    const [ours, theirs] = [
      CSRF.verify(token, { secret: "k", maxAge }),
      Bun.CSRF.verify(token, { secret: "k", maxAge }),
    ];
    // No age above is near a limit of 60,000 ms, so the time between the two calls does not matter.
    expect({ seed: SEED, age, expiresIn, maxAge, ours }).toEqual({
      seed: SEED,
      age,
      expiresIn,
      maxAge,
      ours: theirs,
    });
  }
});

test("rt.CSRF and Bun.CSRF reject the same arguments with the same codes", () => {
  const calls: ((api: any) => unknown)[] = [
    ...[null, "", 1, {}, Symbol("s")].map((secret) => (api: any) => api.generate(secret)),
    ...[1, "", {}].map((secret) => (api: any) => api.verify("x", { secret })),
    ...[undefined, null, 1, {}].map((token) => (api: any) => api.verify(token)),
    ...["md5", "", 1, null].flatMap((algorithm) => [
      (api: any) => api.generate("k", { algorithm }),
      (api: any) => api.verify("x", { secret: "k", algorithm }),
    ]),
    ...["utf8", 1, null].flatMap((encoding) => [
      (api: any) => api.generate("k", { encoding }),
      (api: any) => api.verify("x", { secret: "k", encoding }),
    ]),
    ...["", 1, {}].flatMap((sessionId) => [
      (api: any) => api.generate("k", { sessionId }),
      (api: any) => api.verify("x", { secret: "k", sessionId }),
    ]),
    ...[-1, 0.5, NaN, Infinity, -Infinity, 2 ** 53, "5", null, 5n].flatMap((time) => [
      (api: any) => api.generate("k", { expiresIn: time }),
      (api: any) => api.verify("x", { secret: "k", maxAge: time }),
    ]),
  ];
  for (const call of calls)
    expect([String(call), outcome(call, CSRF)]).toEqual([String(call), outcome(call, Bun.CSRF)]);
});

function outcome(call: (api: any) => unknown, api: unknown): unknown {
  try {
    const value = call(api);
    return typeof value === "string" ? "a token" : value;
  } catch (error) {
    return `${(error as Error).name} ${(error as { code?: string }).code}`;
  }
}

describe("an intended difference", () => {
  const token = Bun.CSRF.generate("k");
  const inHex = Bun.CSRF.generate("k", { encoding: "hex" });
  const padded = Bun.CSRF.generate("k", { encoding: "base64" });
  const ahead = (ms: number) => forgeToken({ secret: "k", issuedAt: Date.now() + ms }).toString("base64url");
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const strayBit = token.slice(0, -1) + alphabet[alphabet.indexOf(token.at(-1)!) ^ 1];
  const wrongType = "TypeError ERR_INVALID_ARG_TYPE";
  const cases: [string, call: (api: any) => unknown, ours: unknown, theirs: unknown][] = [
    ["the empty string", (api) => api.verify("", { secret: "k" }), false, wrongType],
    ["a padded base64url token", (api) => api.verify(`${token}==`, { secret: "k" }), false, true],
    ["white space around a token", (api) => api.verify(` ${token}\n`, { secret: "k" }), false, true],
    ["stray trailing bits", (api) => api.verify(strayBit, { secret: "k" }), false, true],
    ["a base64 token for the encoding base64url", (api) => api.verify(padded, { secret: "k" }), false, true],
    [
      "a base64url token for the encoding base64",
      (api) => api.verify(token, { secret: "k", encoding: "base64" }),
      false,
      true,
    ],
    ["capital hex", (api) => api.verify(inHex.toUpperCase(), { secret: "k", encoding: "hex" }), false, true],
    ["a token from an hour ahead", (api) => api.verify(ahead(3_600_000), { secret: "k" }), false, true],
    ["several secrets", (api) => api.verify(token, { secret: ["new", "k"] }), true, wrongType],
    ["sessionId: null", (api) => api.generate("k", { sessionId: null }), wrongType, "a token"],
    ["secret: null", (api) => api.verify(token, { secret: null }), wrongType, false],
    ["options that are not an object", (api) => api.verify(token, "k"), wrongType, false],
    ["an empty encoding", (api) => api.generate("k", { encoding: "" }), wrongType, "a token"],
    ["an encoding in capitals", (api) => api.generate("k", { encoding: "HEX" }), wrongType, "a token"],
    [
      "another name of an algorithm",
      (api) => api.generate("k", { algorithm: "SHA-256" }),
      wrongType,
      "a token",
    ],
    ["a String object as token", (api) => api.verify(new String(token), { secret: "k" }), wrongType, true],
    [
      "half a surrogate pair as id",
      (api) => api.generate("k", { sessionId: "\ud800" }),
      "TypeError ERR_INVALID_ARG_VALUE",
      "a token",
    ],
  ];
  test.each(cases)("%s", (_, call, ours, theirs) => {
    expect(outcome(call, CSRF)).toEqual(ours);
    expect(outcome(call, Bun.CSRF)).toEqual(theirs);
  });
});

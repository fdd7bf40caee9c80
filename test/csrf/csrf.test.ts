import { describe, expect, test } from "bun:test";
import { CSRF } from "../../src/csrf/csrf.ts";
import { MAC_BYTES, TEXT_LENGTH } from "../../src/csrf/token.ts";

// The type checker rejects misuse, so these calls use untyped names.
const generate: (...args: unknown[]) => string = CSRF.generate as never;
const verify: (...args: unknown[]) => boolean = CSRF.verify as never;
const secret = "a secret";

function codeOf(call: () => unknown): unknown {
  try {
    return { returned: call() };
  } catch (error) {
    const { name, code, message } = error as Error & { code?: string };
    expect(message).not.toMatch(/\.$|undefined must|\[object/);
    return `${name} ${code}`;
  }
}

const WRONG_TYPE = "TypeError ERR_INVALID_ARG_TYPE";
const OUT_OF_RANGE = "RangeError ERR_OUT_OF_RANGE";
// Each value has a name, since test.each would spread the arrays among the values.
const named = (values: readonly unknown[]) => values.map((value) => [Bun.inspect(value), value] as const);
const notStrings = [null, 1, 1n, true, {}, [], Symbol("s"), () => "s", new String("s"), Buffer.from("s")];

describe("generate()", () => {
  test("needs no arguments", () => {
    expect(CSRF.verify(CSRF.generate())).toBe(true);
    expect(generate(undefined, undefined)).toMatch(/^[\w-]{86}$/);
  });

  test.each(named([...notStrings, ""]))("throws for the secret %s", (_, value) => {
    expect(codeOf(() => generate(value))).toBe(WRONG_TYPE);
  });

  test("throws for several secrets, because one secret signs", () => {
    expect(codeOf(() => generate(["a", "b"]))).toBe(WRONG_TYPE);
  });

  test.each(named([null, 1, "x", [], () => ({})]))("throws for the options %s", (_, value) => {
    expect(codeOf(() => generate(secret, value))).toBe(WRONG_TYPE);
  });
});

describe("verify()", () => {
  const malformed = [
    "",
    " ",
    "\0",
    "a",
    "AAAA",
    "=",
    "==",
    "é",
    "漢",
    "\ud800",
    "x".repeat(86),
    "A".repeat(1 << 20),
  ];
  test("returns false for the empty string", () => {
    expect(CSRF.verify("")).toBe(false);
    expect(CSRF.verify("", { secret, sessionId: "alice", encoding: "hex" })).toBe(false);
  });

  test.each(malformed.map((token) => [JSON.stringify(token.slice(0, 100)), token]))(
    "returns false for %s",
    (_, token) => {
      for (const encoding of ["base64url", "base64", "hex"] as const) {
        expect(CSRF.verify(token, { secret, encoding })).toBe(false);
      }
      expect(CSRF.verify(token)).toBe(false);
    },
  );

  test.each(named([undefined, ...notStrings]))("throws for the token %s", (_, token) => {
    expect(codeOf(() => verify(token, { secret }))).toBe(WRONG_TYPE);
    expect(codeOf(() => verify(token))).toBe(WRONG_TYPE);
  });

  test.each(named([null, 1, "a secret", [], () => ({})]))("throws for the options %s", (_, options) => {
    expect(codeOf(() => verify(CSRF.generate(), options))).toBe(WRONG_TYPE);
  });

  const notSecrets = [null, 1, {}, "", [], [""], ["a", ""], ["a", null], [["a"]], Symbol("s")];
  test.each(named(notSecrets))("throws for the secret %s", (_, value) => {
    expect(codeOf(() => verify("", { secret: value }))).toBe(WRONG_TYPE);
  });

  test("reports misuse before it reads the token", () => {
    expect(codeOf(() => verify("", { secret, algorithm: "md5" }))).toBe(WRONG_TYPE);
  });

  test("treats options that are undefined as omitted", () => {
    const nothing = {
      secret: undefined,
      maxAge: undefined,
      encoding: undefined,
      algorithm: undefined,
      sessionId: undefined,
    };
    expect(CSRF.verify(CSRF.generate(undefined, { ...nothing, expiresIn: undefined }), nothing)).toBe(true);
  });

  test("works without its object", () => {
    const { generate, verify } = CSRF;
    expect(verify(generate(secret), { secret })).toBe(true);
  });
});

describe("options of generate() and verify()", () => {
  // Every entry is used with generate() and verify(); `time` means expiresIn and maxAge.
  const cases: [name: string, values: unknown[], expected: string][] = [
    ["time", [null, "5", "", 5n, true, {}, [], new Number(5)], WRONG_TYPE],
    ["time", [-1, -0.5, 0.5, 1.9, NaN, Infinity, -Infinity, 2 ** 53, 2 ** 64, 1e300, 5e-324], OUT_OF_RANGE],
    [
      "encoding",
      [null, "", "HEX", "Base64", "base64 ", "utf8", "latin1", "ucs2", "toString", "__proto__", ["hex"], 1],
      WRONG_TYPE,
    ],
    [
      "algorithm",
      [null, "", "SHA256", "sha-256", "sha512/256", "md5", "sha1", "toString", "__proto__", ["sha256"], 1],
      WRONG_TYPE,
    ],
    ["sessionId", [...notStrings, ""], WRONG_TYPE],
  ];
  test.each(cases)("%s throws for every invalid value (%#)", (name, values, expected) => {
    const token = CSRF.generate(secret);
    for (const value of values) {
      const [forGenerate, forVerify] = name === "time" ? ["expiresIn", "maxAge"] : [name, name];
      expect([value, codeOf(() => generate(secret, { [forGenerate]: value }))]).toEqual([value, expected]);
      expect([value, codeOf(() => verify(token, { secret, [forVerify]: value }))]).toEqual([value, expected]);
    }
  });

  test("error messages name the option and the valid values, but not the value of a secret", () => {
    expect(() => generate(secret, { algorithm: "md5" })).toThrow(
      `algorithm must be one of ${Object.keys(MAC_BYTES).join(", ")}, received "md5"`,
    );
    expect(() => generate(secret, { encoding: 1 })).toThrow(
      `encoding must be one of ${Object.keys(TEXT_LENGTH).join(", ")}, received type number`,
    );
    expect(() => generate({ key: "hidden" })).toThrow(
      "secret must be a non-empty string, received an instance of Object",
    );
    for (const [value, type] of [
      [12345, "type number"],
      [12345n, "type bigint"],
      [Symbol("12345"), "type symbol"],
      [() => 12345, "type function"],
    ])
      expect(() => generate(value)).toThrow(
        new TypeError(`secret must be a non-empty string, received ${String(type)}`),
      );
    const throwing = {
      get constructor(): never {
        throw new Error("hides the mistake");
      },
    };
    for (const value of [throwing, { constructor: null }, { constructor: { name: "" } }])
      expect(() => verify(value)).toThrow(
        new TypeError("token must be a string, received an instance of Object"),
      );
    expect(() => verify("", { secret: ["old", ""] })).toThrow(
      "secret[1] must be a non-empty string, received an empty string",
    );
    expect(() => verify("", { maxAge: -1 })).toThrow(
      "maxAge must be an integer from 0 to 9007199254740991 (milliseconds), received -1",
    );
  });
});

describe("sessionId", () => {
  test("a token is valid only for the session it was issued to", () => {
    const token = CSRF.generate(secret, { sessionId: "alice" });
    expect(CSRF.verify(token, { secret, sessionId: "alice" })).toBe(true);
    for (const sessionId of ["bob", "alic", "alice ", "Alice", "alice\0", "\0alice"]) {
      expect(CSRF.verify(token, { secret, sessionId })).toBe(false);
    }
    expect(CSRF.verify(token, { secret })).toBe(false);
  });

  test("a token without a session id is valid only when verify() gets none", () => {
    const token = CSRF.generate(secret);
    expect(CSRF.verify(token, { secret })).toBe(true);
    expect(CSRF.verify(token, { secret, sessionId: "alice" })).toBe(false);
  });

  test("canonically equivalent ids are different sessions", () => {
    const token = CSRF.generate(secret, { sessionId: "\u00e9" });
    expect(CSRF.verify(token, { secret, sessionId: "e\u0301" })).toBe(false);
  });

  // All three are the same in UTF-8: without a check, each would be valid for the others.
  test.each(["\ud800", "\udc00", "a\udfff"])(
    "an id with half a surrogate pair gets no token and matches none: %p",
    (sessionId) => {
      expect(codeOf(() => generate(secret, { sessionId }))).toBe("TypeError ERR_INVALID_ARG_VALUE");
      for (const bound of ["\ufffd", "a\ufffd"]) {
        const token = CSRF.generate(secret, { sessionId: bound });
        expect(CSRF.verify(token, { secret, sessionId })).toBe(false);
      }
    },
  );
});

describe("secret rotation", () => {
  const rotation = ["newest", "older", "oldest"] as const;

  test("a token signed with any of the secrets verifies", () => {
    for (const one of rotation) {
      const token = CSRF.generate(one, { sessionId: "alice" });
      expect(CSRF.verify(token, { secret: rotation, sessionId: "alice" })).toBe(true);
      expect(CSRF.verify(token, { secret: rotation, sessionId: "bob" })).toBe(false);
      expect(
        CSRF.verify(token, { secret: rotation.filter((other) => other !== one), sessionId: "alice" }),
      ).toBe(false);
    }
  });

  test("works with every algorithm and with a repeated secret", () => {
    for (const algorithm of Object.keys(MAC_BYTES) as (keyof typeof MAC_BYTES)[]) {
      const token = CSRF.generate("older", { algorithm });
      expect(CSRF.verify(token, { secret: ["older", "newest", "older"], algorithm })).toBe(true);
      expect(CSRF.verify(token, { secret: ["newest"], algorithm })).toBe(false);
    }
  });

  test("named secrets never include the thread's default secret", () => {
    expect(CSRF.verify(CSRF.generate(), { secret: rotation })).toBe(false);
    expect(CSRF.verify(CSRF.generate("newest"))).toBe(false);
  });
});

test("tokens are valid only with the algorithm and the encoding that created them", () => {
  const combinations = (Object.keys(MAC_BYTES) as (keyof typeof MAC_BYTES)[]).flatMap((algorithm) =>
    (Object.keys(TEXT_LENGTH) as (keyof typeof TEXT_LENGTH)[]).map((encoding) => ({ algorithm, encoding })),
  );
  for (const made of combinations) {
    const token = CSRF.generate(secret, made);
    for (const read of combinations)
      expect([made, read, CSRF.verify(token, { secret, ...read })]).toEqual([made, read, made === read]);
  }
});

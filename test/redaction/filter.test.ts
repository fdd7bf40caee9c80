// The stream filter: which values it finds, how it replaces them, and that cuts in the stream do not matter. Tested at source
// level, since no program writes every encoding.
import { describe, expect, test } from "bun:test";
import { RedactionFilter } from "../../src/redaction/filter.ts";
import { variantsOf } from "../../src/redaction/value-variants.ts";
import { VariantMatcher } from "../../src/redaction/pattern-matcher.ts";
import { openRedaction } from "../../src/redaction/stream.ts";
import type { SecretValue } from "../../src/redaction/secret-value.ts";
import { createRandom } from "../support/random.ts";

type Values = Readonly<Record<string, string | Uint8Array>>;

const encoder = new TextEncoder();

function secretsOf(values: Values, isRedacted = true): SecretValue[] {
  return Object.entries(values).map(([name, value]) => ({
    name,
    value: typeof value === "string" ? encoder.encode(value) : value,
    isRedacted,
  }));
}

/** Returns the filtered stream as latin1, so that decoding hides no byte. */
function redact(values: Values | VariantMatcher, pieces: Iterable<Uint8Array | string>): string {
  const filter = new RedactionFilter(
    values instanceof VariantMatcher ? values : new VariantMatcher(secretsOf(values)),
  );
  let shown = "";
  const show = (bytes: Uint8Array) => (shown += Buffer.from(bytes).toString("latin1"));
  for (const piece of pieces)
    for (const part of filter.push(typeof piece === "string" ? encoder.encode(piece) : piece)) show(part);
  show(filter.end());
  return shown;
}

const once = (values: Values, text: string) => Buffer.from(redact(values, [text]), "latin1").toString();

function* cut(bytes: Uint8Array, length: () => number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const end = at + length();
    yield bytes.slice(at, end);
    at = end;
  }
}

const PLAIN = 'pä$$ "w/ö&rd"=+?#\\{n}';
const KEY =
  "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\nabcdefg\n  kgF93nsdKJh23\n-----END PRIVATE KEY-----\n";
const bytes = (text: string) => Buffer.from(text);
const hex = (text: string) => bytes(text).toString("hex");

const OTHERS = /[^\x00-\x7f]/g;
const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
const escapedInCapitals = (letter: string) => `\\u${escaped(letter).slice(2).toUpperCase()}`;

describe("a value is found", () => {
  const forms: Record<string, (value: string) => string> = {
    unchanged: (value) => value,
    "in JSON": (value) => JSON.stringify(value),
    "in JSON of PHP": (value) => JSON.stringify(value).replaceAll("/", "\\/"),
    "in JSON of Go": (value) => JSON.stringify(value).replaceAll("&", "\\u0026"),
    "in JSON of Python": (value) => JSON.stringify(value).replace(OTHERS, escaped),
    "in JSON of PHP with its defaults": (value) =>
      JSON.stringify(value).replaceAll("/", "\\/").replace(OTHERS, escaped),
    "in JSON of Gson": (value) => JSON.stringify(value).replace(/[<>&=']/g, escaped),
    "in JSON of .NET": (value) =>
      `"${JSON.stringify(value)
        .slice(1, -1)
        .replaceAll('\\"', '"')
        .replace(/[^\x00-\x7e]|["&'+<>`]/g, escapedInCapitals)}"`,
    "in a URL": encodeURIComponent,
    "in a URL as a whole": encodeURI,
    "in a URL as its password": (value) => {
      const url = new URL("postgres://db/");
      url.password = value;
      return url.password;
    },

    "in a URL with small digits": (value) =>
      encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
    "in a form": (value) => new URLSearchParams({ value }).toString().slice("value=".length),
    "in a strict URL": (value) =>
      encodeURIComponent(value).replace(/[!'()*]/g, (each) => `%${hex(each).toUpperCase()}`),
    "in hex": hex,
    "in HEX": (value) => hex(value).toUpperCase(),
  };
  for (const [name, form] of Object.entries(forms)) {
    test(name, () => {
      const written = form(PLAIN);
      const shown = once({ P: PLAIN }, `<${written}> and ${written}`);
      expect(shown.replaceAll('"', "")).toBe("<[P]> and [P]");
    });
  }

  test("a value is found in HTML and XML with any escape of special characters", () => {
    const value = `a&b<c>d"e'f;secret`;
    const markup = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    expect(once({ H: value }, `<p>${markup}</p>`)).toBe("<p>[H]</p>");
    expect(once({ H: value }, `<p title="${Bun.escapeHTML(value)}">`)).toBe('<p title="[H]">');
    for (const quotation of ["&quot;", "&#34;"])
      for (const apostrophe of quotation === "&#34;"
        ? ["&#39;"]
        : ["'", "&#39;", "&#x27;", "&#039;", "&apos;"]) {
        const written = markup.replace('"', quotation).replace("'", apostrophe);
        expect(once({ H: value }, `<p title="${written}">`)).toBe('<p title="[H]">');
      }
    for (const one of ["&secret", "secret<", '"secret"', "it's secret"])
      expect(once({ H: `${one} value` }, Bun.escapeHTML(`${one} value`))).toBe("[H]");
  });

  test("a value is found in a URL that a program built from it", () => {
    const value = 'postgres://shöp:a b"c@db/x?y=<z>&q={1}';
    expect(once({ U: value }, `<${new URL(`http://h/?${value}`).search.slice(1)}>`)).toBe("<[U]>");
  });

  test("a value is found in JSON within a JSON string", () => {
    const [inner, ascii] = [
      JSON.stringify({ P: PLAIN }),
      JSON.stringify({ P: PLAIN }).replace(OTHERS, escaped),
    ];
    for (const text of [inner, ascii])
      expect(once({ P: PLAIN }, JSON.stringify({ body: text }))).toBe('{"body":"{\\"P\\":\\"[P]\\"}"}');
    expect(once({ K: "line 1 of it\nline 2" }, JSON.stringify(JSON.stringify("line 1 of it\nline 2")))).toBe(
      '"\\"[K]\\""',
    );
  });

  test("a value with non-ASCII letters is found in JSON", () => {
    expect(once({ T: "é€ 😀 value" }, "<\\u00e9\\u20ac \\ud83d\\ude00 value>")).toBe("<[T]>");
  });

  test("a value is found in base64 and base64url with any surrounding bytes", () => {
    const value = "\xff\xfe~~??>>secret value\xfb\xff";
    for (const encoding of ["base64", "base64url"] as const) {
      for (const before of ["", "a", "ab", "abc", "user:"]) {
        for (const after of ["", "x", "xy", "xyz"]) {
          const written = bytes(before + value + after).toString(encoding);
          const shown = once({ B: value }, written);
          // Characters that depend on the value alone must be gone. At most two on each side depend on the neighbours too.
          const [left = "", right = "", ...more] = shown.split("[B]");
          expect(more).toEqual([]);
          const own = 2;
          expect(left.length).toBeLessThanOrEqual(Math.ceil((before.length * 4) / 3) + own);
          expect(right.replaceAll("=", "").length).toBeLessThanOrEqual(
            Math.ceil((after.length * 4) / 3) + own,
          );
        }
      }
    }
  });

  test("a value is found in the wrapped lines of base64 and xxd", () => {
    const token = createToken(200);
    for (const [text, width] of [
      [bytes(token).toString("base64"), 76],
      [bytes(token).toString("base64"), 64],
      [hex(token), 60],
    ] as const) {
      for (const lineBreak of ["\n", "\r\n"]) {
        const lines = text.match(new RegExp(`.{1,${width}}`, "g"))!.join(lineBreak);
        expect(once({ T: token }, lines)).toMatch(/^\[T\].{0,2}=*$/);
      }
    }
  });

  test("a multi-line value is found with other line ends, and so is each long line", () => {
    expect(once({ K: KEY }, `${KEY}.`)).toBe("[K]\n.");
    expect(once({ K: KEY }, KEY.replaceAll("\n", "\r\n"))).toBe("[K]\r\n");
    const numbered = KEY.split("\n").map((line, index) => `  ${index}\t${line}\n`);
    expect(once({ K: KEY }, numbered.join(""))).toBe(
      "  0\t-----BEGIN PRIVATE KEY-----\n  1\t[K]\n  2\tabcdefg\n  3\t  [K]\n  4\t-----END PRIVATE KEY-----\n  5\t\n",
    );
    expect(once({ K: KEY.replaceAll("\n", "\r\n") }, KEY)).toBe("[K]\n");
  });

  test("a value is found with colours inside, and the colours follow the mark", () => {
    expect(once({ T: "abcdefgh" }, "1 \x1b[1mabc\x1b[31mde\x1b]8;;x\x07f\x1b[0mgh\x1b[m 2")).toBe(
      "1 \x1b[1m[T]\x1b[31m\x1b]8;;x\x07\x1b[0m\x1b[m 2",
    );
    expect(once({ T: "abcdefgh" }, "\x1b]0;an abcdefgh\x1b\\ \x1bPabcdefgh")).toBe(
      "\x1b]0;an [T]\x1b\\ \x1bP[T]",
    );
    // A sequence that is part of the value is not a colour.
    expect(once({ T: "abc\x1b]secret\x07def" }, "<abc\x1b]secret\x07def>")).toBe("<[T]>");
    // The filter skips sequences of up to 16 KiB.
    const colour = "\x1b[38;2;1;2;3m";
    expect(once({ T: "abcdefgh" }, `abcd${colour.repeat(1000)}efgh`)).toBe(`[T]${colour.repeat(1000)}`);
  });

  test("a value is found with escape sequences inside that end where terminals end them", () => {
    for (const sequence of [
      "\x1b]0;a title\x07",
      "\x1b]0;a title\x1b\\",
      "\x1bPa string\x07 with a bell\x1b\\",
      "\x1bPone that another ends\x1b[m",
      "\x1b[31\x18",
      "\x1b[31\x1a",
      "\x1b(B",
      "\x1b7",
    ])
      expect(once({ T: "abcdefgh" }, `<abcd${sequence}efgh>`)).toBe(`<[T]${sequence}>`);
    // A non-ASCII letter ends the sequence and must remain visible.
    for (const sequence of ["\x1b[3", "\x1b("])
      expect(once({ T: "abcdäfgh" }, `<abcd${sequence}äfgh>`)).toBe(`<[T]${sequence}>`);
  });

  test("overlapping values get one mark, with the name of the longest", () => {
    const values = { A: "abcdefgh", B: "efghijklmnop", C: "abcdefghi" };
    expect(once(values, "abcdefgh|abcdefghi|abcdefghijklmnop|efghijklmnop abcdefghabcdefgh")).toBe(
      "[A]|[C]|[B]|[B] [A][A]",
    );
    expect(once({ A: "same-value", B: "same-value" }, "same-value")).toBe("[A]");
    expect(once({ A: "abcdefgh", B: "efghijkl" }, "abcdefghijkl")).toBe("[A]");
  });

  test("a value without redaction, and a part of a value, are not replaced", () => {
    const patterns = new VariantMatcher(secretsOf({ A: "abcdefgh" }, false));
    expect(patterns.isEmpty).toBe(true);
    expect(once({ A: "abcdefgh" }, "abcdefg bcdefgh ABCDEFGH hgfedcba")).toBe(
      "abcdefg bcdefgh ABCDEFGH hgfedcba",
    );
  });
});

test("a mark is as wide as the value on the alternate screen, and not on the main screen", () => {
  const values = { T: "äbcdefghij", LONG_NAME: "12345678" };
  for (const number of ["1049", "47", "1047", "25;1049"]) {
    const [on, off] = [`\x1b[?${number}h`, `\x1b[?${number}l`];
    expect(once(values, `äbcdefghij${on}äbcdefghij 12345678 äb\x1b[1mcdefghij${off}12345678`)).toBe(
      `[T]${on}[T]******* [LONG_NA [T]*******\x1b[1m${off}[LONG_NAME]`,
    );
  }
  expect(once(values, "\x1b[?25h12345678")).toBe("\x1b[?25h[LONG_NAME]");
});

describe("cuts do not change the output of", () => {
  const values = {
    A: "abc12345",
    B: "abc12345xyz",
    C: "ghp_0123456789abcdef",
    D: "45abc12345abc12",
    E: "abababab",
    F: "abcabcabc\nxyzxyzxyz",
    G: "m\x1b[31mghp_01",
  };
  const pieces = [
    ...[
      "abc12345",
      "abc1",
      "2345",
      "xyz",
      "ghp_",
      "0123456789abcdef",
      "a",
      "\n",
      "45abc12",
      "YWJj",
      "ab",
      "m",
    ],
    ...[
      "\x1b[31m",
      "\x1b[0m",
      "\x1b]0;",
      "\x07",
      "\x1b[?1049h",
      "\x1b[?1049l",
      "\x1b",
      "\x1b\\",
      "\x18",
      "ä\xff",
    ],
    ...[hex("abc12345"), bytes("abc12345xyz").toString("base64")],
  ];

  test("200 random streams in one piece, cut at random places and byte by byte", () => {
    const patterns = new VariantMatcher(secretsOf(values));
    for (let seed = 0; seed < 200; seed += 1) {
      const random = createRandom(seed);
      const text = Array.from({ length: 60 }, () => random.pick(pieces)).join("");
      const stream = new Uint8Array(Buffer.from(text, "latin1"));
      const whole = redact(patterns, [stream]);
      const inPieces = redact(
        patterns,
        cut(stream, () => 1 + random.below(12)),
      );
      const byBytes = redact(
        patterns,
        cut(stream, () => 1),
      );
      if (inPieces !== whole || byBytes !== whole)
        expect({ seed, inPieces, byBytes }).toEqual({ seed, inPieces: whole, byBytes: whole });
      for (const value of [values.A, values.C, values.E])
        if (whole.includes(value)) expect(whole).not.toContain(value);
    }
  });

  test("long pieces, which the filter does not copy to hold bytes back", () => {
    const patterns = new VariantMatcher(secretsOf(values));
    for (let seed = 0; seed < 30; seed += 1) {
      const random = createRandom(seed);
      const plain = pieces.filter((piece) => !piece.includes("\x1b"));
      const filling = () => (random.below(3) === 0 ? random.pick(plain) : "lorem ipsum ");
      const text = Array.from({ length: 6000 }, filling).join("");
      const stream = new Uint8Array(Buffer.from(text, "latin1"));
      const whole = redact(patterns, [stream]);
      const inPieces = redact(
        patterns,
        cut(stream, () => 4096 + random.below(50)),
      );
      if (inPieces !== whole) expect({ seed, shown: inPieces }).toEqual({ seed, shown: whole });
      for (const value of [values.A, values.C, values.E])
        if (whole.includes(value)) expect(whole).not.toContain(value);
    }
  });

  test("a value with colours that continues in a long piece", () => {
    const long = `\x1b[1m12345 ${"lorem ipsum ".repeat(1000)}`;
    expect(redact(values, ["abc", long])).toStartWith("[A]\x1b[1m lorem");
  });

  test("endless overlaps, which need bounded memory", () => {
    const stream = encoder.encode(`${"ab".repeat(150_000)}.`);
    const whole = redact({ E: "abababab" }, [stream]);
    expect(
      redact(
        { E: "abababab" },
        cut(stream, () => 997),
      ),
    ).toBe(whole);
    expect(whole).toMatch(/^(\[E\]){4,8}\.$/);
  });

  test("lines that begin with a long hexadecimal number, which are no dump", () => {
    // A regular expression that can divide the digits in several ways takes longer than the time limit of a test.
    const line = `${"e3b0c442".repeat(8)}  -\n`;
    expect(redact(values, Array<string>(150).fill(line))).toBe(line.repeat(150));
  });
});

describe("the stream filter", () => {
  test("holds back exactly the bytes that may begin a value", () => {
    const filter = new RedactionFilter(new VariantMatcher(secretsOf({ T: "abcdefg-", U: "bcdefgxyz" })));
    const push = (text: string) => Buffer.concat([...filter.push(encoder.encode(text))]).toString();
    expect(push("12")).toBe("12");
    expect(push("3abcdefg")).toBe("3");
    expect(push("x")).toBe("a"); // the other value may still follow
    expect(push("y")).toBe("");
    expect(push(".")).toBe("bcdefgxy.");
    // A complete value that no longer value extends is written at once.
    expect(push("abcdefg-")).toBe("[T]");
    expect(filter.isHolding).toBe(false);
    expect(push("\x1b[31")).toBe("\x1b[31");
    expect(push("mabc\x1b[1m")).toBe("m");
    expect(push("d\x1b[0mX")).toBe("abc\x1b[1md\x1b[0mX");
  });

  test("releases only the value's public prefix after a delay", () => {
    const values = {
      TOKEN: "ghp_A1b2c3d4e5f6g7h8",
      URL: "postgres://me:pw@host/db",
      SHORT: "zyxwvuts",
      KEY: "-----BEGIN X-----\nqwertzuiop\n-----END X-----",
    };
    const pushSlowly = (text: string) => {
      const filter = new RedactionFilter(new VariantMatcher(secretsOf(values)));
      let shown = "";
      for (const byte of encoder.encode(text)) {
        for (const part of [...filter.push(Uint8Array.of(byte)), filter.release(), filter.release()])
          shown += Buffer.from(part).toString();
      }
      const held = shown;
      return [held, Buffer.from(filter.end()).toString()];
    };
    expect(pushSlowly("use ghp_A1b2")).toEqual(["use ghp_A1", "b2"]);
    expect(pushSlowly("use ghp_A1b2.")).toEqual(["use ghp_A1b2.", ""]);
    expect(pushSlowly("use ghp_A1b2c3d4e5f6g7h8!")).toEqual(["use ghp_A1[TOKEN]!", ""]);
    expect(pushSlowly("postgres://me:")).toEqual(["postgres://m", "e:"]);
    expect(pushSlowly("zyxwvut")).toEqual(["zy", "xwvut"]);
    expect(pushSlowly("zyxwvuts ")).toEqual(["zy[SHORT] ", ""]);
    // A line may end within an encoding that programs wrap.
    expect(pushSlowly(`${bytes(values.TOKEN).toString("base64")[0]!}\r\n`)[1]).toBe("");
    expect(pushSlowly("-----BEGIN X-----\nqw")[0]).toBe("-----BEGIN X-----\nqw");
    for (const form of ["base64", "hex"] as const) {
      const written = bytes(values.TOKEN).toString(form);
      expect(pushSlowly(written)[0]!.length).toBeLessThan(12);
    }
  });

  test("writes one mark when a longer value may follow", () => {
    const filter = new RedactionFilter(new VariantMatcher(secretsOf({ A: "abcdefgh", B: "abcdefghij" })));
    const text = (part: Uint8Array | readonly Uint8Array[]) =>
      Buffer.concat(part instanceof Uint8Array ? [part] : [...part]).toString();
    expect(text(filter.push(encoder.encode("> abcdefgh")))).toBe("> ");
    expect(text(filter.release())).toBe("[A]");
    expect(text(filter.push(encoder.encode("i")))).toBe("");
    expect(text(filter.release())).toBe("");
    expect(text(filter.push(encoder.encode("j\n")))).toBe("\n");
    expect(text(filter.push(encoder.encode("abcdefgh")))).toBe("");
    expect(text(filter.release())).toBe("[A]");
    expect(text(filter.push(encoder.encode("i.")))).toBe("i.");
  });

  test("releases held bytes after a delay without further input", async () => {
    const redaction = openRedaction(secretsOf({ T: "s3cretvalue" }));
    const { promise, resolve } = Promise.withResolvers<string>();
    const stream = redaction.stream((part) => resolve(Buffer.from(part).toString()));
    void stream.push(encoder.encode("s"));
    expect(await promise).toBe("s");
    void stream.end();
  });

  test("releases all held bytes at the end of the stream", async () => {
    const redaction = openRedaction(secretsOf({ T: "s3cretvalue" }));
    const parts: string[] = [];
    const stream = redaction.stream((part) => void parts.push(Buffer.from(part).toString()));
    void stream.push(encoder.encode("is s3cretval"));
    await stream.end();
    expect(parts.join("")).toBe("is s3cretval");
  });
});

describe("openRedaction()", () => {
  const open = (values: Values) => () => openRedaction(secretsOf(values));

  test("rejects a value that is too short with an error that names it but does not contain it", () => {
    expect(open({ PIN: "7654321" })).toThrow(
      expect.objectContaining({
        name: "UserError",
        message: "The value of PIN is too short to redact in the output: it has fewer than 8 characters",
        hint: "use a longer value, or add to [secrets.PIN] of rtfig.toml: redact = false",
      }),
    );
    expect(open({ A: "1234567\n", B: "äöüäöüä", C: "long enough" })).toThrow(
      "The values of A, B are too short",
    );
  });

  test("accepts a value that is empty or not redacted", () => {
    expect(open({ EMPTY: "", LONG: "12345678", UMLAUTS: "äöüäöüäö" })).not.toThrow();
    expect(() => openRedaction(secretsOf({ PIN: "1" }, false))).not.toThrow();
  });
});

test("buffers derived from values are zeroized after use", () => {
  const patterns = new VariantMatcher(secretsOf({ T: "abcdefgh12345678" }));
  const all = new Set(patterns.find(encoder.encode("abcdefgh12345678"), 16, 0).map(({ pattern }) => pattern));
  const filter = new RedactionFilter(patterns);
  expect(Buffer.concat([...filter.push(encoder.encode("abcdefgh1234"))]).toString()).toBe("");
  patterns.zero();
  expect([...all].map(({ bytes }) => bytes.every((byte) => byte === 0))).toEqual([true]);
  expect(patterns.isEmpty).toBe(true);
});

test("no copy of held bytes and of unneeded variants stays in memory", () => {
  const made: Uint8Array[] = [];
  const { slice } = Uint8Array.prototype;
  Uint8Array.prototype.slice = function (...args) {
    const copy = slice.apply(this, args);
    made.push(copy);
    return copy;
  };
  try {
    const patterns = new VariantMatcher(
      secretsOf({ K: "first-line-of-it\nshort12\n", SAME: "first-line-of-it" }),
    );
    const filter = new RedactionFilter(patterns);
    for (const piece of ["first-line", "-of-", "it\nshort12", "."]) filter.push(encoder.encode(piece));
    filter.end();
    patterns.zero();
  } finally {
    Uint8Array.prototype.slice = slice;
  }
  expect(made.length).toBeGreaterThan(10);
  for (const word of ["first", "short12", hex("first-line")])
    expect(made.filter((copy) => Buffer.from(copy).includes(word))).toEqual([]);
});

test("control characters in the name of a secret are escaped", () => {
  expect(once({ "A\x1b[31m\n": "abcdefgh" }, "abcdefgh")).toBe("[A\\u001b[31m\\n]");
});

test("every variant has at least eight bytes, and at most half of it is public", () => {
  for (const value of ["12345678", "\x00".repeat(8), "a\nb\nc\nd\ne\n", KEY, "é".repeat(8)])
    for (const { bytes: form, publicLength } of variantsOf(encoder.encode(value))) {
      expect(form.length).toBeGreaterThanOrEqual(8);
      expect(publicLength).toBeLessThanOrEqual(form.length / 2);
    }
});

function createToken(length: number): string {
  const random = createRandom(7);
  return Array.from({ length }, () => random.pick("abcdefghijklmnopqrstuvwxyz0123456789")).join("");
}

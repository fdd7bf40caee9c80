// Parsers of project files with thousands of damaged inputs: each returns a value, or throws rt's error with a position. RT_FUZZ
// and RT_FUZZ_SEED set how many and which (test/support/fuzz.ts).
import { test } from "bun:test";
import { optionsOf, parseConfig } from "../../src/config/rtfig.ts";
import { isIgnored, parseIgnoreLines } from "../../src/watch/gitignore.ts";
import { parseLenientJson } from "../../src/workspace/jsonc.ts";
import { parsePnpmWorkspace } from "../../src/workspace/members.ts";
import { compilePatterns } from "../../src/workspace/member-patterns.ts";
import { parsePackageJson } from "../../src/workspace/package-json.ts";
import { fuzz } from "../support/fuzz.ts";
import type { Random } from "../support/random.ts";

const TIME_LIMIT = 3_600_000; // ms; fuzz() itself ends an endless check
const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

const ESCAPE = /[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

/** Returns the parser's result, or undefined for an error of the given type that has one line and a position. */
function attempt<Value>(parse: () => Value, name: string, place: RegExp): { value: Value } | undefined {
  try {
    return { value: parse() };
  } catch (error) {
    const { name: found, message } = error as Error;
    if (found !== name) throw error;
    if (!place.test(message)) throw new Error(`no place in: ${message}`);
    if (ESCAPE.test(message) || message.length > 400) throw new Error(`not fit to be printed: ${message}`);
    return undefined;
  }
}

function parseStrictly(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

const MANIFESTS = [
  JSON.stringify({
    name: "@a/b",
    version: "1.0.0",
    scripts: { a: 'echo "x" \\ \u{1f600}' },
    workspaces: ["a/*"],
  }),
  JSON.stringify({ config: { deep: [[1, -2.5e-3, true], { a: null }] }, __proto__x: 1 }, null, 2),
  '// c\n{ "a": [1, 2,], /* b */ "c": "\\u00e9\\n", }',
  '\ufeff{ "__proto__": { "x": 1 } }',
  `${'{"a":['.repeat(20)}${"]}".repeat(20)}`,
];

const TOKENS = [
  ...[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "/",
    "//",
    "/*",
    "*/",
    "\n",
    " ",
    "\t",
    "\r",
    "\0",
    "\ufeff",
    "\u202e",
  ],
  ...[
    '"a"',
    '"__proto__"',
    '"\\u12',
    "\\ud800",
    "1",
    "-",
    "0",
    "1e999",
    "-0",
    ".5",
    "true",
    "nul",
    "null",
    "\u{1f600}",
  ],
];

/** Makes every other input from tokens of the grammar, in random order. */
function makeOf(tokens: readonly string[], texts: readonly string[]) {
  return (random: Random): Uint8Array | undefined => {
    if (random.below(2) === 0) return undefined;
    let text = random.below(3) === 0 ? random.pick(texts) : "";
    for (let left = random.below(40); left > 0; left--) {
      const at = random.below(text.length + 1);
      text = text.slice(0, at) + random.pick(tokens) + text.slice(at);
    }
    return encode(text);
  };
}

test(
  "parsePackageJson() survives damaged input",
  async () => {
    const check = (bytes: Uint8Array) => {
      const text = decode(bytes);
      attempt(() => parsePackageJson(text, "f"), "PackageJsonError", /^Cannot read f:\d+:\d+: /);
      const lenient = attempt(() => parseLenientJson(text), "SyntaxError", /./);
      const strict = parseStrictly(text);
      if (strict && (!lenient || !Object.is(JSON.stringify(lenient.value), JSON.stringify(strict.value))))
        throw new Error("another answer than that of JSON.parse");
      // The engine's parser accepts more: single quotes, names without quotes.
      if (!lenient || strict || text.includes("\0")) return;
      const expected = JSON.stringify(Bun.JSONC.parse(text));
      if (JSON.stringify(lenient.value) !== expected) throw new Error(`the engine has ${expected}`);
    };
    await fuzz("package.json", {
      inputs: MANIFESTS.map(encode),
      make: makeOf(TOKENS, MANIFESTS) as never,
      check,
    });
  },
  TIME_LIMIT,
);

const DECLARATIONS = [
  "packages:\n  - 'packages/**'\n  - \"!**/test/**\"\ncatalog:\n  a: ^1.0.0\n",
  "# c\npackages: [a, 'b', \"c\\n\"]\nb: &x { y: 1 }\nc: *x\nd: !!str 1\n",
  "packages:\n- |\n  a\n- >-\n  b\n? c\n: d\n---\n...\n",
];
const YAML = [
  ...[
    "-",
    "- ",
    ":",
    ": ",
    "?",
    "&a",
    "*a",
    "!",
    "!!binary ",
    "|",
    ">",
    "'",
    '"',
    "\\x1b",
    "#",
    "\n",
    "\n  ",
    "\t",
  ],
  ...[
    "{",
    "}",
    "[",
    "]",
    ",",
    "%",
    "@",
    "`",
    "<<: ",
    "---",
    "...",
    "packages:",
    "0x1f",
    "1e9",
    "~",
    "\u202e",
    "\0",
  ],
];

test(
  "parsePnpmWorkspace() survives damaged input",
  () =>
    fuzz("pnpm-workspace.yaml", {
      inputs: DECLARATIONS.map(encode),
      make: makeOf(YAML, DECLARATIONS) as never,
      check: (bytes) =>
        void attempt(() => parsePnpmWorkspace(decode(bytes), "f"), "UserError", /^Cannot read f:\d+: /),
    }),
  TIME_LIMIT,
);

const CONFIGS = [
  'preload = ["./a.ts"]\nenv = false\n[run]\nsilent = false\nelide-lines = 3\nshell = "rt"\n',
  '[define]\n"process.env.X" = "\'y\'"\na.b = """\nx\n"""\n[[test]]\n[install.registry]\ntoken = "t"\n',
  "[test]\ncoverage = true\nroot = './x' # c\n[serve]\nport = 3000\n[run]\nconcurrency = 1_000\n",
];
const TOML = [
  ...[
    "[",
    "]",
    "[[",
    "]]",
    ".",
    "=",
    '"',
    "'",
    '"""',
    "'''",
    "\\",
    "\\u00",
    "#",
    "\n",
    " ",
    ",",
    "{",
    "}",
    "\0",
  ],
  ...[
    "run",
    "define",
    "test",
    "x",
    "true",
    "-1",
    "1e3",
    "0x",
    "1979-05-27",
    "inf",
    "\u202e",
    "\x1b",
    "__proto__",
  ],
];

test(
  "parseConfig() survives damaged input",
  () =>
    fuzz("rtfig.toml", {
      inputs: CONFIGS.map(encode),
      make: makeOf(TOML, CONFIGS) as never,
      check: (bytes) =>
        void attempt(() => optionsOf(parseConfig(decode(bytes), "f")), "UserError", /^f:\d+: /),
    }),
  TIME_LIMIT,
);

const PATTERNS = ["packages/*", "!**/test/**", "{a,b{c,d}}/*/x", "../shared", "./a//b/", "[a-c]?/{x,}/**/y"];
const GLOBS = [..."*?[]{}!,/.\\ab- \0\u202e#".split(""), "**", "**/", "{a,b}", "../", "[^", "[]", "{,"];

test(
  "patterns of members and of .gitignore survive damaged input",
  () =>
    fuzz("patterns", {
      inputs: PATTERNS.map(encode),
      make: makeOf(GLOBS, PATTERNS) as never,
      check: (bytes) => {
        const text = decode(bytes);
        const compiled = attempt(() => compilePatterns([text], '"packages" in f'), "UserError", / in f /);
        for (const { segments, matches } of compiled?.value ?? []) {
          if (segments.length > 1000) throw new Error("stands for too much");
          matches("packages/a/b");
        }
        isIgnored("/p/packages/a/b", true, [parseIgnoreLines(text.split(/\r?\n/), "/p")]);
      },
    }),
  TIME_LIMIT,
);

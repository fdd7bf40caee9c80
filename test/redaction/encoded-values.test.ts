// Redaction of values that real programs encode in hexadecimal and base64, in scripts of the compiled rt. Also values in rt's own
// output, values that arrive slowly, and repetitive values.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { RedactionFilter } from "../../src/redaction/filter.ts";
import { VariantMatcher } from "../../src/redaction/pattern-matcher.ts";
import { openRedaction } from "../../src/redaction/stream.ts";
import { createProject, type Project } from "../support/project.ts";
import { runRt } from "../support/rt.ts";
import { trustOf } from "../support/trusted.ts";

const VALUE = "S3cr3t-value-0123456789";
const LONG = "long-S3cr3t-".repeat(30);
/** Text before a value: one for each alignment of base64, and one as long as a line of a dump. */
const PREFIXES = ["", "x-access-token:", "a", "ab", "qwertyuiopasdfgh"];

const DUMPS = [
  ...["xxd", "xxd -g1", "xxd -u", "xxd -g4", "xxd -c 8", "xxd -i", "xxd -p", "xxd -p -c 20"],
  ...["od -tx1", "od -An -tx1", "od -tx1z", "od -tx1 -w8", "od -x", "od -tx4", "od -tx8"],
  ...["hexdump", "hexdump -C"],
  ...[
    "base64",
    "base64 -w 64",
    "base64 -w 40",
    "base64 | sed s/$/\\\\r/",
    "openssl base64",
    "base64 | base64",
  ],
];

const encoder = new TextEncoder();
const secretsOf = (value: string) => [{ name: "K", value: encoder.encode(value), isRedacted: true }];

/** Returns the parts of a value that a text contains, as letters or in hexadecimal. */
function remains(shown: string, value: string): string[] {
  const parts = Array.from({ length: value.length - 5 }, (_, at) => value.slice(at, at + 6));
  const forms = parts.flatMap((part) => [part, Buffer.from(part).toString("hex")]);
  const plain = shown.toLowerCase().replaceAll(/[^0-9a-z]/g, "");
  return [...new Set(forms)].filter(
    (form) => shown.includes(form) || (/^[0-9a-f]+$/.test(form) && plain.includes(form)),
  );
}

describe.skipIf(process.platform !== "linux")("values of scripts", () => {
  let project: Project;
  let env: Record<string, string>;
  const scripts: Record<string, string> = {
    say: "echo",
    answered: `echo ${VALUE}`,
    encoded: "true",
    twice: `printf %s "$VALUE" | base64 | base64`,
    slow: `printf %s "$VALUE" | while read -r -n 1 letter; do printf %s "$letter"; sleep 0.03; done; echo`,
    equal: "head -c 3000000 /dev/zero | tr '\\0' a",
  };
  // One start of rt for all programs, because each start takes longer than the programs.
  const dumpsOf = (dump: string) =>
    PREFIXES.map(
      (prefix) => `printf '${prefix}%s' "$VALUE" | ${dump}; echo; printf '${prefix}%s' "$LONG" | ${dump}`,
    ).join("; echo; ");
  const END = "== end";
  scripts.dumps = DUMPS.map((dump) => `${dumpsOf(dump)}; echo; echo "${END}"`).join("\n");
  beforeAll(async () => {
    const tables = ["VALUE", "LONG", "EQUAL"].map(
      (name) => `[secrets.${name}]\nfrom.command = ["cat", "${name}"]\n`,
    );
    project = await createProject({
      "rtfig.toml": `${tables.join("")}[run.secrets]\n"*" = ["VALUE", "LONG"]\nequal = ["EQUAL"]\n`,
      "package.json": { scripts },
      VALUE,
      LONG,
      EQUAL: "a".repeat(20_000),
    });
    env = { RT_TRUST: await trustOf(project.path) };
  });
  afterAll(async () => await project?.[Symbol.asyncDispose]());
  const run = async (...args: string[]) => await runRt({ args: ["run", ...args], cwd: project.path, env });

  describe("redacted output shows no part of a value after any prefix", () => {
    let shown: string[];
    beforeAll(async () => {
      const { stdout, stderr, status } = await run("--silent", "dumps");
      expect([stderr, status]).toEqual(["", 0]);
      shown = stdout.split(END);
    });
    test.each(DUMPS.map((dump, index) => [dump, index] as const))("of %s", (_, index) => {
      const output = shown[index]!;
      expect([remains(output, VALUE), remains(output, LONG)]).toEqual([[], []]);
      expect(output.split("[VALUE]").length).toBeGreaterThan(PREFIXES.length);
      expect(output).not.toContain(Buffer.from(VALUE).toString("base64").slice(4, 16));
    });
  });

  test("a value encoded twice in base64 is redacted", async () => {
    expect((await run("--silent", "twice")).stdout).toMatch(/^\S{0,2}\[VALUE\]\S{0,4}\n$/);
  });

  test("rt's line with the command has the name instead of a value in the arguments", async () => {
    const { stdout, stderr } = await run("say", "--", VALUE, encodeURIComponent(`${VALUE}/`), btoa(VALUE));
    expect(stderr).toMatch(/^\$ echo \[VALUE\] \[VALUE\]%2F \[VALUE\]\S{0,2}\n$/);
    expect(stdout).toMatch(/^\[VALUE\] \[VALUE\]%2F \[VALUE\]\S{0,2}\n$/);
    const many = await run("--sequential", "say", "--", VALUE);
    expect(`${many.stdout}${many.stderr}`).not.toContain(VALUE);
  });

  test("an `echo` that rt runs itself is redacted", async () => {
    expect(await run("answered")).toEqual({ stdout: "[VALUE]\n", stderr: "$ echo [VALUE]\n", status: 0 });
    const { stdout } = await run("--parallel", "answered", "encoded");
    expect(stdout).toContain("answered | [VALUE]\n");
  });

  test("a value that arrives slowly is redacted completely in a pipe", async () => {
    expect((await run("--silent", "slow")).stdout).toBe("[VALUE]\n");
  });

  test("a long repetitive value is redacted in output that repeats it", async () => {
    const { stdout, status } = await run("--silent", "equal");
    expect([stdout.replaceAll("[EQUAL]", ""), status]).toEqual(["", 0]);
  });
});

test("a pipe holds back the possible start of a value longer than a terminal", async () => {
  const redaction = openRedaction(secretsOf(VALUE));
  const shown: string[] = [];
  const pipe = redaction.stream((bytes) => void shown.push(Buffer.from(bytes).toString()), false);
  const { promise, resolve } = Promise.withResolvers<string>();
  const terminal = redaction.stream((bytes) => resolve(Buffer.from(bytes).toString()), true);
  void pipe.push(encoder.encode("S3cr"));
  void terminal.push(encoder.encode("S3cr"));
  expect(await promise).toBe("S3");
  expect(shown).toEqual([]);
  void pipe.push(encoder.encode("et"));
  await pipe.end();
  expect(shown.join("")).toBe("S3cret");
  void terminal.end();
});

describe("a stream in pieces", () => {
  const bytes = Buffer.from(`ab${VALUE}`);
  const hex = bytes.toString("hex").match(/../g)!;
  const lines = (cells: string[], count: number, separator: string) =>
    Array.from({ length: Math.ceil(cells.length / count) }, (_, line) =>
      cells.slice(line * count, line * count + count).join(separator),
    );
  const texts: Record<string, string> = {
    "a dump with offsets and letters": lines(hex, 16, " ")
      .map((line, at) => {
        const letters = bytes.subarray(at * 16, at * 16 + 16).toString();
        return `${(at * 16).toString(16).padStart(8, "0")}: ${line.padEnd(47)}  ${letters}\n`;
      })
      .join(""),
    "a Buffer of Node.js": `{ a: <Buffer ${hex.join(" ")}>, b: 1 }\n`,
    "hexadecimal with colons": `    ${lines(hex, 15, ":").join(":\n    ")}\n`,
    "escapes of a byte each": `b'\\x${hex.join("\\x")}'`,
    "base64 in lines": `${bytes
      .toString("base64")
      .match(/.{1,20}/g)!
      .join("\r\n")}\r\n`,
    "hexadecimal in lines": lines(hex, 10, "").join("\n"),
  };
  for (const [name, text] of Object.entries(texts))
    test(`redaction of ${name} gives the same output for every cut`, () => {
      const patterns = new VariantMatcher(secretsOf(VALUE));
      const redact = (length: number) => {
        const filter = new RedactionFilter(patterns);
        const stream = encoder.encode(`before\n${text}after`);
        const parts: Uint8Array[] = [];
        for (let at = 0; at < stream.length; at += length)
          parts.push(...[...filter.push(stream.slice(at, at + length))].map((part) => part.slice()));
        parts.push(filter.end());
        return Buffer.concat(parts).toString();
      };
      const whole = redact(text.length + 20);
      expect(whole).toContain("[K]");
      expect(remains(whole, VALUE)).toEqual([]);
      for (const length of [1, 2, 3, 7, 16, 40, 71]) expect(redact(length)).toBe(whole);
    });
});

// The texts that `rt secrets import` parses and writes: assignments, additions to an rtfig.toml, and likely credentials.
import { describe, expect, test } from "bun:test";
import { looksLikeCredential } from "../../../src/secrets/scan/credential-heuristics.ts";
import { findAssignments, replaceSpans } from "../../../src/secrets/import/env-file.ts";
import { addToMapping } from "../../../src/secrets/import/mapping-editor.ts";
import { planImport } from "../../../src/secrets/import/plan.ts";
import { findMovedLines, movedLine } from "../../../src/secrets/import/moved-comment.ts";

test("assignments are found where the engine finds them", () => {
  const found = (text: string) =>
    findAssignments(text).map(({ line, prefix, quote, raw, isWhole }) => [line, prefix, quote, raw, isWhole]);
  expect(found("A=1\n\n # B=2\r\nexport  C = 'x\ny' # c\nD=a b #c\nE:\"\"\nF=")).toEqual([
    [1, "A=", "", "1", true],
    [4, "export  C = ", "'", "x\ny", true],
    [6, "D=", "", "a b", true],
    [7, "E:", '"', "", true],
    [8, "F=", "", "", true],
  ]);
  expect(found('\ufeffA="x" y\nB="\\"\nC="no end\nD=1')).toEqual([
    [1, "A=", '"', "x", false],
    [2, "B=", '"', '\\"\nC=', false],
    [4, "D=", "", "1", true],
  ]);
  expect(found("no assignment\n=x\nä=1\n# A=1")).toEqual([]);
  expect(
    replaceSpans("abcdef", [
      { start: 4, end: 5, by: "-" },
      { start: 1, end: 3, by: "" },
    ]),
  ).toBe("ad-f");
});

test("the comment for a moved value contains all that restores it, and no other comment is parsed as one", () => {
  const [assignment] = findAssignments('export A : "x"');
  const address = { service: "-it's", name: "$(b)" };
  const line = movedLine({
    ...{ assignment: assignment!, name: "A", value: "x", address },
    ...{ isShown: false, parts: [] },
  });
  expect(line).toBe(`# export A : "..." is in the credential store: rt secrets get -- '-it'\\''s' '$(b)'`);
  expect(findMovedLines(`x\n\t${line} # more`)).toEqual([
    { name: "A", start: 3, end: 3 + line.length, prefix: "export A : ", quote: '"', address, parts: [] },
  ]);
  for (const other of [
    `## ${line}`,
    line.replace('"..."', '"x"'),
    line.replace(" get -- ", " get ; "),
    `A=1 ${line}`,
  ])
    expect(findMovedLines(other)).toEqual([]);
});

test("variables that others reference stay, also through several references", () => {
  const text = "A_TOKEN=a-value-of-its-own\nB_URL=x$A_TOKEN\nC=y$B_URL\n";
  const values = new Map([
    ["A_TOKEN", "a-value-of-its-own"],
    ["B_URL", "xa-value-of-its-own"],
    ["C", "yxa-value-of-its-own"],
  ]);
  const plan = (...names: string[]) =>
    planImport({
      assignments: findAssignments(text),
      values,
      chosen: new Set(names),
      isFound: () => false,
      isInEnvironment: () => false,
      addressOf: (name) => ({ service: "s", name }),
    });
  expect(plan("A_TOKEN", "B_URL").moves).toEqual([]);
  expect(plan("A_TOKEN", "B_URL", "C").moves.map(({ name }) => name)).toEqual(["A_TOKEN", "B_URL", "C"]);
});

describe("rtfig.toml", () => {
  const add = (text: string, scripts: string[] = ["dev"]) =>
    addToMapping(text, "rtfig.toml", [{ name: "A", address: { service: "s", name: "A" } }], ["A"], scripts);
  const B = '[secrets.B]\nfrom = "s/B"\n';

  test.each([
    ["nothing", "", '\n[secrets.A]\nfrom = "s/A"\n\n[tasks.dev]\nsecrets = ["A"]\n'],
    [
      "the row of the script",
      "[tasks.dev] # serves\nservice = true\n",
      '[tasks.dev] # serves\nsecrets = ["A"]\nservice = true\n\n[secrets.A]\nfrom = "s/A"\n',
    ],
    [
      "a list in the row of the script",
      '[tasks.dev]\nsecrets = ["B"]\n[run.secrets]\nother = ["B"]\n',
      '[tasks.dev]\nsecrets = ["A", "B"]\n[run.secrets]\nother = ["B"]\n\n[secrets.A]\nfrom = "s/A"\n',
    ],
    [
      "no line break at the end, and Windows' ones",
      "[test]\r\nsmol = true\r\n# end",
      '[test]\r\nsmol = true\r\n# end\r\n\r\n[secrets.A]\r\nfrom = "s/A"\r\n\r\n[tasks.dev]\r\nsecrets = ["A"]\r\n',
    ],
    [
      "the table, and another after it",
      '[run.secrets] # who\n"web#dev" = ["B"]\n[test]\nsmol = true\n',
      '[run.secrets] # who\ndev = ["A"]\n"web#dev" = ["B"]\n[test]\nsmol = true\n\n[secrets.A]\nfrom = "s/A"\n',
    ],
    [
      "the script, in lines",
      '[run.secrets]\ndev = [ # all\n  "B", # [\n]\n',
      '[run.secrets]\ndev = ["A",  # all\n  "B", # [\n]\n\n[secrets.A]\nfrom = "s/A"\n',
    ],
    [
      "the script, with the name already",
      '[run]\nsecrets.dev = ["A"]\n',
      '[run]\nsecrets.dev = ["A"]\n\n[secrets.A]\nfrom = "s/A"\n',
    ],
    ["an empty list", "[run.secrets]\ndev = []", '[run.secrets]\ndev = ["A"]\n\n[secrets.A]\nfrom = "s/A"\n'],
  ])("gets the addition when it has %s", (_, before, after) => {
    expect(add(B + before)).toBe(B + after);
  });

  test.each([
    ["an inline table", 'secrets = { B = { from = "s/B" } }'],
    ["an inline table of scripts", '[run]\nsecrets = { dev = ["B"] }'],
    ["an inline table of a task", "[tasks]\ndev = { cache = true }"],
    ["an invalid list", '[run.secrets]\ndev = "B"'],
    ["a value with the name of a table", "secrets = 1"],
    ["no TOML", "[["],
  ])("is rejected with %s", (_, before) => {
    expect(() => add(before)).toThrow(expect.objectContaining({ name: "ArgumentError" }));
  });

  test("any script name is quoted as a key", () => {
    expect(Bun.TOML.parse(add("", ['a"b\\', "web#dev", "x.y"]))).toMatchObject({
      tasks: { 'a"b\\': { secrets: ["A"] }, "web#dev": { secrets: ["A"] }, "x.y": { secrets: ["A"] } },
    });
  });
});

test.each([
  ["NPM_TOKEN", "npm_abc123", true],
  ["DB_PASS", "s3cret!", true],
  ["apiKey", "abc-def", true],
  ["WHATEVER", "postgres://u:p4ss@h/d", true],
  ["WHATEVER", "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==", true],
  ["WHATEVER", "d41d8cd98f00b204e9800998ecf8427e", true],
  ["KEYCLOAK_URL", "https://id.example.com/", false],
  ["TOKEN_TTL", "3600", false],
  ["PASSWORD_MIN_LENGTH", "twelve", false],
  ["KEY_PATH", "/etc/key.pem", false],
  ["SECRET_KEY", "./dev.key", false],
  ["API_KEY", "your-api-key-here", false],
  ["API_KEY", "<key>", false],
  ["API_KEY", "", false],
  ["STRIPE_PUBLISHABLE_KEY", "pk_live_abcdefghijk123", false],
  ["VITE_API_KEY", "abcdefghijk123", false],
  ["APP_NAME", "a-rather-long-name-of-an-app-2", false],
  ["BUILD", "550e8400-e29b-41d4-a716-446655440000", false],
  ["NODE_ENV", "development", false],
  ["MONKEY", "banana", false],
])("%s=%s looks like a credential: %p", (name, value, expected) => {
  expect(looksLikeCredential(name, value)).toBe(expected);
});

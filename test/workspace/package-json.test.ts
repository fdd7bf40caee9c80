import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { parseLenientJson } from "../../src/workspace/jsonc.ts";
import {
  findPackageJson,
  isMisdeclaredScript,
  PackageJsonError,
  parentDirectory,
  parsePackageJson,
  readPackageJson,
  scriptNames,
  scriptOf,
} from "../../src/workspace/package-json.ts";
import { createProject } from "../support/project.ts";
import { createRandom, type Random } from "../support/random.ts";

function failureOf(text: string): PackageJsonError {
  try {
    parsePackageJson(text, "/p/package.json");
  } catch (error) {
    if (error instanceof PackageJsonError) return error;
  }
  throw new Error(`no PackageJsonError for ${text}`);
}

describe("parsePackageJson()", () => {
  test.each([
    ["comments", '// a\n{ "name": /* b */ "x" } // c'],
    ["trailing commas", '{ "name": "x", }'],
    ["a byte order mark", '\ufeff{ "name": "x" }'],
    ["a byte order mark and a comment", '\ufeff{ "name": "x" } //'],
  ])("accepts %s", (_, text) => {
    expect(parsePackageJson(text, "f")).toEqual({ name: "x" });
  });

  test.each([
    ["", 1, 1, "expected a value, found the end of the file"],
    ['{\n  "name": "x"\n  "version": "1"\n}', 3, 3, 'expected , or }, found "'],
    ['{ "name" "x" }', 1, 10, 'expected : after the member name "name", found "'],
    ["{ name: 1 }", 1, 3, "expected a member name in double quotes or }, found name"],
    ['{ "a": "x\n" }', 1, 8, 'expected " to close this string'],
    ['{ "a": 01 }', 1, 9, "expected , or }, found 1"],
    ['{ "a": tru }', 1, 8, "expected a value, found tru"],
    ['{ "a": "\\x" }', 1, 8, "expected a valid escape sequence after \\ in this string"],
    ['{ "a": "\\u12" }', 1, 8, "expected four hexadecimal digits after \\u in this string"],
    ['{ "a": "\x01" }', 1, 8, "expected no control character in this string"],
    ['{ "a": 1. }', 1, 8, "expected a digit at the end of this number"],
    ['{ "a": \x01 }', 1, 8, "expected a value, found \\u0001"],
    ['{ "a": [1,, 2] }', 1, 11, "expected a value, found ,"],
    ['{ "a": [1', 1, 10, "expected ], found the end of the file"],
    ['{ "a": [1 2] }', 1, 11, "expected , or ], found 2"],
    ["{} {}", 1, 4, "expected the end of the file, found {"],
    ["{ /* a", 1, 3, "expected */ to close this comment"],
    ['{ "a": 1', 1, 9, "expected }, found the end of the file"],
    ["{,}", 1, 2, "expected a member name in double quotes or }, found ,"],
    ["[]", 1, 1, "expected an object in braces, found an array"],
    ["null", 1, 1, "expected an object in braces, found null"],
  ])("reports the position of the error in %j", (text, line, column, problem) => {
    const failure = failureOf(text);
    expect([failure.line, failure.column]).toEqual([line, column]);
    expect(failure.message).toBe(`Cannot read /p/package.json:${line}:${column}: ${problem}`);
  });

  test("rejects nesting that would exhaust the stack", () => {
    expect(failureOf(`{ "a": ${"[".repeat(100_000)}`).message).toContain(
      "expected at most 1000 nested levels",
    );
  });
});

describe("parseLenientJson()", () => {
  const atoms = [
    '"a\\u0041\\n"',
    "1",
    "-0.5e3",
    "true",
    "null",
    "[]",
    "{}",
    '"\\ud83d\\ude00"',
    '"__proto__"',
  ];
  function createJson(random: Random, depth: number): string {
    const kind = random.fraction();
    if (depth === 0 || kind < 0.4) return random.pick(atoms);
    const items = Array.from({ length: random.below(4) }, () => createJson(random, depth - 1));
    if (kind < 0.7) return `[${items.join(" , ")}]`;
    return `{${items.map((item, index) => `${index === 0 ? '"__proto__"' : `"k${index}"`}: ${item}`).join("\n,")}}`;
  }

  test("returns the same value as JSON.parse", () => {
    const random = createRandom(1);
    for (let round = 0; round < 2000; round++) {
      const text = createJson(random, 4);
      const [ours, theirs] = [parseLenientJson(text), JSON.parse(text)];
      expect(JSON.stringify(ours)).toBe(JSON.stringify(theirs));
    }
  });
});

describe("readPackageJson()", () => {
  test("returns null when there is no package.json", async () => {
    await using project = await createProject({ file: "" });
    expect(readPackageJson(project.path)).toBeNull();
    expect(readPackageJson(project.join("file"))).toBeNull();
  });

  test("reports a directory named package.json, and an empty file", async () => {
    await using project = await createProject({ "empty/package.json": "" });
    mkdirSync(project.join("directory/package.json"), { recursive: true });
    expect(() => readPackageJson(project.join("directory"))).toThrow("it is a directory");
    expect(() => readPackageJson(project.join("empty"))).toThrow("package.json:1:1: expected a value");
  });
});

describe("findPackageJson()", () => {
  test("finds the nearest package.json upward", async () => {
    await using project = await createProject({
      "package.json": { name: "outer" },
      "a/package.json": { name: "inner" },
      "a/b/c": "",
    });
    expect(findPackageJson(project.join("a/b"))).toEqual({
      directory: project.join("a"),
      manifest: { name: "inner" },
    });
    expect(findPackageJson(project.path)?.manifest).toEqual({ name: "outer" });
  });
});

test.each([
  ["/a/b", "/a"],
  ["/a/b/", "/a"],
  ["/a", "/"],
  ["/", null],
  ["C:\\a\\b", "C:\\a"],
  ["C:\\a", "C:\\"],
  ["C:\\", null],
  ["/a\\b/c", "/a\\b"],
])("parentDirectory(%j) is %j", (path, parent) => {
  expect(parentDirectory(path)).toBe(parent);
});

test("scriptOf() returns only the package's own strings", () => {
  const manifest = parsePackageJson('{ "scripts": { "a": "x", "empty": "", "number": 1 } }', "f");
  expect(["a", "empty", "number", "toString", "constructor"].map((name) => scriptOf(manifest, name))).toEqual(
    ["x", null, null, null, null],
  );
  expect(["a", "number", "toString"].map((name) => isMisdeclaredScript(manifest, name))).toEqual([
    false,
    true,
    false,
  ]);
  expect(scriptNames(manifest)).toEqual(["a"]);
  expect(scriptNames({ scripts: ["x"] })).toEqual([]);
});

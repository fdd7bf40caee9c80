// rt reports the line and column of a syntax error in package.json.
import { describe, expect, test } from "bun:test";
import { createProject } from "../support/project.ts";
import { expectRt, runRt } from "../support/rt.ts";

const MALFORMED: ReadonlyArray<readonly [text: string, line: number, column: number]> = [
  ['{ "scripts": { "go": "true" }', 1, 30],
  ['{\n  "scripts": {\n    "go" "true"\n  }\n}\n', 3, 10],
  ['{\n  "a": 1\n  "b": 2\n}\n', 3, 3],
  ["[1, 2]", 1, 1],
  ['"text"', 1, 1],
  ["{ a: 1 }", 1, 3],
  ["not json at all", 1, 1],
  ['{ "a": "open\n" }', 1, 8],
];

describe.concurrent("a malformed package.json", () => {
  test.each(MALFORMED)("%j is reported at line %i", async (text, line, column) => {
    await using project = await createProject({ "package.json": text, "x.ts": "console.log('ran')" });
    for (const args of [["run", "go"], ["go"], ["run"], ["--silent", "run", "go"]]) {
      const { stdout, stderr, status } = await runRt({ args, cwd: project.path });
      expect({ args, stdout, status, lines: stderr.split("\n").length }).toEqual({
        args,
        stdout: "",
        status: 1,
        lines: 2,
      });
      expect(stderr).toStartWith(`error: Cannot read ${project.path}/package.json:${line}:`);
      expect(Math.abs(Number(/:(\d+): /.exec(stderr)?.[1]) - column)).toBeLessThanOrEqual(1);
    }
  });

  test("a directory named package.json is reported", async () => {
    await expectRt({
      files: { "package.json/x": "" },
      args: ["run", "go"],
      status: 1,
      stderr: "error: Cannot read $PROJECT/package.json: it is a directory\n",
    });
  });

  test("an empty package.json is reported at its first character", async () => {
    await expectRt({
      files: { "package.json": "" },
      args: ["run", "go"],
      status: 1,
      stderr: /^error: Cannot read .*package\.json:1:1: .+\n$/,
    });
  });
});

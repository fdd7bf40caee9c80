// Compares the paths that rt ignores with those of git.
import { expect, test } from "bun:test";
import { dirname } from "node:path";
import { isIgnored, parseIgnoreLines } from "../../src/watch/gitignore.ts";
import { createProject } from "../support/project.ts";

const FILES = [
  "a.ts",
  "out",
  "logs/a.log",
  "logs/keep.log",
  "src/a.ts",
  "src/out/a.ts",
  "src/gen/a.gen.ts",
  "src/kept.gen.ts",
  "deep/src/a.ts",
  "deep/out.ts",
  "x {y}/a.ts",
  "#a.ts",
  "space ",
];

/** Walks from the top and does not enter ignored directories, like rt. */
function ignoredBy(lines: readonly string[], top: string): string[] {
  const stack = [parseIgnoreLines(lines, top)];
  const isHidden = (path: string): boolean =>
    path !== "." && (isHidden(dirname(path)) || isIgnored(`${top}/${path}`, true, stack));
  return FILES.filter((path) => isHidden(dirname(path)) || isIgnored(`${top}/${path}`, false, stack));
}

const CASES: readonly (readonly string[])[] = [
  ["out"],
  ["out/"],
  ["/out"],
  ["src/"],
  ["/src/"],
  ["src/a.ts"],
  ["/a.ts"],
  ["a.ts"],
  ["*.log", "!keep.log"],
  ["logs/", "!logs/keep.log"],
  ["*.gen.ts", "!kept.gen.ts"],
  ["src/**/a.ts"],
  ["**/out"],
  ["x {y}/"],
  ["x \\{y\\}/"],
  ["#a.ts"],
  ["\\#a.ts"],
  ["space\\ "],
  ["space "],
  ["# out", "\\#", "", "deep/*", "!deep/src"],
];

test.each(CASES.map((lines) => [lines]))(
  "rt ignores the same paths as git for the patterns %j",
  async (lines) => {
    await using project = await createProject(Object.fromEntries(FILES.map((path) => [path, ""])));
    await project.write({ ".gitignore": `${lines.join("\n")}\n` });
    await Bun.$`git init -q`.cwd(project.path).quiet();
    const input = Buffer.from(FILES.join("\n"));
    const answer = await Bun.$`git check-ignore --no-index --stdin < ${input}`
      .cwd(project.path)
      .nothrow()
      .text();
    expect(ignoredBy(lines, project.path)).toEqual(answer.split("\n").slice(0, -1));
  },
);

test("an ignore file does not apply to paths outside its folder", () => {
  const stack = [parseIgnoreLines(["*.ts"], "/top/inner")];
  for (const [path, expected] of [
    ["/top/inner/a.ts", true],
    ["/top/inner2/a.ts", false],
    ["/elsewhere/a.ts", false],
  ] as const)
    expect([path, isIgnored(path, false, stack)]).toEqual([path, expected]);
});

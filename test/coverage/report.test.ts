import { expect, test } from "bun:test";
import type { Block } from "./blocks.ts";
import { renderCoverage } from "./report.ts";

const block = (file: string, line: number, label: string, parent?: number): Block => ({
  file,
  line,
  endLine: line + 2,
  label,
  parent,
});

const BLOCKS = [
  block("a.ts", 1, "function a"),
  block("a.ts", 2, "if", 0),
  block("b.ts", 1, "function b"),
  block("b.ts", 3, "else", 0),
  { ...block("b.ts", 9, "catch"), endLine: 9 },
];

test("the report lists the outermost blocks that did not run", () => {
  expect(renderCoverage(BLOCKS, [1, 0, 0, 0, 0], false)).toBe(
    "a.ts:2-4 if\nb.ts:1-3 function b\nb.ts:9 catch\n1 of 5 blocks ran, 20.0 %\n",
  );
  expect(renderCoverage(BLOCKS, [0, 0, 1, 1, 1], false)).toBe(
    "a.ts:1-3 function a\n3 of 5 blocks ran, 60.0 %\n",
  );
  expect(renderCoverage(BLOCKS, [1, 1, 1, 0, 1], false)).toBe("b.ts:3-5 else\n4 of 5 blocks ran, 80.0 %\n");
});

test("the report of some tests leaves out files of which no block ran", () => {
  expect(renderCoverage(BLOCKS, [1, 1, 0, 0, 0], true)).toBe("2 of 2 blocks ran, 100.0 %\n");
  expect(renderCoverage(BLOCKS, [0, 0, 0, 0, 0], true)).toBe("0 of 0 blocks ran, 100.0 %\n");
});

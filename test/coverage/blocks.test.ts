import { expect, test } from "bun:test";
import { runInNewContext } from "node:vm";
import ts from "typescript";
import { type Block, instrument } from "./blocks.ts";

function instrumentText(text: string): { blocks: readonly Block[]; script: string } {
  const { blocks, text: instrumented } = instrument("source.ts", text, "counts", 10);
  return { blocks, script: ts.transpile(instrumented, { target: ts.ScriptTarget.ESNext }) };
}

/** Runs the text, and returns the result with the labels and lines of the blocks that ran. */
async function run(text: string): Promise<[result: unknown, ran: string[]]> {
  const counts: number[] = [];
  const { blocks, script } = instrumentText(text);
  const result: unknown = await runInNewContext(`(() => {${script}})()`, { counts });
  const ran = blocks.filter((_, index) => counts[10 + index] === 1);
  return [result, ran.map(({ label, line }) => `${label}:${line}`)];
}

const ROWS: readonly [text: string, result: unknown, ran: string[]][] = [
  ["function f() {\n  return 1;\n}\nfunction g() {}\nreturn f();", 1, ["function f:1"]],
  ["const f = () => ({ a: 1 });\nreturn f().a;", 1, ["function f:1"]],
  ["const f = (a) => a ? 'x' : 'y';\nreturn f(1);", "x", ["function f:1", "when true:1"]],
  ["return 0 ? 'x' : (0 ? 'y' : 'z');", "z", ["when false:1", "when false:1"]],
  ["if (1) return 2;\nelse return 3;", 2, ["if:1"]],
  ["if (0) return 2;\nelse if (1) return 3;", 3, ["else:2", "if:2"]],
  ["let n = 0;\nfor (const a of [1, 2]) n += a;\nreturn n;", 3, ["loop:2"]],
  ["let n = 0;\nwhile (n < 2) {\n  n++;\n}\nreturn n;", 2, ["loop:2"]],
  ["switch (2) {\n  case 1:\n  case 2: return 'b';\n  default: return 'c';\n}", "b", ["case:3"]],
  ["try {\n  throw 1;\n} catch (error) {\n  return error;\n}", 1, ["catch:3"]],
  ["try {\n  return 1;\n} catch {}", 1, []],
  [
    "class A { #b = () => 5; get b() { return this.#b(); } }\nreturn new A().b;",
    5,
    ["function:1", "function b:1"],
  ],
  ["class A { constructor(readonly a: number) {} }\nreturn new A(4).a;", 4, ["constructor:1"]],
  [
    "for (const a of [1]) if (a) return [a].map((b) => b ? 7 : 8)[0];",
    7,
    ["loop:1", "if:1", "function:1", "when true:1"],
  ],
  ["return (async () => { return await 6; })();", 6, ["function:1"]],
];

test.each(ROWS)("the blocks that run are marked: %j", async (text, result, ran) => {
  const [actual, actuallyRan] = await run(text);
  expect(actual).toBe(result);
  expect(actuallyRan.toSorted()).toEqual(ran.toSorted());
});

test("a file keeps its lines, and one without blocks keeps its text", () => {
  const text = "// Header.\nimport a from 'a';\nif (a) a();\n";
  const { text: instrumented } = instrument("a.ts", text, "counts", 0);
  expect(instrumented).toBe("const $ran = counts; // Header.\nimport a from 'a';\nif (a) {$ran[0]=1;a();}\n");
  const types = "export interface A { b(): void }\n";
  expect(instrument("a.ts", types, "counts", 0)).toEqual({ text: types, blocks: [] });
});

test("a block has its lines and the block around it", () => {
  const { blocks } = instrumentText("function f() {\n  if (1) {\n    g();\n  }\n}\n");
  expect(blocks).toEqual([
    { file: "source.ts", line: 1, endLine: 5, label: "function f", parent: undefined },
    { file: "source.ts", line: 2, endLine: 4, label: "if", parent: 0 },
  ]);
});

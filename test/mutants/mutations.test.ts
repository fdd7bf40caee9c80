import { expect, test } from "bun:test";
import { applyMutation, listMutations, OPERATORS, type MutationOperator } from "./mutations.ts";

/** Returns all mutated texts of a source, by all operators or the given ones. */
function mutate(text: string, ...operators: MutationOperator[]): string[] {
  return listMutations("source.ts", text)
    .filter(({ operator }) => operators.length === 0 || operators.includes(operator))
    .map((mutation) => applyMutation(mutation, text));
}

const ROWS: [MutationOperator, string, string[]][] = [
  ["negated condition", "if (ready) go();", ["if (!(ready)) go();"]],
  ["negated condition", "if (!ready) go();", ["if (ready) go();"]],
  ["negated condition", "if (a === b) go();", ["if (a !== b) go();"]],
  ["negated condition", "x = a !== b;", ["x = a === b;"]],
  ["negated condition", "while (more()) go();", ["while (!(more())) go();"]],
  ["negated condition", "while (true) go();", []],
  ["negated condition", "if (a < b) go();", []],
  ["off by one", "if (a < b) go();", ["if (a <= b) go();"]],
  ["off by one", "x = a >= b;", ["x = a > b;"]],
  ["off by one", "x = list[at + 1];", ["x = list[at];"]],
  ["off by one", "x = a + 2;", []],
  ["removed statement", "if (a) close();", ["if (a) ;"]],
  [
    "removed statement",
    "function f() { if (a) return; g(); }",
    ["function f() { if (a) ; g(); }", "function f() { if (a) return; ; }"],
  ],
  ["removed statement", "if (a) throw new Error();", ["if (a) ;"]],
  ["removed statement", "class A extends B { constructor() { super(); } }", []],
  ["removed statement", "function f() { return a; }", []],
  ["swapped branch", "x = a ? b : c;", ["x = a ? c : b;"]],
  ["swapped branch", "if (a) { b(); } else { c(); }", ["if (a) { c(); } else { b(); }"]],
  [
    "swapped branch",
    "switch (a) { case 1: b(); break; default: c(); }",
    ["switch (a) { case 1: c(); default: b(); break; }"],
  ],
  ["removed await", "await close();", ["close();"]],
  ["removed await", "for await (const a of b) c();", ["for  (const a of b) c();"]],
  ["other constant", "x = 1000;", ["x = 1001;"]],
  ["other constant", "x = true;", ["x = false;"]],
  ["other constant", 'x = "a";', ['x = "";']],
  ["other constant", 'x = "";', ['x = "other";']],
  ["other constant", "x = String.raw`a`;", ["x = String.raw``;"]],
  ["other constant", 'x = { "a-b": y };', []],
  ["other operator", "x = a && b;", ["x = a || b;"]],
  ["other operator", "x += y;", ["x -= y;"]],
];

test.each(ROWS)('the operator "%s" makes of %s exactly %j', (operator, text, expected) => {
  expect(mutate(text, operator)).toEqual(expected);
});

test("every operator has a row in the table of this test", () => {
  expect([...new Set(ROWS.map(([operator]) => operator))]).toEqual([...OPERATORS]);
});

test.each([
  'import { a } from "./a.ts";',
  'export * from "./a.ts";',
  'const late = () => import("./a.ts");',
  'const late = () => require("./a.ts");',
  'type A = 1 | "a" | true;',
  'interface A { readonly "a-b": 1; b: true }',
  "declare const a: 1;",
  'function f(a: "b" | 2): asserts a is 2 {}',
])("no mutant is made of %s, which has no effect at run time or does not build", (text) => {
  expect(mutate(text)).toEqual([]);
});

test("a mutant belongs to the line on which its edit begins", () => {
  const text = "run(() => {\n  if (a)\n    b();\n});";
  const lines = listMutations("source.ts", text).map(({ operator, line }) => [operator, line]);
  expect(lines).toEqual([
    ["removed statement", 1],
    ["negated condition", 2],
    ["removed statement", 3],
  ]);
});

test("listMutations throws a SyntaxError when the text is not TypeScript", () => {
  expect(() => listMutations("source.ts", "if (")).toThrow(SyntaxError);
});

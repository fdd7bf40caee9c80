// Failures: the source frame, stack positions and exit code, compared byte by byte.
import { compareAll, type Fixture } from "./compare.ts";

const main = (name: string, code: string, files: Fixture["files"] = {}): Fixture => ({
  name,
  files: { "main.ts": code, ...files },
});

const TYPED = `interface Shape {
  readonly a: number;
}
type Other = Shape | null;
`;

const THROWN: readonly Fixture[] = [
  main(
    "thrown at top level, below types that are removed",
    `${TYPED}const x: Shape = { a: 1 };\nthrow new Error("top " + x.a);\n`,
  ),
  main(
    "thrown in a function",
    `${TYPED}function f(n: number): never {\n  throw new RangeError(\`bad \${n}\`);\n}\nf(1);`,
  ),
  main(
    "thrown in an async function",
    `${TYPED}async function f(): Promise<void> {\n  await Bun.sleep(1);\n  throw new Error("async");\n}\nawait f();`,
  ),
  main(
    "an unhandled rejection",
    `${TYPED}async function f(): Promise<void> {\n  throw new Error("lost");\n}\nvoid f();`,
  ),
  main("thrown in a timer", `${TYPED}setTimeout(() => {\n  throw new TypeError("timer");\n}, 1);`),
  main(
    "thrown in a callback of node:fs",
    `import { readFile } from "node:fs";\nreadFile(import.meta.dir + "/absent", (error) => {\n  throw error;\n});`,
  ),
  main("thrown in process.nextTick", "process.nextTick(() => {\n  throw new Error('tick');\n});"),
  main("an error with a cause", `${TYPED}throw new Error("outer", { cause: new TypeError("inner") });`),
  main("an AggregateError", `throw new AggregateError([new Error("a"), new Error("b")], "many");`),
  main(
    "an error with properties",
    `throw Object.assign(new Error("with code"), { code: "E_X", status: 4, nested: { a: 1 } });`,
  ),
  main(
    "a class that extends Error",
    `class Mine extends Error {\n  override name = "Mine";\n}\nthrow new Mine("own");`,
  ),
  main(
    "a Proxy whose traps throw",
    `
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    throw proxy;`,
  ),
  main(
    "an AggregateError without errors",
    `
    const error: any = new AggregateError([], "many");
    delete error.errors;
    throw error;`,
  ),
  main(
    "a SyntaxError whose message is not a string",
    `throw Object.assign(new SyntaxError(), { message: Symbol("x") });`,
  ),
  main("a thrown string", `throw "text";`),
  main("a thrown object", `throw { a: 1 };`),
  main("a thrown null", `throw null;`),
  main("a message of several lines", `throw new Error("one\\ntwo\\nthree");`),
  main("a ReferenceError", `console.log("before");\nconst y = (undefinedName as any) + 1;`),
  main("a TypeError of undefined", `const o: any = {};\no.a.b();`),
  main("in an imported module", `import { f } from "./lib/b.ts";\nf();`, {
    "lib/b.ts": `${TYPED}export function f() {\n  throw new Error("from b");\n}`,
  }),
  main("in a dynamic import", `await import("./lib/b.ts");`, {
    "lib/b.ts": `${TYPED}throw new Error("while loading");`,
  }),
  main("in a CommonJS module that is required", `require("./b.cjs");`, {
    "b.cjs": "\n\nthrow new Error('cjs');",
  }),
  main("in a package", `import "p";`, {
    "node_modules/p/index.js": "\nexport const a = 1;\nthrow new Error('in package');",
  }),
  main(
    "Error.captureStackTrace, prepareStackTrace",
    `Error.prepareStackTrace = (e, s) => s.map((c) => [c.getFunctionName(), c.getLineNumber(), c.getColumnNumber(), c.getFileName()]);\nfunction named() { return new Error("x").stack }\nconsole.log(JSON.stringify(named()));`,
  ),
  main(
    "the stack as text",
    `${TYPED}function inner() { return new Error("x").stack }\nfunction outer() { return inner() }\nconsole.log(outer());`,
  ),
  main(
    "the stack of a promise chain",
    `${TYPED}const a = async () => { await null; return new Error("x").stack };\nconst b = async () => await a();\nconsole.log(await b());`,
  ),
  main(
    "Error.stackTraceLimit",
    "Error.stackTraceLimit = 2;\nconst f = (n: number): string => n ? f(n - 1) : new Error('x').stack!;\nconsole.log(f(5));",
  ),
  main(
    "a printed error",
    `${TYPED}console.log(new Error("shown"));\nconsole.error(new TypeError("shown too"));\nconsole.log(Bun.inspect(new RangeError("x")));`,
  ),
  main("console.trace", "function f() {\n  console.trace('here');\n}\nf();"),
  main(
    "an overflow of the stack",
    "const f = (): number => f() + 1;\ntry { f() } catch (e: any) { console.log(e.name, e.message) }",
  ),
  main(
    "a file with its own inline source map",
    `throw new Error("x");\n//# sourceMappingURL=data:application/json;base64,e30=`,
  ),
  {
    name: "thrown in JSX",
    files: {
      "main.tsx": `${TYPED}const h = 1;\nfunction App(): any {\n  throw new Error("render");\n}\nApp();`,
    },
    args: ["main.tsx"],
  },
  {
    name: "thrown in .cjs",
    files: { "main.cjs": "function f() {\n  throw new Error('cjs main');\n}\nf();" },
    args: ["main.cjs"],
  },
  {
    name: "thrown in .mjs",
    files: { "main.mjs": "export {};\nthrow new Error('mjs main');" },
    args: ["main.mjs"],
  },
  {
    name: "thrown in a file reached by a link",
    files: { "real/main.ts": "\nthrow new Error('linked');" },
    links: { "main.ts": "real/main.ts" },
  },
  {
    name: "thrown in a file named by its absolute path",
    files: { "main.ts": "\nthrow new Error('absolute');" },
    args: ["$PROJECT/main.ts"],
  },
  {
    name: "thrown in a Worker",
    files: {
      "w.ts": `${TYPED}throw new Error("w")`,
      "main.ts":
        "const w = new Worker('./w.ts'); w.onerror = (e: any) => { console.log(e.message, e.filename, e.lineno, e.colno); }",
    },
  },
  {
    name: "thrown with colours",
    files: { "main.ts": "throw new Error('colour');" },
    env: { FORCE_COLOR: "1" },
  },
  {
    name: "thrown in a preloaded module",
    files: { "p.ts": `${TYPED}throw new Error("pre")`, "main.ts": "console.log('not reached')" },
    args: ["--preload", "./p.ts", "main.ts"],
  },
];

const UNREADABLE: readonly Fixture[] = [
  main("a syntax error", "const a = 1;\nconst b = ;\n"),
  main("two syntax errors", "const = 1;\nlet x: = 2;\n"),
  main("an open brace at the end", "function f() {\n  return 1;\n"),
  main("an unknown escape and a stray quote", "const s = 'open\nconst t = 1;"),
  main("a syntax error in an imported module", `import "./b.ts";`, { "b.ts": "export const a = ;\n" }),
  main(
    "a syntax error in a dynamic import that is caught",
    `try { await import("./b.ts") } catch (e: any) { console.log(e.name, e.message, String(e.position?.line)) }`,
    { "b.ts": "export const a = ;\n" },
  ),
  main("a syntax error that only the engine finds", "const a = 1;\nconst a = 2;\n"),
  main("an early error in strict mode", "'use strict'; delete x;"),
  main("return at top level", "console.log(1); return;"),
  main("await in a function that is not async", "function f() { await 1 }"),
  main("malformed JSON that is imported", `import x from "./x.json";\nconsole.log(x)`, {
    "x.json": '{ "a": }',
  }),
  main("malformed TOML that is imported", `import x from "./x.toml";`, { "x.toml": "a = = 1" }),
  main("a missing relative import", `import "./none.ts";`),
  main("a missing import with a near name", `import { x } from "./other";`, { "other-one.ts": "" }),
  main("a missing package", `import x from "no-such-package-at-all";`, { "node_modules/y/index.js": "" }),
  main("a missing package in require", `console.log(1); require("no-such-package-at-all");`, {
    "node_modules/y/index.js": "",
  }),
  main("a missing package in a dynamic import", `console.log(1); await import("no-such-package-at-all");`, {
    "node_modules/y/index.js": "",
  }),
  main(
    "a missing package, caught",
    `try { require("no-such-package-at-all") } catch (e: any) { console.log(e.code, e.name, e.message, e.constructor.name) }`,
    { "node_modules/y/index.js": "" },
  ),
  main("a missing builtin", `import "node:nothing";`),
  main("a missing export", `import { nothing } from "./b.ts"; console.log(nothing)`, {
    "b.ts": "export const a = 1",
  }),
  main("a missing default export", `import x from "./b.ts"; console.log(x)`, {
    "b.ts": "export const a = 1",
  }),
  main("a missing export of a builtin", `import { nothing } from "node:fs"; console.log(nothing)`),
  main("a missing #import", `import "#none";`, { "package.json": { imports: { "#a": "./a.ts" } } }),
  main("a directory without an index that is imported", `import "./d";`, { "d/x": "" }),
  { name: "a syntax error in .cjs", files: { "main.cjs": "const = 1" }, args: ["main.cjs"] },
  { name: "a syntax error in .jsx", files: { "main.jsx": "const a = <b>;" }, args: ["main.jsx"] },
  { name: "types in .js", files: { "main.js": "const a: number = 1;" }, args: ["main.js"] },
  {
    name: "a missing preload",
    files: { "main.ts": "console.log(1)" },
    args: ["--preload", "./none.ts", "main.ts"],
    differs: {
      reason: "the option or key that names the module is reported, before anything runs",
      stderr:
        'error: --preload: Module not found "./none.ts"\nhint: its path is relative to the working directory\n',
    },
  },
];

compareAll("thrown errors", THROWN);
compareAll("what cannot be loaded", UNREADABLE);

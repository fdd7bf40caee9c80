// Code that is given, not named: -e, -p and standard input.
import { compareAll, type Fixture } from "./compare.ts";

const ONE_WAY = "this is already the engine";

const SNIPPETS: readonly string[] = [
  "1 + 1",
  "console.log(1)",
  "const x: number = 2; x * 2",
  "'a' + 1",
  "({ a: 1, b: [1, 2, { c: { d: 1 } }] })",
  "[1, 2, 3].map((n) => n * 2)",
  "undefined",
  "null",
  "new Map([[1, { a: 2 }]])",
  "Symbol('s')",
  "1n << 70n",
  "new Error('shown').message",
  "await Promise.resolve(5)",
  "Promise.resolve(6)",
  "await Bun.sleep(1); 7",
  "import fs from 'node:fs'; typeof fs.readFileSync",
  "import { basename } from 'path'; console.log(basename('/a/b'))",
  "require('path').basename('/a/b')",
  "const { join } = require('node:path'); join('a', 'b')",
  "typeof require + typeof module + typeof exports + typeof __filename + typeof __dirname",
  "module.exports = 5",
  "exports.a = 1; exports",
  "require.main === module",
  "import.meta.main",
  "[import.meta.path, import.meta.dir, import.meta.file, import.meta.url]",
  "process.argv.slice(1)",
  "process.execArgv",
  "JSON.stringify([process.argv.length, Bun.main])",
  "[__filename, __dirname]",
  "this === globalThis",
  "typeof Bun.version",
  "<a b={1}>x</a>",
  "enum E { A, B } E.B",
  "interface I { a: number } const i: I = { a: 1 }; i",
  "if (true) { 8 } else { 9 }",
  "for (let i = 0; i < 3; i++) i",
  "let a = 1; a++; a",
  "function f() { return 3 } f()",
  "class A { x = 1 } new A()",
  "var v = 3",
  "'use strict'; this",
  "label: { break label }",
  "throw new Error('thrown')",
  "throw 'text'",
  "Promise.reject(new Error('rejected'))",
  "process.exit(4)",
  "process.exitCode = 5; 'x'",
  "setTimeout(() => console.log('later'), 1); 'now'",
  "process.on('exit', (c) => console.log('exit', c)); 1",
  "const = 1",
  "const a = 1; const a = 2",
  "undefinedName",
  "import './missing.ts'",
  "import './here.ts'; 'after'",
  "(await import('./here.ts')).value",
  "require('./here.ts').value",
  "import pkg from './data.json'; pkg.k",
  "export const a = 1",
  "export default 5",
  "// only a comment",
  "  ",
  "console.log(`multi\nline`)",
  "'\\u00e9 é 日本 🙂'",
  "process.env.X_DOT",
  "process.stdin.isTTY",
  "globalThis.x = 1; x",
  "eval('1 + 1')",
  "new Function('return 9')()",
  "async () => {}",
  "(async () => { await 1; return 'done' })()",
  "const w = new Worker('data:text/javascript,postMessage(1)'); w.onmessage = () => { console.log('m'); w.terminate() }",
  "new Error('x').stack.split('\\n').length > 0",
  "console.log(new Error('x').stack)",
  "using d = { [Symbol.dispose]() { console.log('d') } }; 1",
  "import.meta.resolve('./here.ts')",
  "require.resolve('./here.ts')",
  "Bun.resolveSync('./here.ts', '.')",
  "process.cwd() === import.meta.dir",
];

const FILES = {
  "here.ts": "console.log('here'); export const value = 1",
  "data.json": '{"k": 2}',
  ".env": "X_DOT=dot",
};

/** -e and -p are one thing but for the printing, so -e is tried on some. */
const snippets = SNIPPETS.flatMap((code, index): Fixture[] => [
  ...(index % 8 === 1
    ? [{ name: `-e ${JSON.stringify(code)}`, files: FILES, args: ["-e", code], oneWay: ONE_WAY }]
    : []),
  { name: `-p ${JSON.stringify(code)}`, files: FILES, args: ["-p", code], oneWay: ONE_WAY },
  {
    name: `run - with ${JSON.stringify(code)}`,
    files: FILES,
    args: ["run", "-", "x"],
    stdin: code,
    oneWay: ONE_WAY,
  },
]);

const FORMS: readonly Fixture[] = [
  ["-e", "console.log(process.argv.slice(1))", "a", "-b", "--", "c"],
  ["-e", "console.log(process.argv.slice(1))", "--", "a"],
  ["-p", "process.argv.slice(1)", "a", "--help"],
  ["--print", "1+2"],
  ["--eval", "console.log(3)"],
  ["--eval=console.log(4)"],
  ["--print=5"],
  ["-e", "console.log(process.execArgv)"],
  ["--smol", "-e", "console.log(process.execArgv)"],
  ["--console-depth=1", "-p", "({ a: { b: { c: { d: 1 } } } })"],
  ["--preload", "./here.ts", "-e", "console.log(1)"],
  ["-r", "./here.ts", "-p", "1"],
  ["--define", "X:7", "-p", "X"],
  ["-e", "console.log(1)", "-e", "console.log(2)"],
  ["--env-file", "other.env", "-p", "process.env.X_DOT"],
].map((args) => ({
  name: `rt ${args.join(" ")}`,
  files: { ...FILES, "other.env": "X_DOT=other" },
  args,
  oneWay: ONE_WAY,
}));

const PIPED: readonly Fixture[] = [
  {
    name: "run - : arguments",
    args: ["run", "-", "a", "--", "-b"],
    stdin: "console.log(JSON.stringify(process.argv), Bun.main, import.meta.path)",
    oneWay: ONE_WAY,
  },
  {
    name: "run - : relative imports and tsconfig paths",
    args: ["run", "-"],
    files: {
      "tsconfig.json": { compilerOptions: { paths: { "@/*": ["./lib/*"] } } },
      "lib/a.ts": "export default 'a'",
    },
    stdin: 'import a from "@/a"; import b from "./lib/a.ts"; console.log(a, b)',
    oneWay: ONE_WAY,
  },
  {
    name: "run - : node_modules of the working directory",
    args: ["run", "-"],
    files: { "node_modules/p/index.js": "module.exports = 'p'" },
    stdin: 'import p from "p"; console.log(p, require("p"))',
    oneWay: ONE_WAY,
  },
  {
    name: "run - : a thrown error",
    args: ["run", "-"],
    stdin: "type A = 1;\n\nfunction f() { throw new Error('piped') }\nf()",
    oneWay: ONE_WAY,
  },
  { name: "run - : a syntax error", args: ["run", "-"], stdin: "const a = ;\n", oneWay: ONE_WAY },
  {
    name: "run - : a large program",
    args: ["run", "-"],
    stdin: `${"// filler\n".repeat(60_000)}console.log("end of it")`,
    oneWay: ONE_WAY,
  },
  {
    name: "run - : a default export that serves nothing",
    args: ["run", "-"],
    stdin: "export default { a: 1 }",
    oneWay: ONE_WAY,
  },
  {
    name: "run --smol -",
    args: ["run", "--smol", "-"],
    stdin: "console.log(process.execArgv)",
    oneWay: ONE_WAY,
  },
];

compareAll("snippets", snippets);
compareAll("ways of writing it", FORMS);
compareAll("standard input", PIPED);

// Code from -e, -p and standard input.
import { compareAll, type Fixture } from "./compare.ts";

const ONE_WAY = "this is already the engine";

/** Code with an effect that a test can see: output, an error, an exit code, a module that it evaluates. */
const PROGRAMS: readonly string[] = [
  "console.log(1)",
  "import { basename } from 'path'; console.log(basename('/a/b'), await Bun.sleep(1)); 7",
  "module.exports = 5",
  "<a b={1}>x</a>",
  "enum E { A, B } label: { break label } using d = { [Symbol.dispose]() { console.log('d', E.B) } }; 1",
  "throw new Error('thrown')",
  "throw 'text'",
  "Promise.reject(new Error('rejected'))",
  "process.exit(4)",
  "process.exitCode = 5; 'x'",
  "setTimeout(() => console.log('later'), 1); process.on('exit', (c) => console.log('exit', c)); 'now'",
  "const = 1",
  "const a = 1; const a = 2",
  "undefinedName",
  "import './missing.ts'",
  "import './here.ts'; import pkg from './data.json'; pkg.k",
  "(await import('./here.ts')).value",
  "require('./here.ts').value",
  "export const a = 1; export default 5",
  "  // only a comment",
  "const w = new Worker('data:text/javascript,postMessage(1)'); w.onmessage = () => { console.log('m'); w.terminate() }",
  "console.log(new Error('x').stack, `multi\nline`)",
];

/** Code of which only the value is seen, so `run -` prints nothing of it. The engine prints each kind of value. */
const VALUES: readonly string[] = [
  "undefined",
  "'\\u00e9 é 日本 🙂'",
  "Promise.resolve({ a: await 1, b: [1, 2, { c: { d: 1 } }] })",
  "interface I { a: number } const i: I = { a: 1 }; if (i.a) { [i, new Map([[1, { a: 2 }]]), Symbol('s'), 1n << 70n, null] }",
  "class A { x = 1 } new A()",
  "[process.argv.slice(1), process.execArgv, process.argv.length, Bun.main, process.env.X_DOT, process.stdin.isTTY]",
  "[this === globalThis, typeof require + typeof module + typeof exports + typeof __filename, eval('1 + 1'), typeof Bun.version]",
  "'use strict'; globalThis.x = this === globalThis; [x, new Function('return 9')(), async () => {}]",
  "exports.a = 1; [exports, require.main === module, __filename, __dirname, require('path').basename('/a/b'), require.resolve('./here.ts')]",
  "import fs from 'node:fs'; [typeof fs.readFileSync, import.meta.main, import.meta.path, import.meta.dir, import.meta.file, import.meta.url]",
  "[import.meta.resolve('./here.ts'), Bun.resolveSync('./here.ts', '.'), process.cwd() === import.meta.dir]",
  "const { join } = require('node:path'); join('a', 'b')",
];

const FILES = {
  "here.ts": "console.log('here'); export const value = 1",
  "data.json": '{"k": 2}',
  ".env": "X_DOT=dot",
};

const evaluate = (option: string, code: string): Fixture => ({
  name: `${option} ${JSON.stringify(code)}`,
  files: FILES,
  args: [option, code],
  oneMode: ONE_WAY,
});
const pipe = (code: string): Fixture => ({
  name: `run - with ${JSON.stringify(code)}`,
  files: FILES,
  args: ["run", "-", "x"],
  stdin: code,
  oneMode: ONE_WAY,
});

/** -e and -p differ only in printing, so only some snippets run with -e. */
const UNPRINTED = [
  "console.log(1)",
  "module.exports = 5",
  "process.exit(4)",
  "const = 1",
  "(await import('./here.ts')).value",
];

const snippets: readonly Fixture[] = [
  ...[...PROGRAMS, ...VALUES].map((code) => evaluate("-p", code)),
  ...UNPRINTED.map((code) => evaluate("-e", code)),
  ...PROGRAMS.map(pipe),
];

const FORMS: readonly Fixture[] = [
  ["-e", "console.log(process.argv.slice(1))", "a", "-b", "--", "c"],
  ["-e", "console.log(process.argv.slice(1))", "--", "a"],
  ["-e", "console.log(process.argv.slice(1))", "--", "--version"],
  ["-e", "console.log(process.argv.slice(1))", "--", "--", "-x"],
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
  oneMode: ONE_WAY,
}));

const PIPED: readonly Fixture[] = [
  {
    ...pipe(
      "console.log([import.meta.path, import.meta.dir, import.meta.file, import.meta.url, import.meta.main]);" +
        "console.log(import.meta.resolve('./here.ts'), Bun.resolveSync('./here.ts', '.'), process.cwd() === import.meta.dir);" +
        "console.log(process.argv.slice(1), process.execArgv, process.argv.length, Bun.main, process.stdin.isTTY);" +
        "console.log(process.env.X_DOT, this === globalThis, typeof this, typeof require, typeof module, '\\u00e9 é 日本 🙂');" +
        "await 0; const f = (n: number) => n; enum E { A } console.log(f(E.A), eval('1 + 1'), new Function('return 9')());",
    ),
    name: "run - : what an ES module has",
  },
  {
    ...pipe(
      "console.log([__filename, __dirname, this === globalThis, this === exports, require.main === module]);" +
        "console.log(typeof require, typeof module, typeof exports, require.resolve('./here.ts'));" +
        "const { join } = require('node:path'); var v = join('a', 'b'); console.log(v, globalThis.v, process.argv.slice(1))",
    ),
    name: "run - : what a CommonJS module has",
  },
  {
    name: "run - : arguments",
    args: ["run", "-", "a", "--", "-b"],
    stdin: "console.log(JSON.stringify(process.argv), Bun.main, import.meta.path)",
    oneMode: ONE_WAY,
  },
  {
    name: "run - : relative imports and tsconfig paths",
    args: ["run", "-"],
    files: {
      "tsconfig.json": { compilerOptions: { paths: { "@/*": ["./lib/*"] } } },
      "lib/a.ts": "export default 'a'",
    },
    stdin: 'import a from "@/a"; import b from "./lib/a.ts"; console.log(a, b)',
    oneMode: ONE_WAY,
  },
  {
    name: "run - : node_modules of the working directory",
    args: ["run", "-"],
    files: { "node_modules/p/index.js": "module.exports = 'p'" },
    stdin: 'import p from "p"; console.log(p, require("p"))',
    oneMode: ONE_WAY,
  },
  {
    name: "run - : a thrown error",
    args: ["run", "-"],
    stdin: "type A = 1;\n\nfunction f() { throw new Error('piped') }\nf()",
    oneMode: ONE_WAY,
  },
  { name: "run - : a syntax error", args: ["run", "-"], stdin: "const a = ;\n", oneMode: ONE_WAY },
  {
    name: "run - : a large program",
    args: ["run", "-"],
    stdin: `${"// filler\n".repeat(60_000)}console.log("end of it")`,
    oneMode: ONE_WAY,
  },
  {
    name: "run - : a default export that serves nothing",
    args: ["run", "-"],
    stdin: "export default { a: 1 }",
    oneMode: ONE_WAY,
  },
  {
    name: "run --smol -",
    args: ["run", "--smol", "-"],
    stdin: "console.log(process.execArgv)",
    oneMode: ONE_WAY,
  },
];

compareAll("snippets", snippets);
compareAll("ways of writing it", FORMS);
compareAll("standard input", PIPED);

// Import resolution, with settings of package.json and tsconfig.json.
import { compareAll, type Fixture } from "./compare.ts";

const RESOLUTION: readonly Fixture[] = [
  {
    name: "package.json imports",
    files: {
      "package.json": {
        imports: { "#a": "./lib/a.ts", "#lib/*": "./lib/*.ts", "#os": { default: "node:os" } },
      },
      "lib/a.ts": "export default 'a'",
      "lib/b.ts": "export default 'b'",
      "main.ts":
        'import a from "#a"; import b from "#lib/b"; import os from "#os"; console.log(a, b, typeof os.cpus)',
    },
  },
  {
    name: "package.json exports with conditions",
    files: {
      "node_modules/p/package.json": {
        name: "p",
        exports: {
          ".": { bun: "./bun.js", node: "./node.js", default: "./d.js" },
          "./sub": { import: "./import.mjs", require: "./require.cjs" },
          "./x/*": "./x/*.js",
        },
      },
      "node_modules/p/bun.js": "export default 'bun'",
      "node_modules/p/node.js": "export default 'node'",
      "node_modules/p/d.js": "export default 'd'",
      "node_modules/p/import.mjs": "export default 'import'",
      "node_modules/p/require.cjs": "module.exports = 'require'",
      "node_modules/p/x/y.js": "export default 'y'",
      "main.ts":
        'import a from "p"; import b from "p/sub"; import y from "p/x/y"; console.log(a, b, y, require("p/sub"), import.meta.resolve("p/sub"))',
    },
  },
  {
    name: "a subpath that is not exported",
    files: {
      "node_modules/p/package.json": { name: "p", exports: { ".": "./a.js" } },
      "node_modules/p/a.js": "",
      "node_modules/p/b.js": "",
      "main.ts": 'import "p/b.js";',
    },
  },
  {
    name: "a package that imports itself by name",
    files: {
      "package.json": { name: "self", exports: { "./x": "./x.ts" } },
      "x.ts": "export default 5",
      "main.ts": 'import x from "self/x"; console.log(x)',
    },
  },
  {
    name: "node_modules of parents, main and module fields, scoped packages",
    files: {
      "node_modules/old/package.json": { name: "old", main: "./m.js", module: "./e.mjs" },
      "node_modules/old/m.js": "module.exports = { from: 'main' }",
      "node_modules/old/e.mjs": "export const from = 'module'",
      "node_modules/@s/x/index.js": "exports.scoped = true",
      "deep/er/main.ts":
        'import { from } from "old"; import { scoped } from "@s/x"; console.log(from, scoped, require("old").from, require.resolve("old"))',
    },
    args: ["deep/er/main.ts"],
  },
  {
    name: "CommonJS named exports and interop",
    files: {
      "node_modules/c/index.js":
        "exports.a = 1; exports.default = 2; Object.defineProperty(exports, '__esModule', { value: true })",
      "main.mjs": 'import d, { a } from "c"; import * as ns from "c"; console.log(d, a, ns)',
    },
    args: ["main.mjs"],
  },
  {
    name: "node: and bare builtins",
    files: {
      "main.ts":
        'import fs from "node:fs"; import fs2 from "fs"; import { test } from "node:test"; console.log(fs === fs2, typeof test, require("module").builtinModules.filter((name) => name !== "rt").length)',
    },
  },
  {
    name: "createRequire, require.resolve, require.cache",
    files: {
      "lib.cjs": "module.exports = Math.random()",
      "main.ts":
        'import { createRequire } from "node:module"; const r = createRequire(import.meta.url); const a = r("./lib.cjs"); delete r.cache[r.resolve("./lib.cjs")]; console.log(a !== r("./lib.cjs"), r.resolve("./lib.cjs"))',
    },
  },
  {
    name: "tsconfig paths and baseUrl",
    files: {
      "tsconfig.json": {
        compilerOptions: { baseUrl: ".", paths: { "@/*": ["src/*"], one: ["src/one.ts"] } },
      },
      "src/one.ts": "export default 1",
      "src/two.ts": "export default 2",
      "main.ts": 'import a from "one"; import b from "@/two"; import c from "src/two"; console.log(a, b, c)',
    },
  },
  {
    name: "tsconfig extends",
    files: {
      "base/tsconfig.json": {
        compilerOptions: { paths: { "@/*": ["../src/*"] }, jsx: "react", jsxFactory: "h" },
      },
      "tsconfig.json": '{ // comments\n "extends": "./base/tsconfig.json", }',
      "src/x.ts": "export default 'x'",
      "main.tsx": 'import x from "@/x"; const h = (...a: unknown[]) => a; console.log(x, <a b="1"/>)',
    },
    args: ["main.tsx"],
  },
  {
    name: "tsconfig extends a package",
    files: {
      "node_modules/base/tsconfig.json": { compilerOptions: { jsx: "react", jsxFactory: "h" } },
      "tsconfig.json": { extends: "base/tsconfig.json" },
      "main.tsx": "const h = (...a: unknown[]) => a; console.log(<a/>)",
    },
    args: ["main.tsx"],
  },
  {
    name: "tsconfig jsx, jsxFactory, jsxFragmentFactory",
    files: {
      "tsconfig.json": { compilerOptions: { jsx: "react", jsxFactory: "make", jsxFragmentFactory: "Many" } },
      "main.tsx": 'const make = (...a: unknown[]) => a; const Many = "many"; console.log(<><a/></>)',
    },
    args: ["main.tsx"],
  },
  {
    name: "tsconfig jsxImportSource",
    files: {
      "tsconfig.json": { compilerOptions: { jsx: "react-jsx", jsxImportSource: "mine" } },
      "node_modules/mine/jsx-runtime.js":
        "export const jsx = (...a) => ['jsx', ...a.slice(0, 2)]; export const jsxs = jsx; export const Fragment = 'F';",
      "node_modules/mine/jsx-dev-runtime.js":
        "export const jsxDEV = (...a) => ['dev', ...a.slice(0, 2)]; export const Fragment = 'F';",
      "main.tsx": "console.log(<><a b={1}>x</a></>)",
    },
    args: ["main.tsx"],
  },
  {
    name: "tsconfig of a folder below",
    files: {
      "sub/tsconfig.json": { compilerOptions: { paths: { "@/*": ["./lib/*"] } } },
      "sub/lib/x.ts": "export default 'x'",
      "sub/main.ts": 'import x from "@/x"; console.log(x)',
    },
    args: ["sub/main.ts"],
  },
  {
    name: "tsconfig experimentalDecorators and emitDecoratorMetadata",
    files: {
      "tsconfig.json": { compilerOptions: { experimentalDecorators: true, emitDecoratorMetadata: true } },
      "main.ts": `
        (Reflect as any).metadata = (key: string, value: any) => () => console.log(key, Array.isArray(value) ? value.map((v) => v?.name) : value?.name);
        function log(target: any, key: string, descriptor?: any) { console.log(typeof target, key, typeof descriptor) }
        class A { @log field: string = "x"; @log method(@param a: number, b: Date): boolean { return true } }
        function param(target: any, key: string, index: number) { console.log("param", key, index) }
        new A();`,
    },
  },
  {
    name: "tsconfig decorators through extends",
    files: {
      "base.json": { compilerOptions: { experimentalDecorators: true } },
      "tsconfig.json": { extends: "./base.json" },
      "main.ts":
        "function d(...all: any[]) { console.log(all.length, typeof all[1]) } class A { @d x = 1 } new A();",
    },
  },
  ...[
    [
      "through a chain, with comments",
      '{ // first\n "extends": "./a/base.json", }',
      '{ /* second */ "extends": "../b" }',
    ],
    ["through a package", '{ "extends": "pack/tsconfig.json" }', "{}"],
    ["among other settings, unused", '{ "compilerOptions": { "strict": true } }', "{}"],
    ["in a file that is not there", '{ "extends": "./gone.json" }', "{}"],
    ["in a loop", '{ "extends": "./tsconfig.json" }', "{}"],
    ["in no object", "[]", "{}"],
  ].map(([where, first, second]) => ({
    name: `tsconfig decorators ${where}`,
    files: {
      "tsconfig.json": first!,
      "a/base.json": second!,
      "b.json": { compilerOptions: { experimentalDecorators: true } },
      "node_modules/pack/tsconfig.json": { compilerOptions: { experimentalDecorators: true } },
      "main.ts": "function d(...all: any[]) { console.log(typeof all[1]) } class A { @d m() {} }",
    },
  })),
  {
    name: "a folder called tsconfig.json",
    files: { "tsconfig.json/x": "", "main.ts": "console.log('ran')" },
  },
  {
    name: "tsconfig useDefineForClassFields: false",
    files: {
      "tsconfig.json": { compilerOptions: { useDefineForClassFields: false } },
      "main.ts":
        "class B { set x(v: number) { console.log('set', v) } } class A extends B { x = 1 } new A();",
    },
  },
  {
    name: "a malformed tsconfig",
    files: { "tsconfig.json": '{ "compilerOptions": { "paths": ', "main.ts": "console.log('ran')" },
  },
  {
    name: "a malformed package.json beside the file",
    files: { "package.json": '{ "type": ', "main.ts": "console.log('ran')" },
  },
  {
    name: "TC39 decorators",
    files: {
      "main.ts": `
        function log(value: any, context: any) { console.log(context.kind, String(context.name), context.static, context.private); context.addInitializer?.(() => console.log("init", String(context.name))) }
        @log class A { @log field = 1; @log method() {} @log get x() { return 1 } @log static s = 2; @log accessor y = 3; }
        new A();`,
    },
  },
  {
    name: "enums, namespaces, parameter properties, satisfies, using",
    files: {
      "main.ts": `
        enum E { A, B = "b", C = 1 << 3 } const enum F { X = 7 } namespace N { export const v = 2 } 
        class P { constructor(public a: number, private readonly b = 3) {} sum() { return this.a + this.b } }
        { using d = { [Symbol.dispose]() { console.log("disposed") } }; }
        console.log(E, F.X, N.v, new P(1).sum(), ({ a: 1 } satisfies object));
        import type { X } from "./nowhere.ts"; import { type Y } from "./types.ts"; let x: X | Y;`,
      "types.ts": "export type Y = 1; console.log('types loaded')",
    },
  },
];

compareAll("resolution", RESOLUTION);

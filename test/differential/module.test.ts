// Modules: what a program sees of itself, how its imports resolve, and what the files it imports become.
import { compareAll, type Fixture } from "./compare.ts";

const SHOW_META = `
  const { main, path, dir, dirname, file, filename, url } = import.meta;
  console.log(main, path, dir, dirname, file, filename, url);
  console.log(typeof import.meta.resolve, import.meta.env === process.env, typeof import.meta.require, Object.keys(import.meta));
  console.log(import.meta.resolve("./other.ts"), import.meta.resolveSync?.("./other.ts"));
  console.log(Bun.main === import.meta.path, Bun.main);
`;

const MAIN: readonly Fixture[] = [
  { name: "import.meta of the main module", files: { "main.ts": SHOW_META, "other.ts": "" } },
  {
    name: "import.meta of an imported module",
    files: {
      "main.ts": 'import "./deep/other.ts";',
      "deep/other.ts":
        'console.log(import.meta.main, import.meta.path, import.meta.url, Bun.main); console.log(import.meta.resolve("./x.ts"));',
    },
  },
  {
    name: "import.meta.main in a module imported dynamically",
    files: {
      "main.ts": 'await import("./b.ts"); console.log(import.meta.main);',
      "b.ts": "console.log(import.meta.main);",
    },
  },
  {
    name: "a module that imports the main module gets the same instance",
    files: {
      "main.ts":
        'export const count = { value: 0 }; import "./b.ts"; console.log("main", import.meta.main, ++count.value);',
      "b.ts": 'import * as main from "./main.ts"; queueMicrotask(() => console.log("b", main.count?.value));',
    },
  },
  {
    name: "CommonJS: require.main, module, exports, __filename",
    files: {
      "main.cjs":
        "console.log(require.main === module, module.exports === exports, __filename, __dirname, module.filename, module.loaded, module.paths?.slice(0, 2), typeof require.resolve, this === exports); console.log(import.meta?.main)",
    },
    args: ["main.cjs"],
  },
  {
    name: "CommonJS: require.main in a required module",
    files: {
      "main.cjs": 'require("./b.cjs")',
      "b.cjs":
        "console.log(require.main === module, require.main.filename, module.id, module.parent?.filename, module.children?.length)",
    },
    args: ["main.cjs"],
  },
  {
    name: "CommonJS: module.id of the main module",
    files: { "main.cjs": "console.log(module.id, module.parent)" },
    args: ["main.cjs"],
  },
  {
    name: "a .ts file that uses require and module.exports",
    files: {
      "main.ts":
        'const { readFileSync } = require("fs"); module.exports = { a: 1 }; console.log(typeof readFileSync, require.main === module);',
    },
  },
  {
    name: "a .js file with both require and import",
    files: {
      "main.js":
        'import { basename } from "path"; const os = require("os"); console.log(basename("/a/b"), typeof os.cpus, typeof module);',
    },
    args: ["main.js"],
  },
  {
    name: 'package.json "type": "commonjs" and "module"',
    files: {
      "package.json": { type: "commonjs" },
      "main.js": "console.log(typeof require, typeof module, typeof __filename, this === module.exports);",
      "esm/package.json": { type: "module" },
      "esm/main.js": "console.log(typeof module, typeof __filename, this);",
    },
    args: ["main.js"],
  },
  {
    name: 'package.json "type": "module" with a .js main',
    files: {
      "package.json": { type: "module" },
      "main.js": "console.log(typeof module, import.meta.main, this);",
    },
    args: ["main.js"],
  },
  {
    name: "a .cjs main that throws on import syntax",
    files: { "main.cjs": 'import fs from "fs"; console.log(typeof fs)' },
    args: ["main.cjs"],
  },
  { name: ".mjs", files: { "main.mjs": "console.log(import.meta.main, typeof module)" }, args: ["main.mjs"] },
  {
    name: ".mts",
    files: { "main.mts": "const n: number = 1; console.log(n, import.meta.main)" },
    args: ["main.mts"],
  },
  {
    name: ".cts",
    files: { "main.cts": "const n: number = 1; module.exports = n; console.log(n, require.main === module)" },
    args: ["main.cts"],
  },
  {
    name: ".cts with export =",
    files: { "main.cts": "const n = 1; console.log(n); export = n;" },
    args: ["main.cts"],
  },
  {
    name: ".jsx and .tsx with a classic factory",
    files: {
      "main.jsx":
        '/** @jsxRuntime classic */\n/** @jsx h */\nconst h = (...all) => all; console.log(<a b="1">{2}</a>)',
      "other.tsx": "",
    },
    args: ["main.jsx"],
  },
  {
    name: ".tsx with a pragma for the import source",
    files: {
      "main.tsx": "/** @jsxImportSource mine */\nconsole.log(<a b={1 as number}>x</a>)",
      "node_modules/mine/package.json": {
        name: "mine",
        exports: { "./jsx-runtime": "./r.js", "./jsx-dev-runtime": "./r.js" },
      },
      "node_modules/mine/r.js":
        "export const jsx = (...a) => ['jsx', ...a.slice(0, 2)]; export const jsxDEV = (...a) => ['dev', ...a.slice(0, 2)]; export const jsxs = jsx; export const Fragment = 'F';",
    },
    args: ["main.tsx"],
  },
  {
    name: "a file with a shebang",
    files: { "main.ts": "#!/usr/bin/env bun\nconsole.log(import.meta.path)" },
  },
  { name: "a file with a byte order mark", files: { "main.ts": "\uFEFFconsole.log('bom')" } },
  { name: "CRLF line ends", files: { "main.ts": "const a = 1;\r\n// x\r\nconsole.log(`${a}\r\n`);\r\n" } },
  { name: "an empty file", files: { "main.ts": "" } },
  { name: "a file of comments", files: { "main.ts": "// nothing\n/* at all */\n" } },
  {
    name: "a file without an extension",
    files: { main: "const n: number = 1; console.log(n, import.meta.main)" },
    args: ["./main"],
  },
  {
    name: "a name without its extension",
    files: { "main.ts": "console.log(import.meta.path)" },
    args: ["./main"],
  },
  {
    name: "the order of extensions",
    files: {
      "main.js": "console.log('js')",
      "main.ts": "console.log('ts')",
      "main.tsx": "console.log('tsx')",
    },
    args: ["run", "./main"],
  },
  {
    name: "a directory with an index",
    files: { "app/index.ts": "console.log(import.meta.path, Bun.main)" },
    args: ["./app"],
  },
  {
    name: "a directory with a package.json that names its main",
    files: {
      "app/package.json": { main: "lib/start.js" },
      "app/lib/start.js": "console.log(import.meta.path)",
    },
    args: ["./app"],
  },
  {
    name: "run .",
    files: { "package.json": { main: "start.js" }, "start.js": "console.log(process.argv.slice(2))" },
    args: ["run", ".", "x"],
  },
  {
    name: "an absolute path",
    files: { "main.ts": "console.log(process.argv, Bun.main)" },
    args: ["$PROJECT/main.ts", "a"],
  },
  {
    name: "from another directory",
    files: {
      "src/main.ts": "console.log(process.cwd(), import.meta.dir, process.argv.slice(1))",
      "else/x": "",
    },
    in: "else",
    args: ["../src/main.ts"],
  },
  {
    name: "a symlinked main module",
    files: {
      "real/main.ts":
        'console.log(import.meta.main, import.meta.path, process.argv.slice(1), Bun.main); import "./near.ts";',
      "real/near.ts": "console.log('near')",
      "x/y": "",
    },
    links: { "x/link.ts": "../real/main.ts" },
    args: ["x/link.ts"],
  },
  {
    name: "a symlinked CommonJS main module",
    files: {
      "real/main.cjs":
        'console.log(require.main === module, __filename, process.argv.slice(1)); require("./near.cjs")',
      "real/near.cjs": "console.log('near')",
    },
    links: { "link.cjs": "real/main.cjs" },
    args: ["link.cjs"],
  },
  {
    name: "a symlinked directory on the way",
    files: { "real/main.ts": "console.log(import.meta.main, import.meta.path, process.cwd())" },
    links: { linked: "real" },
    args: ["linked/main.ts"],
  },
  ...[
    "a b.ts",
    "a#b.ts",
    "a?b.ts",
    "a%20b.ts",
    "a%b.ts",
    "日本.ts",
    "né.ts",
    "a'b.ts",
    'a"b.ts',
    "[id].ts",
    "a&b;c.ts",
    "$x.ts",
    "a..ts",
    ".hidden.ts",
  ].map((name): Fixture => ({
    name: `a main module called ${name}`,
    files: {
      [name]:
        "console.log(import.meta.main, import.meta.path, import.meta.url, process.argv.slice(1), new Error('x').stack?.split('\\n')[1])",
    },
    args: [name],
    ...(name.includes("?") && {
      differs: {
        reason: "both take what follows the ? for a query; ours is the message of every missing file",
        stderr: `error: Module not found "${name}"\n`,
      },
    }),
  })),
  {
    name: "a folder with a space, # and %",
    files: {
      "a #b%20/main.ts": 'import { x } from "./o.ts"; console.log(x, import.meta.url)',
      "a #b%20/o.ts": "export const x = import.meta.url",
    },
    args: ["a #b%20/main.ts"],
  },
];

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
        'import fs from "node:fs"; import fs2 from "fs"; import { test } from "node:test"; console.log(fs === fs2, typeof test, require("module").builtinModules.length)',
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

const CONTENTS: readonly Fixture[] = [
  {
    name: "json, jsonc, toml, yaml, text",
    files: {
      "a.json": '{ "a": [1] }',
      "b.jsonc": '{ // c\n "b": 2, }',
      "c.toml": "[t]\nc = 3",
      "d.yaml": "d: [4]",
      "d2.yml": "d: 5",
      "e.txt": "text\n",
      "f.json5": "{f: 6}",
      "main.ts":
        'import a from "./a.json"; import b from "./b.jsonc"; import c from "./c.toml"; import d from "./d.yaml"; import d2 from "./d2.yml"; import e from "./e.txt"; import f from "./f.json5"; console.log(a, b, c, d, d2, [e], f); import { a as named } from "./a.json"; console.log(named, require("./c.toml").t)',
    },
  },
  {
    name: "import attributes: type text, json, file, toml",
    files: {
      "page.html": "<p>x</p>",
      "x.ts": "export const y = 1",
      data: '{"k":1}',
      "main.ts":
        'import html from "./page.html" with { type: "text" }; import code from "./x.ts" with { type: "text" }; import data from "./data" with { type: "json" }; import path from "./x.ts" with { type: "file" }; console.log([html, code], data, path)',
    },
  },
  ...[".svg", ".png", ".jpg", ".gif", ".ico", ".woff2", ".pdf", ".mp4", ".webp", ".unknown"].map(
    (extension): Fixture => ({
      name: `an imported ${extension} file`,
      ...(extension === ".unknown" && {
        differs: {
          way: "in process",
          reason: "what becomes a path is a list, see FILE_LOADERS in build/compile.ts",
          status: 1,
          stdout: "",
          stderr:
            "error: Cannot find module 'react/jsx-dev-runtime' from '$PROJECT/x.unknown'\n\nBun v1.4.5 (Linux x64)\n",
        },
      }),
      files: {
        [`x${extension}`]: "<x/>",
        "main.ts": `import x from "./x${extension}"; console.log(x); console.log(require("./x${extension}"))`,
      },
    }),
  ),
  {
    name: "an imported page",
    files: {
      "p.html": "<p>hi</p>",
      "main.ts": 'import p from "./p.html"; console.log(typeof p, p.index?.split("/").pop())',
    },
  },
  {
    name: "an imported .css file",
    files: { "x.css": "a{}", "main.ts": 'import x from "./x.css"; console.log(x)' },
  },
  {
    name: "an imported .md file",
    files: { "x.md": "# a", "main.ts": 'import x from "./x.md"; console.log(x)' },
  },
  {
    name: "an imported .node file that is none",
    files: {
      "x.node": "junk",
      "main.ts": 'try { require("./x.node") } catch (e) { console.log(e.code, e.name) }',
    },
  },
  {
    name: "an imported WebAssembly module",
    files: {
      "x.wasm": Buffer.from("AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABags=", "base64"),
      "main.ts":
        'import path from "./x.wasm"; const { instance } = await WebAssembly.instantiate(await Bun.file(path as any).arrayBuffer()); console.log(typeof path, (instance.exports as any).add(2, 3))',
    },
  },
  {
    name: "an imported SQLite database",
    files: {
      "make.ts": "",
      "main.ts":
        'import { Database } from "bun:sqlite"; const made = new Database("x.sqlite"); made.run("create table if not exists t (a)"); made.close(); const { default: db } = await import("./x.sqlite", { with: { type: "sqlite" } }); console.log(db.query("select count(*) as n from t").get())',
    },
  },
  {
    name: "a macro",
    files: {
      "m.ts":
        'export function now(x: number) { return { made: x * 2, at: "build" } } export async function later() { return [1, 2] }',
      "main.ts": 'import { now, later } from "./m.ts" with { type: "macro" }; console.log(now(21), later())',
    },
  },
  {
    name: "a macro that fails",
    files: {
      "m.ts": 'export function bad() { throw new Error("no") }',
      "main.ts": 'import { bad } from "./m.ts" with { type: "macro" }; console.log(bad())',
    },
  },
  {
    name: "a plugin of the program's own",
    files: {
      "main.ts":
        'Bun.plugin({ name: "x", setup(b) { b.onLoad({ filter: /\\.odd$/ }, () => ({ contents: "export default 9", loader: "js" })); b.module("virtual", () => ({ exports: { v: 1 }, loader: "object" })) } }); console.log((await import("./a.odd")).default, (await import("virtual")).v)',
      "a.odd": "",
    },
  },
  {
    name: "a plugin for pictures wins over the built-in loader",
    files: {
      "a.svg": "<svg/>",
      "main.ts":
        'Bun.plugin({ name: "x", setup(b) { b.onLoad({ filter: /\\.svg$/ }, () => ({ contents: "export default 9", loader: "js" })) } }); console.log((await import("./a.svg")).default)',
    },
  },
  {
    name: "an import with a query",
    files: {
      "b.ts": "export const url = import.meta.url; console.log('loaded')",
      "main.ts":
        'const a = await import("./b.ts?1"); const b = await import("./b.ts?2"); console.log(a.url, b.url, a === b)',
    },
  },
  {
    name: "data: and blob: imports",
    files: {
      "main.ts":
        'console.log((await import("data:text/javascript,export default 3")).default); const u = URL.createObjectURL(new Blob(["export default 4"], { type: "text/javascript" })); console.log((await import(u)).default)',
    },
  },
  {
    name: "a cycle of modules",
    files: {
      "main.ts": 'import { b } from "./b.ts"; export const a = "a"; console.log(b())',
      "b.ts": 'import { a } from "./main.ts"; export const b = () => a + "b"',
    },
  },
  {
    name: "the order of evaluation with top-level await",
    files: {
      "main.ts": 'import "./a.ts"; import "./b.ts"; console.log("main")',
      "a.ts": 'await Bun.sleep(1); console.log("a")',
      "b.ts": 'console.log("b")',
    },
  },
  {
    name: "Bun.file and Bun.resolve relative to the program",
    files: {
      "x.txt": "x",
      "sub/main.ts":
        'console.log(await Bun.file("x.txt").text(), await Bun.resolve("./main.ts", import.meta.dir), Bun.resolveSync("./x.txt", process.cwd()))',
    },
    args: ["sub/main.ts"],
  },
  {
    name: "Bun.Transpiler and Bun.build",
    files: {
      "e.ts": "export const x: number = 1; console.log(x)",
      "main.ts":
        'console.log(new Bun.Transpiler({ loader: "ts" }).transformSync("let a: number = 1")); const r = await Bun.build({ entrypoints: ["./e.ts"] }); console.log(await r.outputs[0]!.text())',
    },
  },
];

compareAll("the main module", MAIN);
compareAll("resolution", RESOLUTION);
compareAll("what files become", CONTENTS);

// The contents of imported files, by type.
import { compareAll, type Fixture } from "./compare.ts";

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
  ...[
    ".svg",
    ".png",
    ".jpg",
    ".gif",
    ".ico",
    ".woff2",
    ".pdf",
    ".mp4",
    ".webp",
    ".csv",
    ".sql",
    ".glsl",
    ".bin",
    ".unknown",
  ].map((extension): Fixture => ({
    name: `an imported ${extension} file`,
    files: {
      [`x${extension}`]: "<x/>",
      "main.ts": `import x from "./x${extension}"; console.log(x); console.log(require("./x${extension}"))`,
    },
  })),
  {
    name: "files with unknown extensions, imported by an imported module",
    files: {
      "empty.xyz": "",
      "model.onnx": "\u0007ELF\u0000",
      "one.zst": "a b c",
      "assets.ts":
        'import empty from "./empty.xyz"; import model from "./model.onnx"; import one from "./one.zst"; export default [empty, model, one]',
      "main.ts": 'import assets from "./assets.ts"; console.log("once", assets)',
    },
  },
  {
    name: "a preload that reads files of its own kind",
    args: ["--require", "./hook.cjs", "main.cjs"],
    files: {
      "hook.cjs":
        "require.extensions['.hbs'] = (module, file) => { module.exports = require('node:fs').readFileSync(file, 'utf8').trim() }",
      "page.hbs": "Hello {{name}}",
      "main.cjs": "console.log(require('./page.hbs'))",
    },
  },
  {
    name: "a package with a style sheet of its own kind",
    files: {
      "node_modules/button/package.json": { name: "button", type: "module", main: "index.js" },
      "node_modules/button/index.js":
        'import "./button.scss"; import { join } from "node:path"; export default join("a", "b")',
      "node_modules/button/button.scss": "$red: #f00; .button { color: $red }",
      "main.ts": 'import button from "button"; console.log(button)',
    },
  },
  {
    name: "a syntax error in a data file",
    files: { "x.ts": "a b c", "main.ts": 'import x from "./x.ts"; console.log(x)' },
  },
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
    name: "an invalid .node file that is imported",
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
    name: "a plugin of the program",
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

compareAll("what files become", CONTENTS);

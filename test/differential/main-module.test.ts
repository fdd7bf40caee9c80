// The main module: its own metadata, under any name and in any place.
import { compareAll, type Fixture } from "./compare.ts";

const PARSED = "the engine parses the file in both modes";

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
        "console.log(require.main === module, module.exports === exports, __filename, __dirname, module.filename, module.loaded, module.paths?.slice(0, 2), typeof require.resolve, this === exports, module.id, module.parent); console.log(import.meta?.main)",
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
    name: "a .ts file that uses require and module.exports",
    oneMode: PARSED,
    files: {
      "main.ts":
        'const { readFileSync } = require("fs"); module.exports = { a: 1 }; console.log(typeof readFileSync, require.main === module);',
    },
  },
  {
    name: "a .js file with both require and import",
    oneMode: PARSED,
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
    oneMode: PARSED,
    files: { "main.cjs": 'import fs from "fs"; console.log(typeof fs)' },
    args: ["main.cjs"],
  },
  {
    name: ".mjs",
    files: { "main.mjs": "console.log(import.meta.main, typeof module)" },
    args: ["main.mjs"],
    oneMode: PARSED,
  },
  {
    name: ".mts",
    oneMode: PARSED,
    files: { "main.mts": "const n: number = 1; console.log(n, import.meta.main)" },
    args: ["main.mts"],
  },
  {
    name: ".cts",
    oneMode: PARSED,
    files: { "main.cts": "const n: number = 1; module.exports = n; console.log(n, require.main === module)" },
    args: ["main.cts"],
  },
  {
    name: ".cts with export =",
    oneMode: PARSED,
    files: { "main.cts": "const n = 1; console.log(n); export = n;" },
    args: ["main.cts"],
  },
  {
    name: ".jsx and .tsx with a classic factory",
    oneMode: PARSED,
    files: {
      "main.jsx":
        '/** @jsxRuntime classic */\n/** @jsx h */\nconst h = (...all) => all; console.log(<a b="1">{2}</a>)',
      "other.tsx": "",
    },
    args: ["main.jsx"],
  },
  {
    name: ".tsx with a pragma for the import source",
    oneMode: PARSED,
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
    oneMode: PARSED,
    files: { "main.ts": "#!/usr/bin/env bun\nconsole.log(import.meta.path)" },
  },
  {
    name: "a file with a byte order mark",
    files: { "main.ts": "\uFEFFconsole.log('bom')" },
    oneMode: PARSED,
  },
  {
    name: "CRLF line ends",
    files: { "main.ts": "const a = 1;\r\n// x\r\nconsole.log(`${a}\r\n`);\r\n" },
    oneMode: PARSED,
  },
  { name: "an empty file", files: { "main.ts": "" }, oneMode: PARSED },
  { name: "a file of comments", files: { "main.ts": "// nothing\n/* at all */\n" }, oneMode: PARSED },
  {
    name: "a file without an extension",
    files: { main: "const n: number = 1; console.log(n, import.meta.main)" },
    args: ["./main"],
  },
  {
    name: "a file name without its extension",
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
    files: { "main.ts": "console.log(JSON.stringify(process.argv), Bun.main)" },
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
    name: "a symlinked directory in the path",
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
    ...(!/[?#%]/.test(name) && { oneMode: "its characters have no meaning in a URL" }),
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

compareAll("the main module", MAIN);

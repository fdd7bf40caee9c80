// What a name means: scripts, source files, binaries of packages, commands of the system, in this order. The last two are
// in programs.test.ts.
import { type Row, testSilently } from "../support/transcripts.ts";

const pkg = (scripts: Record<string, string>, more: object = {}) => ({
  "package.json": { scripts, ...more },
});
const says = (text: string) => `console.log(${JSON.stringify(text)})`;
const program = (text: string) => `#!/bin/sh\necho ${text}\n`;

testSilently("a script", [
  [
    "comes before a file of the same name with run",
    {
      files: { ...pkg({ "a.ts": "echo script" }), "a.ts": says("file") },
      args: ["run", "a.ts"],
      stdout: "script\n",
    },
  ],
  [
    "comes after a file of the same name without run",
    { files: { ...pkg({ "a.ts": "echo script" }), "a.ts": says("file") }, args: ["a.ts"], stdout: "file\n" },
  ],
  [
    "comes before a file with an extension that is left out",
    {
      files: { ...pkg({ tool: "echo script" }), "tool.ts": says("file") },
      args: ["tool"],
      stdout: "script\n",
    },
  ],
  [
    "comes before a binary",
    {
      files: { ...pkg({ tool: "echo script" }), "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool"],
      stdout: "script\n",
    },
  ],
  [
    "comes before a command of the system",
    { files: pkg({ ls: "echo script" }), args: ["run", "ls"], stdout: "script\n" },
  ],
  [
    "called like a built-in command runs with run",
    { files: pkg({ test: "echo script" }), args: ["run", "test"], stdout: "script\n" },
  ],
  [
    "is not meant by ./name",
    {
      files: { ...pkg({ "./a": "echo script", a: "echo script" }), "a.ts": says("file") },
      args: ["run", "./a"],
      stdout: "file\n",
    },
  ],
]);

testSilently("a file", [
  ...[[".\\a.ts"], ["run", ".\\a.ts"], ["run", ".\\sub\\..\\a.ts"]].map((args): Row => [
    `is meant by ${args.join(" ")} on every system`,
    {
      files: { ...pkg({ ".\\a.ts": "echo script" }), "a.ts": says("file"), "sub/x": "" },
      args,
      stdout: "file\n",
    },
  ]),
  [
    "is meant by ..\\name on every system",
    { files: { "a.ts": says("file"), "sub/x": "" }, in: "sub", args: ["..\\a.ts"], stdout: "file\n" },
  ],
  [
    "meant by .\\name that does not exist is an error",
    { files: {}, args: [".\\gone.ts"], status: 1, stderr: 'error: Module not found ".\\gone.ts"\n' },
  ],
  ...[".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"].map((extension): Row => [
    `with ${extension} runs without run`,
    { files: { [`a${extension}`]: says(extension) }, args: [`a${extension}`], stdout: `${extension}\n` },
  ]),
  [
    "in a folder is named without ./",
    { files: { "src/a.ts": says("file") }, args: ["src/a.ts"], stdout: "file\n" },
  ],
  [
    "may leave its extension out",
    { files: { "src/a.ts": says("file") }, args: ["run", "src/a"], stdout: "file\n" },
  ],
  [
    "comes before a binary",
    {
      files: { "tool.ts": says("file"), "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool"],
      stdout: "file\n",
    },
  ],
  [
    "comes before a command of the system",
    { files: { "ls.ts": says("file") }, args: ["run", "ls"], stdout: "file\n" },
  ],
  [
    "a directory with an index",
    { files: { "app/index.ts": says("index") }, args: ["run", "app"], stdout: "index\n" },
  ],
  [
    "a directory with a main",
    {
      files: { "app/package.json": { main: "start.js" }, "app/start.js": says("main") },
      args: ["./app"],
      stdout: "main\n",
    },
  ],
  [
    "run . takes the package's main",
    {
      files: { ...pkg({}, { main: "start.js" }), "start.js": says("main") },
      args: ["run", "."],
      stdout: "main\n",
    },
  ],
  [
    "in the directory above",
    { files: { "a.ts": says("above"), "sub/x": "" }, in: "sub", args: ["../a.ts"], stdout: "above\n" },
  ],
  [
    "by its absolute path",
    { files: { "a.ts": says("absolute") }, args: ["$PROJECT/a.ts"], stdout: "absolute\n" },
  ],
  [
    "by its absolute path, with run",
    { files: { "a.ts": says("absolute") }, args: ["run", "$PROJECT/a.ts"], stdout: "absolute\n" },
  ],
  [
    "called like a built-in command",
    { files: { "test.ts": says("mine"), "build.ts": says("mine") }, args: ["./test.ts"], stdout: "mine\n" },
  ],
  [
    "without an extension, after everything else",
    { files: { tool: says("file") }, args: ["tool"], stdout: "file\n" },
  ],
  [
    "without an extension does not take a command's place",
    { files: { echo: says("file") }, args: ["run", "echo", "command"], stdout: "command\n" },
  ],
  [
    "without an extension does not take a binary's place",
    {
      files: { tool: says("file"), "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["tool"],
      stdout: "binary\n",
    },
  ],
  [
    "with an extension that says nothing",
    { files: { "a.foo": says("foo") }, args: ["run", "a.foo"], stdout: "foo\n" },
  ],
  [
    "whose extension is in capitals",
    { files: { "A.TS": "const a: number = 1; console.log(a)" }, args: ["./A.TS"], stdout: "1\n" },
  ],
]);

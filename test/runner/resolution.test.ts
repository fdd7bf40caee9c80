// Tests the order of run targets: scripts, source files, binaries of packages, commands of the system.
// programs.test.ts tests the last two.
import { type Row, testSilently } from "../support/transcripts.ts";

const pkg = (scripts: Record<string, string>, more: object = {}) => ({
  "package.json": { scripts, ...more },
});
const print = (text: string) => `console.log(${JSON.stringify(text)})`;
const program = (text: string) => `#!/bin/sh\necho ${text}\n`;

testSilently("a script", [
  [
    "overrides a file of the same name with run",
    {
      files: { ...pkg({ "a.ts": "echo script" }), "a.ts": print("file") },
      args: ["run", "a.ts"],
      stdout: "script\n",
    },
  ],
  [
    "is overridden by a file of the same name without run",
    { files: { ...pkg({ "a.ts": "echo script" }), "a.ts": print("file") }, args: ["a.ts"], stdout: "file\n" },
  ],
  [
    "overrides a file without its extension",
    {
      files: { ...pkg({ tool: "echo script" }), "tool.ts": print("file") },
      args: ["tool"],
      stdout: "script\n",
    },
  ],
  [
    "overrides a binary",
    {
      files: { ...pkg({ tool: "echo script" }), "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool"],
      stdout: "script\n",
    },
  ],
  [
    "overrides a command of the system",
    { files: pkg({ ls: "echo script" }), args: ["run", "ls"], stdout: "script\n" },
  ],
  [
    "with the name of a built-in command runs with run",
    { files: pkg({ test: "echo script" }), args: ["run", "test"], stdout: "script\n" },
  ],
  [
    "does not run as ./name",
    {
      files: { ...pkg({ "./a": "echo script", a: "echo script" }), "a.ts": print("file") },
      args: ["run", "./a"],
      stdout: "file\n",
    },
  ],
]);

testSilently("a file", [
  ...[[".\\a.ts"], ["run", ".\\a.ts"], ["run", ".\\sub\\..\\a.ts"]].map((args): Row => [
    `runs as ${args.join(" ")} on every system`,
    {
      files: { ...pkg({ ".\\a.ts": "echo script" }), "a.ts": print("file"), "sub/x": "" },
      args,
      stdout: "file\n",
    },
  ]),
  [
    "runs as ..\\name on every system",
    { files: { "a.ts": print("file"), "sub/x": "" }, in: "sub", args: ["..\\a.ts"], stdout: "file\n" },
  ],
  [
    "as .\\name is an error when it does not exist",
    { files: {}, args: [".\\gone.ts"], status: 1, stderr: 'error: Module not found ".\\gone.ts"\n' },
  ],
  ...[".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"].map((extension): Row => [
    `with ${extension} runs without run`,
    { files: { [`a${extension}`]: print(extension) }, args: [`a${extension}`], stdout: `${extension}\n` },
  ]),
  [
    "in a folder runs without ./",
    { files: { "src/a.ts": print("file") }, args: ["src/a.ts"], stdout: "file\n" },
  ],
  [
    "runs without its extension",
    { files: { "src/a.ts": print("file") }, args: ["run", "src/a"], stdout: "file\n" },
  ],
  [
    "overrides a binary",
    {
      files: { "tool.ts": print("file"), "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool"],
      stdout: "file\n",
    },
  ],
  [
    "overrides a command of the system",
    { files: { "ls.ts": print("file") }, args: ["run", "ls"], stdout: "file\n" },
  ],
  [
    "may be a directory with an index",
    { files: { "app/index.ts": print("index") }, args: ["run", "app"], stdout: "index\n" },
  ],
  [
    "may be a directory with a main",
    {
      files: { "app/package.json": { main: "start.js" }, "app/start.js": print("main") },
      args: ["./app"],
      stdout: "main\n",
    },
  ],
  [
    "may be the package's main as run .",
    {
      files: { ...pkg({}, { main: "start.js" }), "start.js": print("main") },
      args: ["run", "."],
      stdout: "main\n",
    },
  ],
  [
    "in the parent directory runs",
    { files: { "a.ts": print("above"), "sub/x": "" }, in: "sub", args: ["../a.ts"], stdout: "above\n" },
  ],
  [
    "runs by its absolute path",
    { files: { "a.ts": print("absolute") }, args: ["$PROJECT/a.ts"], stdout: "absolute\n" },
  ],
  [
    "runs by its absolute path with run",
    { files: { "a.ts": print("absolute") }, args: ["run", "$PROJECT/a.ts"], stdout: "absolute\n" },
  ],
  [
    "with the name of a built-in command runs",
    { files: { "test.ts": print("mine"), "build.ts": print("mine") }, args: ["./test.ts"], stdout: "mine\n" },
  ],
  [
    "without an extension runs if no other target matches",
    { files: { tool: print("file") }, args: ["tool"], stdout: "file\n" },
  ],
  [
    "without an extension does not override a command",
    { files: { echo: print("file") }, args: ["run", "echo", "command"], stdout: "command\n" },
  ],
  [
    "without an extension does not override a binary",
    {
      files: { tool: print("file"), "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["tool"],
      stdout: "binary\n",
    },
  ],
  [
    "with an unknown extension runs",
    { files: { "a.foo": print("foo") }, args: ["run", "a.foo"], stdout: "foo\n" },
  ],
  [
    "with an upper-case extension runs",
    { files: { "A.TS": "const a: number = 1; console.log(a)" }, args: ["./A.TS"], stdout: "1\n" },
  ],
]);

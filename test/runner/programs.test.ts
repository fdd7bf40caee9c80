// Tests run targets that are programs: by a path, a binary of a package, a command of the system.
import { testSilently } from "../support/transcripts.ts";
import { ABSENT } from "../support/rt.ts";

const program = (text: string) => `#!/bin/sh\necho ${text}\n`;

testSilently("a program given by its path", [
  [
    "gets its arguments as a shell script",
    {
      files: { "s.sh": '#!/bin/bash\necho "$0" "$#" "$@"\n' },
      executable: ["s.sh"],
      args: ["./s.sh", "a b", "c"],
      stdout: "./s.sh 2 a b c\n",
    },
  ],
  [
    "may be a shell script without an extension",
    { files: { tool: program("tool") }, executable: ["tool"], args: ["./tool"], stdout: "tool\n" },
  ],
  ["may be a native program", { args: ["/bin/echo", "native", "--silent"], stdout: "native --silent\n" }],
  ["may be a native program with run", { args: ["run", "/bin/echo", "native"], stdout: "native\n" }],
  [
    "may be a script for another interpreter",
    {
      files: { "s.awk": '#!/usr/bin/awk -f\nBEGIN { print "awk" }\n' },
      executable: ["s.awk"],
      args: ["./s.awk"],
      stdout: "awk\n",
    },
  ],
  [
    "runs in rt by its #! line, without an extension",
    {
      files: { cli: `#!/usr/bin/env rt\nconst a: string = "typed"; console.log(a, import.meta.main);` },
      executable: ["cli"],
      args: ["./cli"],
      stdout: "typed true\n",
    },
  ],
  [
    "is source code with a source extension, whatever its #! line",
    {
      files: { "cli.ts": "#!/usr/bin/env node\nconst a: string = 'typed'; console.log(a, typeof Bun)" },
      executable: ["cli.ts"],
      args: ["./cli.ts"],
      stdout: "typed object\n",
    },
  ],
  [
    "is an error when its interpreter does not exist",
    {
      files: { tool: `#!${ABSENT}/interpreter\n` },
      executable: ["tool"],
      args: ["./tool"],
      status: 127,
      stderr: /^error: Cannot run ".*\/tool": the interpreter in its #! line does not exist\n$/,
    },
  ],
  [
    "is an error when it is native and not executable",
    {
      files: { tool: new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]) },
      args: ["./tool"],
      status: 1,
      stderr:
        /^error: Cannot run ".*\/tool"\nhint: it is a program, but not marked executable \(chmod \+x\)\n$/,
    },
  ],
  [
    "is an error when the system cannot start it",
    {
      files: { tool: new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]) },
      executable: ["tool"],
      args: ["./tool"],
      status: 126,
      stderr: /^error: Cannot run ".*\/tool": /,
    },
  ],
]);

testSilently("a binary of a package", [
  [
    "runs with run",
    {
      files: { "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool"],
      stdout: "binary\n",
    },
  ],
  [
    "runs without run",
    {
      files: { "node_modules/.bin/tool": program("binary") },
      executable: ["node_modules/.bin/tool"],
      args: ["tool"],
      stdout: "binary\n",
    },
  ],
  [
    "of a parent directory runs",
    {
      files: { "node_modules/.bin/tool": program("binary"), "a/b/c/x": "" },
      executable: ["node_modules/.bin/tool"],
      in: "a/b/c",
      args: ["run", "tool"],
      stdout: "binary\n",
    },
  ],
  [
    "of the nearest directory runs",
    {
      files: { "node_modules/.bin/tool": program("far"), "a/node_modules/.bin/tool": program("near") },
      executable: ["node_modules/.bin/tool", "a/node_modules/.bin/tool"],
      in: "a",
      args: ["run", "tool"],
      stdout: "near\n",
    },
  ],
  [
    "is skipped when it is not executable",
    {
      files: { "node_modules/.bin/tool": program("far"), "a/node_modules/.bin/tool": program("near") },
      executable: ["node_modules/.bin/tool"],
      in: "a",
      args: ["run", "tool"],
      stdout: "far\n",
    },
  ],
  [
    "overrides a command of the system",
    {
      files: { "node_modules/.bin/ls": program("binary") },
      executable: ["node_modules/.bin/ls"],
      args: ["run", "ls"],
      stdout: "binary\n",
    },
  ],
  [
    "for Node.js runs in Node.js",
    {
      files: {
        "node_modules/.bin/tool": "#!/usr/bin/env node\nconsole.log(typeof Bun, process.argv.slice(2))\n",
      },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool", "x"],
      stdout: "undefined [ 'x' ]\n",
    },
  ],
  [
    "for Node.js runs in rt with --rt",
    {
      files: {
        "node_modules/.bin/tool": "#!/usr/bin/env node\nconsole.log(typeof rt.CSRF, process.argv.slice(2))\n",
      },
      executable: ["node_modules/.bin/tool"],
      args: ["--rt", "run", "tool", "x"],
      stdout: 'object [ "x" ]\n',
    },
  ],
  [
    "for Node.js runs in rt with run --rt",
    {
      files: { "node_modules/.bin/tool": "#!/usr/bin/env node\nconsole.log(typeof rt.CSRF)\n" },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "--rt", "tool"],
      stdout: "object\n",
    },
  ],
  [
    "for Node.js runs in rt with --rt x",
    {
      files: {
        "package.json": {},
        "node_modules/.bin/tool": "#!/usr/bin/env node\nconsole.log(typeof rt, process.argv.slice(2))\n",
      },
      executable: ["node_modules/.bin/tool"],
      args: ["--rt", "x", "tool", "-b"],
      stdout: 'object [ "-b" ]\n',
    },
  ],
  [
    "for rt runs in rt, also without rt on PATH",
    {
      files: { "node_modules/.bin/tool": "#!/usr/bin/env rt\nconsole.log(typeof rt.CSRF)\n" },
      executable: ["node_modules/.bin/tool"],
      args: ["run", "tool"],
      stdout: "object\n",
    },
  ],
  [
    "sets the exit code",
    {
      files: { "node_modules/.bin/tool": "#!/bin/sh\nexit 23\n" },
      executable: ["node_modules/.bin/tool"],
      args: ["tool"],
      status: 23,
    },
  ],
]);

testSilently("a command of the system", [
  ["runs with run", { args: ["run", "echo", "hello"], stdout: "hello\n" }],
  ["needs run", { args: ["printenv"], status: 1, stderr: /^error: Script not found "printenv"\n/ }],
  ["gets its own options", { args: ["run", "printf", "%s-%s", "--silent", "-F"], stdout: "--silent--F" }],
  ["sets the exit code", { args: ["run", "sh", "-c", "exit 33"], status: 33 }],
  [
    "does not get values of .env files",
    { files: { ".env": "FROM_DOTENV=1" }, args: ["run", "printenv", "FROM_DOTENV"], status: 1 },
  ],
]);

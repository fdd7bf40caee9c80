// Tests lists of scripts, help, versions, and commands that have a script of the same name.
import { version } from "../../package.json";
import { testTranscripts } from "../support/transcripts.ts";
import { packageWith as manifest } from "../support/workspace.ts";

testTranscripts("the list of scripts", [
  [
    "has names, commands and a count, in the order of the file",
    {
      files: manifest({ zeta: "echo z", build: "tsc && vite", prebuild: "rm -rf dist" }),
      args: ["run"],
      stdout:
        "package.json scripts (3 found):\n  $ rt run zeta\n    echo z\n\n  $ rt run build\n    tsc && vite\n\n  $ rt run prebuild\n    rm -rf dist\n",
    },
  ],
  [
    "omits entries that cannot run",
    {
      files: manifest({ a: "", b: 5, c: null, d: "echo d" }),
      args: ["run"],
      stdout: "package.json scripts (1 found):\n  $ rt run d\n    echo d\n",
    },
  ],
  [
    "may be empty",
    { files: { "package.json": {} }, args: ["run"], stdout: "package.json scripts (0 found):\n" },
  ],
  [
    "comes from the nearest package.json above",
    {
      files: { ...manifest({ a: "echo a" }), "x/y/z": "" },
      in: "x/y",
      args: ["run"],
      stdout: "package.json scripts (1 found):\n  $ rt run a\n    echo a\n",
    },
  ],
  [
    "comes from the directory of --cwd",
    {
      files: { "x/package.json": { scripts: { a: "echo a" } } },
      args: ["--cwd", "x", "run"],
      stdout: "package.json scripts (1 found):\n  $ rt run a\n    echo a\n",
    },
  ],
  [
    "is printed with an option before run",
    {
      files: manifest({ a: "echo a" }),
      args: ["--silent", "run"],
      stdout: /^package.json scripts \(1 found\):\n/,
    },
  ],
]);

testTranscripts("help and versions", [
  ["--version", { args: ["--version"], stdout: `${version}\n` }],
  ["-v", { args: ["-v"], stdout: `${version}\n` }],
  ["--version wins over --help", { args: ["--help", "--version"], stdout: `${version}\n` }],
  ["--version wins over a target", { args: ["--version", "x.ts"], stdout: `${version}\n` }],
  [
    "--help",
    {
      args: ["--help"],
      stdout: /rt \[options\] <file\|script>[\s\S]*\n  secrets .*\n[\s\S]*Options: rt help run/,
    },
  ],
  ["-h", { args: ["-h"], stdout: /\n  run  / }],
  ["no arguments", { args: [], stdout: /\n  run  / }],
  ["help", { args: ["help"], stdout: /\n  run  / }],
  ["help run", { args: ["help", "run"], stdout: /-F, --filter=<pattern>|--filter/ }],
  ["run --help", { args: ["run", "--help"], stdout: /--console-depth[\s\S]*\(default: 2\)/ }],
  ["--help run", { args: ["--help", "run"], stdout: /--console-depth/ }],
  ["help x", { args: ["help", "x"], stdout: /rt x <binary> \[args\]/ }],
  ["help types", { args: ["help", "types"], stdout: /rt types/ }],
  [
    "help for an unknown command",
    {
      args: ["help", "instal"],
      status: 1,
      stderr: 'error: No help for "instal"\nhint: did you mean install?\n',
    },
  ],
  [
    "help has no colours in a pipe",
    { args: ["help", "run"], env: { FORCE_COLOR: "1" }, stdout: /^[^\x1b]*$/ },
  ],
]);

testTranscripts("built-in commands and scripts of the same name", [
  [
    "the command runs, and a hint names the script",
    {
      files: manifest({ exec: "echo script" }),
      args: ["exec", "echo built-in"],
      stdout: "built-in\n",
      stderr: 'hint: this is rt\'s own "exec"; the script of that name runs with: rt run exec\n',
    },
  ],
  [
    "the script runs with run",
    {
      files: manifest({ exec: "echo script", types: "echo types" }),
      args: ["--silent", "run", "types"],
      stdout: "types\n",
    },
  ],
  [
    "the command fails with options of rt run",
    {
      files: manifest({ exec: "echo script" }),
      args: ["--report=x", "exec", "echo built-in"],
      status: 1,
      stderr:
        'error: --report is an option of rt run, but "exec" is a command of rt\nhint: to run a script of that name: rt run --report=x exec\n',
    },
  ],
  ...["--filter=app", "-Fapp", "--workspaces"].map((option): [string, object] => [
    `after ${option} a command's name is a script`,
    {
      files: {
        "package.json": { workspaces: ["app"] },
        "app/package.json": { name: "app", scripts: { test: "echo script" } },
        "x.test.ts": "throw 1",
      },
      args: [option, "--silent", "test", "--a", "b"],
      stdout: "app test: script --a b\napp test: Exited with code 0\n",
    },
  ]),
  [
    "a command of rt fails with options of rt run",
    {
      args: ["--parallel", "types"],
      status: 1,
      stderr: /^error: --parallel is an option of rt run, but "types" is a command of rt\n/,
    },
  ],
  [
    "an option of the engine reaches the command",
    { files: { "x.ts": "" }, args: ["--no-install", "exec", "echo built-in"], stdout: "built-in\n" },
  ],
  [
    "a script runs the command with other arguments",
    {
      files: manifest({ exec: "rt exec 'echo built-in'" }),
      args: ["run", "--silent", "exec"],
      stdout: "built-in\n",
    },
  ],
  [
    "the command runs without a hint when the script is the same command",
    {
      files: manifest({ types: "rt types", test: "bun test" }),
      args: ["test", "--help"],
      stdout: /--coverage/,
    },
  ],
  [
    "the command runs without a hint when no such script exists",
    { files: manifest({}), args: ["exec", "echo built-in"], stdout: "built-in\n" },
  ],
  [
    "a script runs although its name is a property of every object",
    { files: manifest({ toString: "echo mine" }), args: ["--silent", "toString"], stdout: "mine\n" },
  ],
]);
